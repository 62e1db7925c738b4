#pragma once

#include "events/decision.h"

namespace shiplog::application_failover {

/// Moves a workload off a cluster where it stays unhealthy, for a ResourceBinding or ClusterResourceBinding whose
/// spec.failover.application asks for it. Pure.
///
/// - Owns: the timers of the failover record (events/state/failover_record.h), and evictions with the reason
///   ApplicationFailure. Where there is an eviction budget, these begin in the role taint, in the turn of all evictions
///   (decision 0073); the timer runs on until then.
/// - Trigger: the spec and the aggregated status of bindings, options, whether clusters are reached, and time
///   (tolerationSeconds).
/// - Failures: state that is to be preserved cannot be read: that eviction waits, and is retried (3.4.3).
///
///   healthy ──(Unhealthy)──► timer runs ──(later than tolerationSeconds)──► evicted: an eviction task, timer stopped
///      ▲                         │
///      └──(Healthy, Unknown, cluster unreachable)
///
/// Timers are events: neither a restart nor another replica loses or repeats one, unlike upstream (3.2.5).
/// Source: behaviour of Karmada, rules 3.2.1 to 3.2.9.
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

/// The binding asks for it, or has timers left from when it did.
bool concerns(const State& state, const ObjectKey& key, const Value& binding);

}  // namespace shiplog::application_failover
