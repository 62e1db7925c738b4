#include "projections/objects/object_projection.h"

#include "events/base/check.h"

namespace shiplog {

Result<ObjectProjection> ObjectProjection::create(store::Connection& connection, store::TypeIds& types) {
  SHIPLOG_TRY(auto create, connection.prepare("INSERT INTO object (type, ns, name, id, live) VALUES (?, ?, ?, ?, 1) "
                                              "ON CONFLICT DO UPDATE SET live = 1"));
  SHIPLOG_TRY(auto remove, connection.prepare("UPDATE object SET live = 0 WHERE type = ? AND ns = ? AND name = ?"));
  SHIPLOG_TRY(auto find, connection.prepare("SELECT id FROM object WHERE type = ? AND ns = ? AND name = ?"));
  return ObjectProjection{types, std::move(create), std::move(remove), std::move(find)};
}

Result<void> ObjectProjection::apply(FoldedEntry& folded) {
  for (const Change& change : folded.folded.changes) {
    const ObjectKey& key = change.object;
    SHIPLOG_TRY(const int64_t type, types_.id(key.type));
    if (change.created()) {
      SHIPLOG_TRY(create_.run(type, key.ns, key.name, static_cast<int64_t>(change.revision.value)));
    } else if (change.removed()) {
      SHIPLOG_TRY(remove_.run(type, key.ns, key.name));
    }
    find_.bind_all(type, key.ns, key.name);
    SHIPLOG_TRY(const bool found, find_.next());
    SHIPLOG_CHECK(found, "an object that changes was created");
    folded.object_ids.push_back(find_.integer(0));
    find_.reset();
  }
  return ok();
}

}  // namespace shiplog
