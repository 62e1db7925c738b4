#pragma once

#include <functional>
#include <string>
#include <vector>

#include "events/base/time.h"
#include "events/base/value.h"

namespace shiplog {

/// Default of --graceful-eviction-timeout: the grace of an eviction task that has none of its own.
inline constexpr Millis kGracefulEvictionTimeout{10 * 60 * 1000};

/// Condition of a Cluster: the eviction budget lets no more workloads leave it for now.
inline constexpr const char* kEvictionsPausedCondition = "EvictionsPaused";

/// A Cluster answers nothing, which need not be its own fault: what was reported from there is out of date.
bool unreachable(const Value& cluster);

/// The health of an object on a member, as the Work reports it; empty: it is not reported. `resource`: spec.resource of
/// the binding.
std::string reported_health(const Value& work, const Value& resource);

/// The copy that an eviction task takes away still runs, and the scheduler has found no place for another: the eviction
/// waits, also beyond its grace period. `cluster` and `work`: those that the task takes it from.
bool keeps_last_copy(const Value& binding, const Value& task, const Value& cluster, const Value& work);

/// What a graceful eviction waits for.
struct EvictionBlocker {
  std::string cluster;  ///< empty: it concerns the binding as a whole
  std::string reason;
};

/// A binding's Work for a cluster; null: there is none.
using WorkOfCluster = std::function<const Value&(const std::string& cluster)>;

/// Why the evictions of a binding cannot end yet, other than by their grace period: each present target must have the
/// object as it is placed now, and be healthy with that. Health that was observed of an earlier placement does not
/// count: the scheduler observed the binding's generation, the dispatcher has rendered it (condition WorksSynced), the
/// member has applied the Work (condition Applied), and its status was read from what that generation applied
/// (condition StatusCollected). Empty: they can end. Deterministic; used by the taint role and by `why`.
std::vector<EvictionBlocker> eviction_blockers(const Value& binding, const WorkOfCluster& work_of);

}  // namespace shiplog
