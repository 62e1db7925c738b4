#include "services/api/customizations.h"

#include <vector>

#include "events/base/json.h"
#include "projections/objects/object_query.h"
#include "services/interpreter/customizations.h"

namespace shiplog::api {

std::optional<Error> refuse_customization(const StoredObjects& objects, const Value& object) {
  const auto rows = objects.record().read(
      [](const View& view) { return ObjectQuery{view}.list(ObjectList{.type = interpreter::kCustomizationType}); });
  if (!rows) return rows.error();
  std::vector<Value> others;
  for (const ObjectRow& row : rows.value()) {
    auto other = parse_stored_json(row.json);
    if (!other) return other.error();
    others.push_back(std::move(other).value());
  }
  const auto conflict = interpreter::conflict(object, others);
  if (!conflict) return std::nullopt;
  return Error{ErrorCode::kForbidden,
               "admission webhook \"resourceinterpretercustomization.karmada.io\" denied the request: " + *conflict};
}

}  // namespace shiplog::api
