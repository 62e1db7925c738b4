#pragma once

#include <string>

#include "events/decision.h"

namespace shiplog::taint {

/// Taints and what follows from them. Pure. By key:
/// a Cluster: the taints its Ready condition calls for (TN-1, TN-2);
/// policies_key() of a cluster: what the ClusterTaintPolicies add and remove (TN-3 to TN-15). A key of its own, because
/// only changes of conditions and policies trigger it: a taint that a user removed stays off until then (TN-5);
/// evictions_key(): evictions that begin, of the whole fleet (TN-16 to TN-24), as far as the rate and the budget allow.
/// One key, so that each decision knows what the one before has spent. With a budget, these are also those of
/// application failover, whose timers the role application-failover keeps (decision 0073);
/// a ResourceBinding or ClusterResourceBinding: evictions that are over (TN-25 to TN-34). ClusterTaintPolicies need the
/// gate Failover, evictions --enable-no-execute-taint-eviction, too (decision 0056).
///
/// - Owns: the taints not-ready and unreachable, those of ClusterTaintPolicies, and evictions for NoExecute taints.
/// - Trigger: conditions and taints of clusters, policies, the placement and health of bindings, timers of application
///   failover, and time (tolerations, grace periods).
/// - Failures: a recorded placement cannot be parsed: retried.
///
///   placed ──(untolerated taint, or tolerationSeconds over)──► due ──(rate, budget)──► evicting
///   evicting ──(rest healthy, or grace over and not the last copy that runs)──► evicted
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

/// "clusters.cluster.karmada.io/taint-policies/m1"
ObjectKey policies_key(const std::string& cluster);
/// "clusters.cluster.karmada.io/evictions/fleet"
ObjectKey evictions_key();

/// Annotation of a Cluster: with "true" neither the budget nor a loss of observation keeps workloads on it. The rate
/// still holds.
inline constexpr const char* kEvictionsReleasedAnnotation = "eviction.shiplog.io/released";

}  // namespace shiplog::taint
