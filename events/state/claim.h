#pragma once

#include <optional>
#include <string>

#include "events/base/value.h"
#include "events/state/object.h"
#include "events/state/state.h"

namespace shiplog {

namespace annotation {
inline constexpr const char* kPolicyNamespace = "propagationpolicy.karmada.io/namespace";
inline constexpr const char* kPolicyName = "propagationpolicy.karmada.io/name";
inline constexpr const char* kClusterPolicyName = "clusterpropagationpolicy.karmada.io/name";
}  // namespace annotation

namespace label {
/// On an object that another controller than the binder propagates; the value names its kind.
inline constexpr const char* kClaimedBy = "resourcetemplate.karmada.io/claimed-by";
}  // namespace label

/// The policy in the claim marks of an object (D-18: every mark must exist; a PropagationPolicy has precedence).
struct Claim {
  State::Name policy;
  SharedText permanent_id;
};

inline std::optional<Claim> claim_of(const Value& object) {
  const Value& labels = object["metadata"]["labels"];
  const Value& annotations = object["metadata"]["annotations"];
  Claim claim{
      {SharedText::of(annotations[annotation::kPolicyNamespace]), SharedText::of(annotations[annotation::kPolicyName])},
      SharedText::of(labels[label::kPolicyId])};
  if (!claim.policy.ns.empty() && !claim.policy.name.empty() && !claim.permanent_id.empty()) return claim;
  claim = {{"", SharedText::of(annotations[annotation::kClusterPolicyName])},
           SharedText::of(labels[label::kClusterPolicyId])};
  if (claim.policy.name.empty() || claim.permanent_id.empty()) return std::nullopt;
  return claim;
}

/// Erases a member of metadata.labels or metadata.annotations, and the map itself once it is empty.
void erase_from_metadata(Value& object, const char* map, const char* key);
/// Erase what claims leave on an object.
void strip_policy_claim(Value& object);
void strip_cluster_policy_claim(Value& object);
void strip_claim(Value& object);

}  // namespace shiplog
