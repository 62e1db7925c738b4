#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "events/explanation.h"
#include "events/state/answers.h"
#include "events/state/state.h"
#include "services/roles/scheduler/demand.h"

// What the estimators of members answer (S-63, S-71, S-72). They are called once in each cycle that needs to know room,
// before it is decided; their answer is an event, and decisions read it from the state.

namespace shiplog::scheduler {

/// So long an answer counts: for the cycle that requested it, and for one that evaluates the same soon after.
inline constexpr Millis kEstimateGoodFor{10'000};

/// The request that is needed before a demand can be placed; nullopt: nothing, as room does not matter, or the
/// answers are there. Pure. The question is for estimators (services/adapters/estimators).
std::optional<Question> estimates_needed(const State& state, const Demand& demand, const Value& object, UtcMillis now);

/// The recorded answers that count now: {CLUSTER: {replicas} | {failure}}.
std::optional<Value> estimates_for(const State& state, const Demand& demand, const Value& object, UtcMillis now);

/// The result of the answers for these candidates. All or nothing: one cluster that has not answered, and none counts
/// (S-72).
class Accurate {
 public:
  Accurate(const Demand& demand, const std::vector<Candidate>& candidates, Explanation& why);
  /// nullopt: the cluster's estimator does not count.
  std::optional<int64_t> bound(std::string_view cluster) const;

 private:
  const Value* estimates_ = nullptr;
};

}  // namespace shiplog::scheduler
