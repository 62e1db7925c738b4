#include "services/roles/scheduler/trigger.h"

#include <algorithm>

#include "events/base/json.h"
#include "events/state/reschedule_request.h"

namespace shiplog::scheduler {
namespace {

const Value& term_named(const Value& placement, const std::string& name) {
  static const Value kNone;
  for (const Value& term : placement["clusterAffinities"].items()) {
    if (term["affinityName"].as_string() == name) return term;
  }
  return kNone;
}

/// S-11. Of several affinity terms only the one in force counts.
bool placement_changed(const Binding& binding) {
  if (binding.applied_placement.empty()) return true;
  const auto applied = parse_json(binding.applied_placement);
  if (!applied) return false;
  const Value& before = applied.value();
  const Value& after = binding.placement;
  if (before == after) return false;
  for (const char* field : {"clusterAffinity", "clusterTolerations", "spreadConstraints", "replicaScheduling"}) {
    if (before[field] != after[field] && !(before[field].is_empty() && after[field].is_empty())) return true;
  }
  if (binding.observed_affinity.empty()) return true;
  const Value& term_before = term_named(before, binding.observed_affinity);
  const Value& term_after = term_named(after, binding.observed_affinity);
  return term_before.is_null() || term_after.is_null() || term_before != term_after;
}

/// S-12.
bool replicas_changed(const State& state, const Binding& binding, const Placement& placement) {
  if (!placement.scheduling_given) return false;
  if (state.gates().multiple_pod_templates && !binding.components.empty() && binding.targets.empty()) return true;
  const auto& targets = binding.targets;
  if (placement.strategy == Strategy::kDuplicated) {
    return std::any_of(targets.begin(), targets.end(),
                       [&](const Target& target) { return target.replicas != binding.replicas; });
  }
  int64_t sum = 0;
  for (const Target& target : targets) sum += target.replicas;
  return sum != binding.replicas;
}

/// The first target that is deleted, or is being deleted.
const Target* leaving_target(const State& state, const Binding& binding) {
  for (const Target& target : binding.targets) {
    const Cluster* cluster = state.cluster(target.cluster);
    if (cluster == nullptr || cluster->deleting) return &target;
  }
  return nullptr;
}

bool is_ours(const Binding& binding) {
  return (binding.scheduler_name.empty() || binding.scheduler_name == "default-scheduler") &&
         !binding.suspension["scheduling"].as_bool();
}

}  // namespace

bool reschedule_requested(const Value& binding, UtcMillis now) {
  const auto requested = parse_rfc3339(binding["spec"]["rescheduleTriggeredAt"].as_string());
  const auto last = parse_rfc3339(binding["status"]["lastScheduledTime"].as_string());
  if (!requested || !last || requested.value() > now) return false;
  return requested.value() > last.value() || reschedule_pending(binding);
}

bool is_schedulable(const Binding& binding) { return binding.claimed && is_ours(binding); }

bool is_schedulable_now(const State& state, const Binding& binding) {
  return is_ours(binding) && (binding.claimed || leaving_target(state, binding) != nullptr);
}

std::optional<Trigger> trigger_of(const State& state, const Binding& binding, const Placement& placement,
                                  UtcMillis now) {
  // A request for a fresh placement also holds when another reason is first.
  const bool fresh = reschedule_requested(state.value_of(binding.key), now);
  if (placement_changed(binding)) return Trigger{{PlacementTrigger::kPlacementChanged}, fresh};
  if (replicas_changed(state, binding, placement)) return Trigger{{PlacementTrigger::kReplicasChanged}, fresh};
  if (fresh) return Trigger{{PlacementTrigger::kReschedulingRequested}, true};
  // Without replicas nothing else shows that it was never placed.
  if (binding.scheduled_status == "False" && binding.targets.empty()) {
    return Trigger{{PlacementTrigger::kRefusedBefore}, false};
  }
  if (!binding.workload || placement.strategy == Strategy::kDuplicated) {
    return Trigger{{PlacementTrigger::kFollowsClusters}, false};
  }
  const Target* leaving = leaving_target(state, binding);
  if (leaving != nullptr) return Trigger{{PlacementTrigger::kTargetLeaving, leaving->cluster}, false};
  return std::nullopt;
}

}  // namespace shiplog::scheduler
