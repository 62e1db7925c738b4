#include "projections/objects/object_projection.h"

#include "events/base/check.h"
#include "projections/store/checked_table.h"

namespace shiplog {

Result<ObjectProjection> ObjectProjection::create(sqlite::Connection& connection, store::TypeIds& types) {
  const store::CheckedTable& table = store::object_table();
  SHIPLOG_TRY(auto insert, store::CheckedInsert::create(connection, table, "ON CONFLICT DO NOTHING"));
  SHIPLOG_TRY(auto set_live, connection.prepare("UPDATE object SET live = ?4, " + table.set_checksum({{"live", "?4"}}) +
                                                " WHERE type = ?1 AND ns = ?2 AND name = ?3"));
  SHIPLOG_TRY(auto find, connection.prepare("SELECT id FROM object WHERE type = ? AND ns = ? AND name = ?"));
  return ObjectProjection{connection, types, std::move(insert), std::move(set_live), std::move(find)};
}

Result<void> ObjectProjection::apply(FoldedEntry& folded) {
  for (const Change& change : folded.folded.changes) {
    SHIPLOG_TRY(const int64_t id, id_of(change));
    folded.object_ids.push_back(id);
  }
  return ok();
}

Result<int64_t> ObjectProjection::id_of(const Change& change) {
  const ObjectKey& key = change.object;
  SHIPLOG_TRY(const int64_t type, types_.id(key.type));
  if (change.created()) {
    const auto id = static_cast<int64_t>(change.revision.value);
    SHIPLOG_TRY(insert_.begin().add(type).add(key.ns).add(key.name).add(id).add(int64_t{1}).run());
    if (connection_.changed() == 1) return id;
  }
  // An object that is created again after a removal keeps its number, so that its history is continuous.
  if (change.created() || change.removed()) {
    SHIPLOG_TRY(set_live_.run(type, key.ns, key.name, static_cast<int64_t>(change.created())));
  }
  find_.bind_all(type, key.ns, key.name);
  SHIPLOG_TRY(const bool found, find_.next());
  SHIPLOG_CHECK(found, "an object that changes was created");
  const int64_t id = find_.integer(0);
  find_.reset();
  return id;
}

}  // namespace shiplog
