#pragma once

#include <string>

#include "events/decision.h"

namespace shiplog::taint {

/// Taints and what follows from them. Pure. By key:
/// a Cluster: the taints its Ready condition calls for (TN-1, TN-2);
/// policies_key() of a cluster: what the ClusterTaintPolicies add and remove (TN-3 to TN-15). A key of its own, because
/// only changes of conditions and policies trigger it: a taint that a user removed stays off until then (TN-5);
/// a ResourceBinding or ClusterResourceBinding: evictions that begin (TN-16 to TN-24) and those that are over (TN-25 to
/// TN-34). ClusterTaintPolicies need the gate Failover, evictions --enable-no-execute-taint-eviction, too (decision
/// 0056).
///
/// - Owns: the taints not-ready and unreachable, those of ClusterTaintPolicies, and evictions for NoExecute taints.
/// - Trigger: conditions and taints of clusters, policies, the placement and health of bindings, and time (tolerations,
///   grace periods).
/// - Failures: a recorded placement cannot be parsed: retried.
///
///   placed ──(untolerated taint, or tolerationSeconds over)──► evicting ──(rest healthy, or grace over)──► evicted
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

/// "clusters.cluster.karmada.io/taint-policies/m1"
ObjectKey policies_key(const std::string& cluster);

}  // namespace shiplog::taint
