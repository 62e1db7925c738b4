#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "events/explanation.h"

namespace shiplog {

/// One target cluster of a placement. Duplicated workloads have their full count on each; non-workloads have 0.
struct Target {
  std::string cluster;
  int64_t replicas = 0;
  auto operator<=>(const Target&) const = default;
};

/// How many replicas one of the pod templates of a workload has, in a target.
struct ComponentReplicas {
  std::string name;
  int64_t replicas = 0;
  bool operator==(const ComponentReplicas&) const = default;
};

/// The binder has matched a template with a policy. Creates the binding, or replaces its labels, annotations,
/// finalizers, owners and the parts of its spec that derive from template and policy (D-24): the fold
/// keeps spec.clusters, spec.gracefulEvictionTasks, spec.requiredBy, spec.rescheduleTriggeredAt and the whole status.
struct BindingPut {
  ObjectKey binding;
  Value value;  ///< metadata and spec
  Explanation why;
  bool operator==(const BindingPut&) const = default;
};

/// The scheduler has chosen member clusters. Folds into spec.clusters, the Scheduled condition,
/// status.schedulerObservedGeneration, status.lastScheduledTime and the applied-placement annotation.
/// Refused (kForbidden) when a FederatedResourceQuota of the namespace would be exceeded; (kConflict) when a new target
/// is not where the others of its affinity group are, or where another of its anti-affinity group is.
struct PlacementDecided {
  ObjectKey binding;
  std::vector<Target> targets;  ///< whole new placement, sorted by cluster
  int64_t observed_generation = 0;
  std::string applied_placement;  ///< canonical JSON of the placement it was computed from
  std::string affinity_name;      ///< of spec.placement.clusterAffinities; empty without
  Explanation why;
  /// Of each target: a workload with several pod templates goes to it whole (M-6). Empty for all else.
  std::vector<ComponentReplicas> components = {};
  bool operator==(const PlacementDecided&) const = default;
};

/// No placement is possible. Folds into the Scheduled condition (False, with reason and message); the targets are
/// kept unless `clear_targets`.
struct PlacementRefused {
  ObjectKey binding;
  std::string reason;  ///< "NoClusterFit", "Unschedulable", "QuotaExceeded", "SchedulerError"
  std::string message;
  int64_t observed_generation = 0;
  std::string applied_placement;  ///< set when the targets are cleared, else empty
  bool clear_targets = false;
  Explanation why;
  bool operator==(const PlacementRefused&) const = default;
};

/// A fresh placement is requested. Folds into spec.rescheduleTriggeredAt.
struct ReschedulingTriggered {
  ObjectKey binding;
  std::string reason;
  UtcMillis at = {};  ///< when it was requested; 0: at the entry's time
  bool operator==(const ReschedulingTriggered&) const = default;
};

/// Replicas that a cluster cannot run are taken off it, so that the scheduler places them elsewhere (5.4.3). Folds into
/// spec.clusters.
struct ReplicasDescheduled {
  ObjectKey binding;
  std::vector<Target> targets;  ///< all targets with their remaining replicas, sorted by cluster
  std::string message;          ///< which cluster gave up how many, and why
  bool operator==(const ReplicasDescheduled&) const = default;
};

/// What a template of a binding with propagateDeps refers to (B-29). Folds into the binding's annotation
/// resourcebinding.karmada.io/dependencies and the distributor's finalizer.
struct DependenciesResolved {
  ObjectKey binding;   ///< the referrer
  Value dependencies;  ///< list of {apiVersion, kind, namespace, name or labelSelector}
  Explanation why;
  bool operator==(const DependenciesResolved&) const = default;
};

/// The binding of a dependency follows its referrers (B-32 to B-35). Creates it, or replaces metadata and
/// spec; the status stays.
struct AttachedBindingPut {
  ObjectKey binding;                 ///< of the dependency
  std::vector<ObjectKey> referrers;  ///< all current ones, sorted; none: the last has released it
  Value value;                       ///< metadata and spec
  Explanation why;
  bool operator==(const AttachedBindingPut&) const = default;
};

/// The result of a request to an external service: an interpreter webhook (L-18 to L-22), or
/// the estimators of members (S-71). Folds into the answers that State keeps for this operation of this object
/// (events/state/answers.h). Decide functions read them there, so a replay sends no request.
struct QuestionAnswered {
  ObjectKey object;       ///< its subject: a template, a binding
  std::string operation;  ///< "InterpretReplica", "MaxAvailableReplicas"
  std::string asked;      ///< "<configuration>/<webhook>", or what all estimators are called for
  std::string basis;      ///< digest of all that these answers follow from; answers to another basis are dropped
  Value answers;          ///< by qualifier, unique within one basis: {"answer": any} or {"failure": cause}
  bool operator==(const QuestionAnswered&) const = default;
};

}  // namespace shiplog
