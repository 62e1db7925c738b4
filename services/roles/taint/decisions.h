#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events/decision.h"
#include "events/state/placement.h"

namespace shiplog::taint {

std::vector<Event> decide_health(const ObjectKey& key, const Value& cluster);
/// `refused`: why a taint of a policy is not added though its conditions hold; the others are.
std::vector<Event> decide_policies(const State& state, const ObjectKey& cluster, std::optional<Error>& refused);

/// The state of a binding's eviction tasks at `now`; before fold version 7 also of evictions that begin.
struct Evictions {
  std::vector<Event> events;
  std::optional<UtcMillis> next;  ///< the earliest deadline that lies ahead
};
Result<Evictions> decide_evictions(const State& state, const ObjectKey& key, const Value& binding, UtcMillis now);

inline void sooner(std::optional<UtcMillis>& next, UtcMillis at) {
  if (!next || at < *next) next = at;
}

/// TN-16. Before fold version 7 NoExecute taints always evicted.
bool evicts(const State& state);

bool has_no_execute(const std::vector<Taint>& taints);

/// Whether a cluster's NoExecute taints drive a binding off, and if not now, when (TN-19).
struct EvictionVerdict {
  std::optional<Taint> evicted_by;
  std::optional<UtcMillis> due;
};
EvictionVerdict judge(const Value& cluster, const std::vector<Toleration>& tolerations, UtcMillis now);

/// TN-18: what counts is the placement that the scheduler used, not a later one of a policy. nullopt: none is recorded.
/// Error: it cannot be parsed.
Result<std::optional<std::vector<Toleration>>> recorded_tolerations(const Value& binding);

/// The eviction of a binding from a cluster with a taint, with the purge mode of its policy or of the fleet (TN-21).
/// Error: it cannot begin yet.
Result<EvictionStarted> start_eviction(const State& state, const ObjectKey& key, const Value& binding,
                                       const std::string& cluster, const Taint& taint);

}  // namespace shiplog::taint
