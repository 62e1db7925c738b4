#pragma once

#include <optional>

#include "events/decision.h"
#include "services/roles/federated_hpa/measurement.h"
#include "services/roles/federated_hpa/target.h"

namespace shiplog::federated_hpa {

inline constexpr const char* kFederatedHpa = "federatedhpas.autoscaling.karmada.io";
/// Of --controllers; on by default.
inline constexpr const char* kController = "federatedHorizontalPodAutoscaler";
/// The operation of the QuestionAnswered that holds a measurement.
inline constexpr const char* kMeasureReplicas = "MeasureReplicas";
/// --horizontal-pod-autoscaler-sync-period (5.8.1).
inline constexpr Millis kSyncEvery{15'000};
/// A FederatedHPA with more metrics is not measured. Admission refuses it.
inline constexpr size_t kMostMetrics = 16;

/// What is decided about a FederatedHPA, and what later decisions have to know of it.
struct ScalingStep {
  Decided decided;
  std::optional<int64_t> recommended;      ///< before any limit
  ObjectKey target;                        ///< if it is scaled
  int64_t replicas = 0, new_replicas = 0;  ///< of the target
};

/// What has to be measured in the members before it can be decided; nullopt: nothing.
std::optional<ScalableTarget> target_to_measure(const State& state, const ObjectKey& key);

/// `measurement`: nullptr, nothing was measured. Pure.
ScalingStep evaluate(const State& state, const ObjectKey& key, UtcMillis now, const Measurement* measurement);

/// The same with the measurement that was recorded last.
///
/// - Owns: the replicas of scale targets; the status of FederatedHPAs.
/// - Trigger: a FederatedHPA changes; else every 15 seconds.
/// - Failures: a target that cannot be scaled, metrics that cannot be read: conditions, and Events.
///
///   look ──┬─ nothing to scale ─────────────► AbleToScale=False, or ScalingActive=False
///          ├─ outside of min and max ───────► scaled, without asking members
///          └─ read members ──► proposals ──► highest ──► limits ──┬─ as it is ──► status, if users see a difference
///                                                                 └─ differs ───► scaled, and status
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

}  // namespace shiplog::federated_hpa
