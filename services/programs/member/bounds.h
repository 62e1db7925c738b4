#pragma once

#include <vector>

#include "events/decision.h"

namespace shiplog::member {

// Controllers of the objects that bound how many pods a workload has, and how many of them may be evicted: in the shape
// of decide.h.

inline constexpr const char* kAutoscalers = "horizontalpodautoscalers.autoscaling";
inline constexpr const char* kDisruptionBudgets = "poddisruptionbudgets.policy";

/// The replicas of the workload that a HorizontalPodAutoscaler names, brought between its bounds, and its status. There
/// are no metrics: between the bounds it reports that, as in a cluster without a metrics server.
/// Source: pkg/controller/podautoscaler/horizontal.go (reconcileAutoscaler).
Result<Decided> decide_autoscaler(const State& state, const ObjectKey& key, UtcMillis now);
/// The status of a PodDisruptionBudget: how many of its pods may be evicted. Source: pkg/controller/disruption.
Result<Decided> decide_disruption_budget(const State& state, const ObjectKey& key, UtcMillis now);
/// Until an evicted pod that is still there counts as healthy again.
Millis look_again_disruption_budget(const State& state, const ObjectKey& key, UtcMillis now);

// The autoscalers and budgets that a change of a pod or workload concerns.
void wake_autoscalers(const State& state, const Change& change, std::vector<ObjectKey>& wake);
void wake_disruption_budgets(const State& state, const Change& change, std::vector<ObjectKey>& wake);

}  // namespace shiplog::member
