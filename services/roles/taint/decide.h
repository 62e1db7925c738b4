#pragma once

#include <optional>

#include "events/decision.h"

namespace shiplog::taint {

/// Taints and what follows from them. Pure. By key:
/// a Cluster: the taints its Ready condition calls for (behaviour-fleet 2.1);
/// policies_key() of a cluster: what the ClusterTaintPolicies add and remove (2.4). A key of its own, because only
/// changes
///   of conditions and policies wake it: a taint that somebody took off by hand stays off until then (2.4.3);
/// a ResourceBinding or ClusterResourceBinding: evictions that begin (2.5) and those that are over (2.6).
/// ClusterTaintPolicy and NoExecute eviction are on; upstream has them behind gates that default to off.
Result<std::optional<Decision>> decide(const State& state, const ObjectKey& key, UtcMillis now);

/// "clusters.cluster.karmada.io/taint-policies/m1"
ObjectKey policies_key(const std::string& cluster);

/// When the passing of time alone will change what decide() says of a binding; nullopt: never.
std::optional<UtcMillis> next_look(const State& state, const ObjectKey& binding, UtcMillis now);

}  // namespace shiplog::taint
