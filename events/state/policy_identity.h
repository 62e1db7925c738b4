#pragma once

#include <string_view>

#include "events/base/value.h"

namespace shiplog {

inline constexpr const char* kPolicyFinalizer = "karmada.io/propagation-policy-controller";
inline constexpr const char* kClusterPolicyFinalizer = "karmada.io/cluster-propagation-policy-controller";

/// Of a PropagationPolicy or ClusterPropagationPolicy.
const char* policy_id_label(bool cluster_scoped);
const char* policy_finalizer(bool cluster_scoped);

/// Gives a policy what it lacks of its permanent id and its finalizer (D-15). `id`: a UUID.
void identify_policy(Value& policy, bool cluster_scoped, std::string_view id);

}  // namespace shiplog
