#pragma once

#include "events/decision.h"

namespace shiplog::rebalancer {

inline constexpr const char* kWorkloadRebalancer = "workloadrebalancers.apps.karmada.io";

/// What one WorkloadRebalancer requests (REB-1 to REB-7): a fresh placement of each workload that it has not requested
/// yet, with its own creationTimestamp; its status; its removal when it is done and its time to live is over. Pure.
/// Where the workload was placed within the same second, upstream's scheduler overlooks the request. Here the fold
/// marks it (events/state/reschedule_request.h); before fold version 7 the timestamp of the next second was used.
///
/// - Owns: requests for fresh placements, the status of WorkloadRebalancers, and their end.
/// - Trigger: a rebalancer changes, and time (the second of the last placement, ttlSecondsAfterFinished).
/// - Failures: a workload without a binding is reported in the status.
///
///   workload: pending ──has a binding──► requested ──┐
///                └─────has none────────► failed ─────┴──all finished, ttl over──► the rebalancer is deleted
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

}  // namespace shiplog::rebalancer
