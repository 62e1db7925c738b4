#include "services/roles/dispatcher/authority.h"

#include <string>
#include <string_view>

#include "events/state/identity.h"

namespace shiplog::dispatcher {
namespace {

constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io/";

Error grant_differs(const Value& object, const std::string& pointer) {
  return {ErrorCode::kForbidden, pointer + " of a " + object["kind"].str() +
                                     " must stay as in the template: the rights it grants were checked there"};
}

/// The labels that ClusterRoles are aggregated by.
Value aggregation_labels(const Value& object) {
  Value labels = Value::object();
  for (const auto& label : object["metadata"]["labels"].members()) {
    if (label.key().starts_with(kRbacGroup)) labels.set(label.key(), label.value);
  }
  return labels;
}

}  // namespace

Result<void> check_authority(const Value& object, const Value& manifest) {
  SHIPLOG_TRY(same_identity(object, manifest));
  if (!object["apiVersion"].as_string().starts_with(kRbacGroup)) return ok();
  for (const char* field : {"roleRef", "subjects", "rules", "aggregationRule"}) {
    if (manifest[field] != object[field]) return grant_differs(object, "/" + std::string{field});
  }
  if (aggregation_labels(manifest) != aggregation_labels(object)) return grant_differs(object, "/metadata/labels");
  return ok();
}

}  // namespace shiplog::dispatcher
