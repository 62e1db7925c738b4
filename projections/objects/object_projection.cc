#include "projections/objects/object_projection.h"

namespace shiplog {

Result<ObjectProjection> ObjectProjection::create(store::Connection& connection, store::TypeIds& types) {
  SHIPLOG_TRY(auto put, connection.prepare("INSERT INTO object (type, ns, name, revision) VALUES (?, ?, ?, ?) "
                                           "ON CONFLICT DO UPDATE SET revision = excluded.revision"));
  SHIPLOG_TRY(auto remove, connection.prepare("DELETE FROM object WHERE type = ? AND ns = ? AND name = ?"));
  return ObjectProjection{types, std::move(put), std::move(remove)};
}

Result<void> ObjectProjection::apply(const FoldedEntry& folded) {
  for (const Change& change : folded.folded.changes) {
    const ObjectKey& key = change.object;
    SHIPLOG_TRY(const int64_t type, types_.id(key.type));
    if (change.removed()) {
      SHIPLOG_TRY(remove_.run(type, key.ns, key.name));
    } else {
      SHIPLOG_TRY(put_.run(type, key.ns, key.name, static_cast<int64_t>(change.revision.value)));
    }
  }
  return ok();
}

}  // namespace shiplog
