#include "events/state/binding.h"

#include <algorithm>

#include "events/state/condition.h"

namespace shiplog {
namespace {

std::vector<Target> targets_from(const Value& clusters) {
  std::vector<Target> targets;
  for (const Value& item : clusters.items()) targets.push_back({item["name"].str(), item["replicas"].as_int()});
  return targets;
}

/// Empty unless every target has the same.
std::vector<ComponentReplicas> placed_components_from(const Value& clusters) {
  const Value& first = clusters[0]["components"];
  std::vector<ComponentReplicas> placed;
  for (const Value& cluster : clusters.items()) {
    if (cluster["components"] != first) return {};
  }
  for (const Value& item : first.items()) placed.push_back({item["name"].str(), item["replicas"].as_int()});
  return placed;
}

}  // namespace

std::vector<Component> components_from(const Value& list) {
  std::vector<Component> components;
  for (const Value& item : list.items()) {
    const Value& request = item["replicaRequirements"]["resourceRequest"];
    Component& component = components.emplace_back();
    component.name = item["name"].str();
    component.replicas = item["replicas"].as_int();
    component.request = resource_list_from(request);
    for (const auto& [name, amount] : component.request) {
      component.counted.emplace(name, written_in_binary(request[name]) ? amount.units() : amount.milli());
    }
  }
  return components;
}

Binding binding_from(const ObjectKey& key, const Value& object) {
  const Value& meta = object["metadata"];
  const Value& spec = object["spec"];
  const Value& status = object["status"];
  Binding binding;
  binding.key = key;
  binding.uid = uid_of(object);
  const char* const id_label = binding.cluster_scoped() ? label::kClusterBindingId : label::kBindingId;
  binding.permanent_id = SharedText::of(object["metadata"]["labels"][id_label]);
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
  binding.components = components_from(spec["components"]);
  binding.workload = binding.replicas > 0 || spec["replicaRequirements"].is_object() || !binding.components.empty();
  binding.requires_room = spec["replicaRequirements"].is_object();
  binding.request = resource_list_from(spec["replicaRequirements"]["resourceRequest"]);
  binding.placement = spec["placement"];
  binding.targets = targets_from(spec["clusters"]);
  if (!spec["clusters"][0]["components"].is_null())
    binding.placed_components = placed_components_from(spec["clusters"]);
  if (const Value& groups = spec["workloadAffinityGroups"]; groups.is_object()) {
    binding.affinity_group = groups["affinityGroup"].str();
    binding.anti_affinity_group = groups["antiAffinityGroup"].str();
  }
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
  const Value& scheduled = condition_of(object, "Scheduled");
  binding.scheduled_status = scheduled["status"].str();
  binding.scheduled_reason = scheduled["reason"].str();
  binding.scheduled_message = scheduled["message"].str();
  return binding;
}

}  // namespace shiplog
