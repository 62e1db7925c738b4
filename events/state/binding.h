#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/shared_text.h"
#include "events/base/value.h"
#include "events/scheduling.h"
#include "events/state/object.h"
#include "events/state/quota.h"

namespace shiplog {

/// One of the pod templates of a workload that has several: an item of spec.components.
struct Component {
  std::string name;
  int64_t replicas = 0;
  ResourceList request;  ///< of one replica
  /// The same in the numbers that sets of components are counted in (M-4): units of what is written in binary, else
  /// thousandths.
  std::map<std::string, int64_t> counted;
  bool operator==(const Component&) const = default;
};

/// What the services decide on of a ResourceBinding or ClusterResourceBinding (work.karmada.io/v1alpha2).
struct Binding {
  ObjectKey key;
  std::string uid;
  SharedText permanent_id;  ///< label resourcebinding… or clusterresourcebinding.karmada.io/permanent-id
  int64_t generation = 0;
  bool deleting = false;
  bool claimed =
      false;  ///< carries a policy's permanent-id label or kManagedByLabel; unclaimed bindings are not scheduled (S-1)

  // spec.resource
  std::string api_version, kind, ns, name, resource_uid, resource_version;

  int64_t replicas = 0;
  bool workload = false;       ///< spec.replicas above 0, replicaRequirements present, or components (S-13)
  bool requires_room = false;  ///< replicaRequirements is present
  ResourceList request;        ///< per replica
  std::vector<Component> components;
  Value placement;                                   ///< spec.placement
  std::vector<Target> targets;                       ///< spec.clusters
  std::vector<ComponentReplicas> placed_components;  ///< of each of them, when they all have the same
  std::string affinity_group, anti_affinity_group;   ///< spec.workloadAffinityGroups
  std::vector<std::string> evicting;                 ///< clusters of spec.gracefulEvictionTasks
  std::string conflict_resolution;                   ///< "Abort" or "Overwrite"
  bool preserve_on_deletion = false;
  Value suspension;
  std::string reschedule_triggered_at;
  std::string scheduler_name;

  // status and annotations
  int64_t scheduler_observed_generation = 0;
  std::string last_scheduled_time;
  std::string applied_placement;  ///< annotation policy.karmada.io/applied-placement
  std::string observed_affinity;  ///< status.schedulerObservingAffinityName
  std::string scheduled_status, scheduled_reason, scheduled_message;  ///< condition Scheduled

  bool cluster_scoped() const { return key.ns.empty(); }
  /// It has replicas that clusters can share: with several components it is placed whole (S-43).
  bool divisible() const { return (replicas > 0 || requires_room) && components.size() <= 1; }
};

Binding binding_from(const ObjectKey& key, const Value& object);

std::vector<Component> components_from(const Value& list);

/// Label of a binding that something other than a policy owns; it is scheduled like a claimed one (S-1).
inline constexpr const char* kManagedByLabel = "binding.karmada.io/managed-by";

/// Annotation with the placement that spec.clusters was computed from.
inline constexpr const char* kAppliedPlacementAnnotation = "policy.karmada.io/applied-placement";

/// Annotation of a binding with propagateDeps: what its template refers to, as JSON (B-29).
inline constexpr const char* kDependenciesAnnotation = "resourcebinding.karmada.io/dependencies";
/// On such a binding: its dependencies are released before it is removed.
inline constexpr const char* kDistributorFinalizer = "karmada.io/binding-dependencies-distributor";

}  // namespace shiplog
