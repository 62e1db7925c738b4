#pragma once

#include "events/base/time.h"
#include "events/base/value.h"

/// Conditions of a template, computed from those of the members' objects. Upstream aggregates none of them; helm, Argo
/// CD and `kubectl rollout status` read them. `items` are the binding's aggregatedStatus items. Pure.
namespace shiplog::interpreter::native {

/// The item reports on this generation of the template, and the member's controller has observed it (T-13).
bool reports_generation(const Value& item, int64_t generation);

/// Sets `Available` and `Progressing` in a Deployment's new `status`; its other conditions are kept.
///   Available    True when it is True in every cluster.
///   Progressing  False (ProgressDeadlineExceeded) when the rollout of this generation has timed out in a cluster; True
///                (NewReplicaSetAvailable) when it is complete in all of them; otherwise True (ReplicaSetUpdated), or
///                Unknown (DeploymentPaused) for a paused Deployment.
void set_deployment_conditions(Value& status, const Value& deployment, const Value& items, UtcMillis now);

/// Sets the conditions of a Pod: each is True only when it is True in every cluster.
void set_pod_conditions(Value& status, const Value& pod, const Value& items, UtcMillis now);

/// Sets the conditions of a HorizontalPodAutoscaler: AbleToScale and ScalingActive are True only when they are True in
/// every cluster, ScalingLimited is True when it is True in one.
void set_autoscaler_conditions(Value& status, const Value& autoscaler, const Value& items, UtcMillis now);

/// Sets the condition of a PodDisruptionBudget: DisruptionAllowed is True only when it is True in every cluster. Argo
/// CD takes a budget without conditions for one that is not ready yet, and waits for it.
void set_disruption_budget_conditions(Value& status, const Value& budget, const Value& items, UtcMillis now);

}  // namespace shiplog::interpreter::native
