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

/// The policy in the claim marks of an object (D-18: every mark must exist; a PropagationPolicy has precedence).
struct Claim {
  State::Name policy;
  std::string permanent_id;
};

inline std::optional<Claim> claim_of(const Value& object) {
  const auto ns = annotation_of(object, annotation::kPolicyNamespace);
  const auto name = annotation_of(object, annotation::kPolicyName);
  const auto id = label_of(object, label::kPolicyId);
  if (!ns.empty() && !name.empty() && !id.empty()) {
    return Claim{{std::string{ns}, std::string{name}}, std::string{id}};
  }
  const auto cluster_name = annotation_of(object, annotation::kClusterPolicyName);
  const auto cluster_id = label_of(object, label::kClusterPolicyId);
  if (cluster_name.empty() || cluster_id.empty()) return std::nullopt;
  return Claim{{"", std::string{cluster_name}}, std::string{cluster_id}};
}

}  // namespace shiplog
