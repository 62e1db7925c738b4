#pragma once

#include <optional>

#include "events/decision.h"

namespace shiplog::scaler {

inline constexpr const char* kAutoscaler = "horizontalpodautoscalers.autoscaling";
inline constexpr const char* kDeployment = "deployments.apps";
inline constexpr const char* kRetainReplicasLabel = "resourcetemplate.karmada.io/retain-replicas";
/// On a template: the label is ours, and is removed with the last autoscaler that names the template.
inline constexpr const char* kMarkedAnnotation = "scaler.shiplog.io/marked";

/// What autoscalers in members mean for a template (E-21). Keys are templates. Pure. Two parts, each off
/// unless --controllers names it:
/// hpaScaleTargetMarker: what a HorizontalPodAutoscaler names that is itself propagated keeps, in each member, the
/// replicas it has there: it gets the label retain-replicas. A label that another writer has set stays.
/// deploymentReplicasSyncer: a Deployment with that label whose replicas are divided gets as spec.replicas what it has
/// in all members together, once its binding and all members agree on the number that was requested before.
///
/// - Owns: the label retain-replicas that it has set itself, and spec.replicas of Deployments with that label.
/// - Trigger: autoscalers, and the replicas that members report.
/// - Failures: none; members that do not agree yet are waited for.
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

/// What an autoscaler scales; nullopt: no such kind is served.
std::optional<ObjectKey> scale_target(const State& state, const Value& autoscaler);

/// The template has the label: members keep their replicas.
bool retains_replicas(const Value& object);

}  // namespace shiplog::scaler
