#include "services/api/cluster_identity.h"

#include "events/base/json.h"
#include "events/state/object.h"
#include "projections/objects/object_query.h"

namespace shiplog::api {

bool takes_cluster_id(const Value& old, const Value& object) {
  const Value& id = object["spec"]["id"];
  return !id.is_empty() && id != old["spec"]["id"];
}

Result<std::optional<std::string>> same_member(const StoredObjects& objects, const Value& object) {
  const std::string id = object["spec"]["id"].str();
  const std::string own_name = object["metadata"]["name"].str();
  std::optional<std::string> found;
  const auto look = [&](const ObjectRowView& row) {
    // Most rows are excluded without parsing them.
    if (row.name == own_name || row.json.find(id) == std::string_view::npos) return true;
    const auto other = parse_stored_json(row.json);
    if (other && other.value()["spec"]["id"].as_string() == id) found = std::string{row.name};
    return !found;
  };
  SHIPLOG_TRY(objects.record().read(
      [&](const View& view) { return ObjectQuery{view}.visit(ObjectList{.type = type::kCluster}, look); }));
  return found;
}

}  // namespace shiplog::api
