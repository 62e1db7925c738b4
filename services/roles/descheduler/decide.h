#pragma once

#include "events/decision.h"

namespace shiplog::descheduler {

/// The word of --controllers that switches it on.
inline constexpr const char* kController = "descheduler";

/// Takes replicas that a cluster cannot run off it, so that the scheduler places them elsewhere (5.4). Keys are
/// ResourceBindings. Pure.
///
///   waiting ──an interval since it was placed, or last asked about──▶ fewer ready than assigned somewhere?
///      ▲ ▲                                                              │ no      │ yes
///      │ └──────────────────────────────────────────────────────────────┘         ▼
///      └── none can be taken off, or ReplicasDescheduled ◀── answered ◀── the estimators of these clusters are asked
///
/// An answer counts for the generation of the binding that it was asked about, so that what it reports is never taken
/// off twice; and the member has an interval to remove its pods before it is asked again.
///
/// - Owns: nothing; lowers replicas in spec.clusters, never below those that are ready.
/// - Trigger: the interval; a new placement.
/// - Failures: a cluster whose estimator does not answer keeps its replicas.
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

/// The same, with the time that estimators have to answer.
Result<Decided> decide_within(const State& state, const ObjectKey& key, UtcMillis now, Millis timeout);

/// An option names it.
bool is_on(const State& state);
/// It is a workload that may be descheduled (5.4.1), placed and neither suspended nor being deleted.
bool may_be_descheduled(const Value& binding);

}  // namespace shiplog::descheduler
