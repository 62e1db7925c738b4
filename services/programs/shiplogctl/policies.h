#pragma once

#include <string>
#include <vector>

#include "events/base/value.h"

namespace shiplog::ctl {

/// The object that a policy is made for.
struct PolicyTarget {
  std::string api_version, kind, ns, name;  ///< `ns` empty: cluster-scoped
};

/// The name that Karmada's command line gives the policy of an object.
std::string policy_name(const PolicyTarget& target);

/// "propagationpolicies" in the namespace, or "clusterpropagationpolicies".
std::string policy_collection(const PolicyTarget& target);

/// The policy of `apply`: places the object on these clusters; none: on all.
Value applied_policy(const PolicyTarget& target, const std::vector<std::string>& clusters);

/// The policy of `promote`: claims the object in its cluster, and keeps it there when the template is deleted.
Value promoted_policy(const PolicyTarget& target, const std::string& name, const std::string& cluster,
                      bool with_dependencies);

}  // namespace shiplog::ctl
