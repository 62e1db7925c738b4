#include "services/programs/shiplogctl/without_targets.h"

#include "events/state/condition.h"
#include "events/state/other_scheduler.h"

namespace shiplog::ctl {
namespace {

/// Its scheduler has seen it without replicas: targets without replicas are left out (S-43, S-46).
bool scaled_to_zero(const Value& binding) {
  const Value& spec = binding["spec"];
  return condition_of(binding, "Scheduled")["status"].as_string() == "True" &&
         binding["status"]["schedulerObservedGeneration"] == binding["metadata"]["generation"] &&
         spec["replicas"].as_int() == 0 && spec["replicaRequirements"].is_object();
}

}  // namespace

WithoutTargets without_targets(const Value& binding) {
  if (binding["spec"]["requiredBy"].size() > 0) {  // an attached binding: it follows others and has no placement
    return {true, "required nowhere", "what requires it is on no cluster"};
  }
  if (scaled_to_zero(binding)) return {true, "scaled to zero", "without replicas it is on no cluster"};
  const Value& scheduled = condition_of(binding, "Scheduled");
  if (scheduled["status"].as_string() == "False") return {false, "unscheduled", scheduled["message"].str()};
  if (binding["spec"]["gracefulEvictionTasks"].size() > 0) {
    return {false, "unscheduled", "it is being evicted, and no other cluster has been chosen yet"};
  }
  std::string other = other_scheduler_text(binding);
  return {false, "unscheduled", other.empty() ? "no cluster has been chosen yet" : std::move(other)};
}

}  // namespace shiplog::ctl
