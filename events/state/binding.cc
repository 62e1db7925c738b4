#include "events/state/binding.h"

#include <algorithm>

namespace shiplog {
namespace {

std::vector<Target> targets_from(const Value& clusters) {
  std::vector<Target> targets;
  for (const Value& item : clusters.items()) targets.push_back({item["name"].str(), item["replicas"].as_int()});
  return targets;
}

}  // namespace

Binding binding_from(const ObjectKey& key, const Value& object) {
  const Value& meta = object["metadata"];
  const Value& spec = object["spec"];
  const Value& status = object["status"];
  Binding binding;
  binding.key = key;
  binding.uid = uid_of(object);
  binding.permanent_id = label_of(object, binding.cluster_scoped() ? label::kClusterBindingId : label::kBindingId);
  binding.generation = meta["generation"].as_int();
  binding.deleting = deleting(object);
  binding.claimed = !label_of(object, label::kPolicyId).empty() || !label_of(object, label::kClusterPolicyId).empty() ||
                    !label_of(object, kManagedByLabel).empty();

  const Value& resource = spec["resource"];
  binding.api_version = resource["apiVersion"].str();
  binding.kind = resource["kind"].str();
  binding.ns = resource["namespace"].str();
  binding.name = resource["name"].str();
  binding.resource_uid = resource["uid"].str();
  binding.resource_version = resource["resourceVersion"].str();

  binding.replicas = spec["replicas"].as_int();
  binding.workload = binding.replicas > 0 || spec["replicaRequirements"].is_object();
  binding.requires_room = spec["replicaRequirements"].is_object();
  binding.request = resource_list_from(spec["replicaRequirements"]["resourceRequest"]);
  binding.placement = spec["placement"];
  binding.targets = targets_from(spec["clusters"]);
  for (const Value& task : spec["gracefulEvictionTasks"].items()) binding.evicting.push_back(task["fromCluster"].str());
  binding.conflict_resolution = spec["conflictResolution"].as_string("Abort");
  binding.preserve_on_deletion = spec["preserveResourcesOnDeletion"].as_bool();
  binding.suspension = spec["suspension"];
  binding.reschedule_triggered_at = spec["rescheduleTriggeredAt"].str();

  binding.scheduler_name = spec["schedulerName"].str();

  binding.scheduler_observed_generation = status["schedulerObservedGeneration"].as_int();
  binding.last_scheduled_time = status["lastScheduledTime"].str();
  binding.observed_affinity = status["schedulerObservingAffinityName"].str();
  binding.applied_placement = annotation_of(object, kAppliedPlacementAnnotation);
  for (const Value& condition : status["conditions"].items()) {
    if (condition["type"].as_string() != "Scheduled") continue;
    binding.scheduled_status = condition["status"].str();
    binding.scheduled_reason = condition["reason"].str();
    binding.scheduled_message = condition["message"].str();
  }
  return binding;
}

}  // namespace shiplog
