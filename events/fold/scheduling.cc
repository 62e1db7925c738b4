#include <optional>
#include <set>
#include <string>

#include "events/base/json.h"
#include "events/fold/apply.h"
#include "events/state/binding.h"
#include "events/state/reschedule_request.h"

namespace shiplog {
namespace {

constexpr const char* kScheduled = "Scheduled";

Value to_value(const std::vector<Target>& targets, const std::vector<ComponentReplicas>& components) {
  Value::Array parts;
  for (const ComponentReplicas& component : components) {
    parts.push_back(Value::object({{"name", component.name}, {"replicas", component.replicas}}));
  }
  const Value set = Value::array(std::move(parts));
  Value::Array clusters;
  for (const Target& target : targets) {
    Value cluster = Value::object({{"name", target.cluster}});
    if (target.replicas != 0) cluster.set("replicas", target.replicas);
    if (!components.empty()) cluster.set("components", set);
    clusters.push_back(std::move(cluster));
  }
  return Value::array(std::move(clusters));
}

/// Two of a group may have been placed at the same time, neither knowing of the other: the later one decides again.
std::optional<std::string> leaves_its_group(const Staged& staged, const PlacementDecided& event) {
  const Value* binding = staged.find(event.binding);
  if (binding == nullptr || event.binding.ns.empty()) return std::nullopt;
  const Value& groups = (*binding)["spec"]["workloadAffinityGroups"];
  if (!groups.is_object() || !staged.state().gates().workload_affinity) return std::nullopt;
  const AffinityIndex& index = staged.state().affinities();
  const FleetOptions& options = staged.state().options();
  const auto* together = options.plugin_on("WorkloadAffinity")
                             ? index.together(event.binding.ns, groups["affinityGroup"].as_string())
                             : nullptr;
  const auto* apart = options.plugin_on("WorkloadAntiAffinity")
                          ? index.apart(event.binding.ns, groups["antiAffinityGroup"].as_string())
                          : nullptr;
  std::set<std::string_view> placed;
  for (const Value& target : (*binding)["spec"]["clusters"].items()) placed.insert(target["name"].as_string());
  for (const Target& target : event.targets) {
    if (placed.contains(target.cluster)) continue;  // M-10
    if (together != nullptr &&
        together->others_on(target.cluster, event.binding) != together->others_placed(event.binding)) {
      return "others of the affinity group are not on cluster " + target.cluster;
    }
    if (apart != nullptr && apart->others_on(target.cluster, event.binding) > 0) {
      return "another of the anti-affinity group is on cluster " + target.cluster;
    }
  }
  return std::nullopt;
}

}  // namespace

Applied apply(Staged& staged, const BindingPut& event) {
  const Value* before = staged.find(event.binding);
  if (before == nullptr) {
    Value made = event.value;
    made.edit("metadata").set("generation", 1);
    return staged.create(event.binding, std::move(made));
  }
  if (deleting(*before)) return refusal_about(event.binding, ErrorCode::kConflict, "is being deleted");
  Value after = event.value;
  for (const char* kept : {"clusters", "gracefulEvictionTasks", "requiredBy", "rescheduleTriggeredAt"}) {
    if (const Value* field = (*before)["spec"].find(kept)) {
      after.edit("spec").set(kept, *field);
    } else if (after["spec"].contains(kept)) {
      after.edit("spec").erase(kept);
    }
  }
  if (const Value* status = before->find("status")) {
    after.set("status", *status);
  } else {
    after.erase("status");
  }
  return staged.update(event.binding, std::move(after));
}

Applied apply(Staged& staged, const PlacementDecided& event) {
  if (staged.state().fold_version() >= 3) {
    if (const auto reason = leaves_its_group(staged, event)) {
      return Refusal{ErrorCode::kConflict, to_string(event.binding) + ": " + *reason, event.binding};
    }
  }
  return edit(staged, event.binding, [&](Value& binding) {
    Value clusters = to_value(event.targets, event.components);
    // The new targets make a new generation, which the scheduler has observed: it is its own.
    const bool moved =
        binding["spec"]["clusters"] != clusters && !(clusters.size() == 0 && binding["spec"]["clusters"].is_null());
    if (moved) binding.edit("spec").set("clusters", std::move(clusters));
    Value& annotations = binding.edit("metadata").edit("annotations");
    annotations.set(kAppliedPlacementAnnotation, event.applied_placement);
    if (staged.state().fold_version() >= 7) annotations.erase(kReschedulePendingAnnotation);
    Value& status = binding.edit("status");
    status.set("schedulerObservedGeneration", event.observed_generation + (moved ? 1 : 0));
    status.set("lastScheduledTime", rfc3339(staged.time()));
    if (event.affinity_name.empty()) {
      status.erase("schedulerObservingAffinityName");
    } else {
      status.set("schedulerObservingAffinityName", event.affinity_name);
    }
    set_condition(binding, kScheduled, "True", "Success", "Binding has been scheduled successfully.", staged.time());
  });
}

Applied apply(Staged& staged, const PlacementRefused& event) {
  return edit(staged, event.binding, [&](Value& binding) {
    if (event.clear_targets) {
      binding.edit("spec").erase("clusters");
      binding.edit("metadata").edit("annotations").set(kAppliedPlacementAnnotation, event.applied_placement);
    }
    set_condition(binding, kScheduled, "False", event.reason, event.message, staged.time());
  });
}

Applied apply(Staged& staged, const ReschedulingTriggered& event) {
  const UtcMillis at = event.at == UtcMillis{} ? staged.time() : event.at;
  return edit(staged, event.binding, [&](Value& binding) {
    binding.edit("spec").set("rescheduleTriggeredAt", rfc3339(at));
    if (staged.state().fold_version() < 7) return;
    const auto placed = parse_rfc3339(binding["status"]["lastScheduledTime"].as_string());
    if (!placed || at > placed.value()) return;
    binding.edit("metadata").edit("annotations").set(kReschedulePendingAnnotation, "true");
  });
}

Applied apply(Staged& staged, const ReplicasDescheduled& event) {
  return edit(staged, event.binding,
              [&](Value& binding) { binding.edit("spec").set("clusters", to_value(event.targets, {})); });
}

Applied apply(Staged& staged, const DependenciesResolved& event) {
  return edit(staged, event.binding, [&](Value& binding) {
    Value& metadata = binding.edit("metadata");
    metadata.edit("annotations").set(kDependenciesAnnotation, to_json(event.dependencies));
    if (!has_finalizer(binding, kDistributorFinalizer)) metadata.edit("finalizers").push_back(kDistributorFinalizer);
  });
}

// Also one that is being deleted: its referrers wait until it is released.
Applied apply(Staged& staged, const AttachedBindingPut& event) {
  const Value* before = staged.find(event.binding);
  Value after = event.value;
  if (before == nullptr) {
    after.edit("metadata").set("generation", 1);
    return staged.create(event.binding, std::move(after));
  }
  if (const Value* status = before->find("status")) {
    after.set("status", *status);
  } else {
    after.erase("status");
  }
  return staged.update(event.binding, std::move(after));
}

}  // namespace shiplog
