#include "services/roles/dispatcher/handover.h"

#include <algorithm>

#include "events/dispatch.h"
#include "events/state/bound_template.h"
#include "events/state/failover_record.h"
#include "events/state/work.h"
#include "services/interpreter/interpreter.h"
#include "services/roles/dispatcher/authority.h"

namespace shiplog::dispatcher {
namespace {

constexpr const char* kRetainReplicasLabel = "resourcetemplate.karmada.io/retain-replicas";

bool runs_once(const State& state, const ObjectKey& key, const Value& binding) {
  const Value& resource = binding["spec"]["resource"];
  const auto bound = bound_template(state, key, resource);
  const Value& object = state.value_of(bound ? bound.value().value_or(ObjectKey{}) : ObjectKey{});
  const auto own = annotation_of(object, kSingleCopyAnnotation);
  if (own == "true" || own == "false") return own == "true";
  return resource["apiVersion"].as_string() == "apps/v1" && resource["kind"].as_string() == "StatefulSet";
}

/// The step that was taken for this task; one of an earlier move off the same cluster does not count.
std::string step_for(const Value& taken, const Value& task) {
  const auto since = parse_rfc3339(task["creationTimestamp"].as_string());
  if (since && taken["at"].as_int() < since.value().value) return "";
  return taken["step"].str();
}

}  // namespace

std::vector<Handover> handovers_of(const State& state, const ObjectKey& key, const Value& binding) {
  std::vector<Handover> handovers;
  if (state.fold_version() < 7) return handovers;
  const Value& spec = binding["spec"];
  const Value& taken = failover_record_of(state, key)["handovers"];
  const auto is_target = [&](std::string_view cluster) {
    return std::ranges::any_of(spec["clusters"].items(),
                               [&](const Value& target) { return target["name"].as_string() == cluster; });
  };
  const auto known = [&](std::string_view cluster) {
    return std::ranges::any_of(handovers, [&](const Handover& other) { return other.cluster == cluster; });
  };
  for (const Value& task : spec["gracefulEvictionTasks"].items()) {
    const std::string cluster = task["fromCluster"].str();
    if (task["purgeMode"].as_string() != "Directly" || is_target(cluster) || !runs_once(state, key, binding)) continue;
    handovers.push_back({cluster, step_for(taken[cluster], task)});
  }
  for (const auto& member : taken.members()) {
    if (member.value["step"].as_string() != "Stop" || is_target(member.key()) || known(member.key())) continue;
    handovers.push_back({std::string{member.key()}, "Stop"});
  }
  return handovers;
}

interpreter::Interpreted<std::optional<Value>> stopped_work(const State& state, const Value& work, UtcMillis now) {
  Value stopped = work;
  Value::Array& manifests = stopped.edit("spec").edit("workload").edit("manifests").edit_items();
  if (manifests.empty()) return std::optional<Value>{};
  SHIPLOG_TRY(auto scaled, interpreter::revise_replica(state, manifests.front(), 0, now));
  if (!scaled) return std::optional<Value>{};
  SHIPLOG_TRY(check_authority(manifests.front(), *scaled));  // interpreters make manifests, too
  // Otherwise the member would keep its number of replicas.
  if (scaled->contains("metadata") && !label_of(*scaled, kRetainReplicasLabel).empty()) {
    scaled->edit("metadata").edit("labels").erase(kRetainReplicasLabel);
  }
  manifests.front() = std::move(*scaled);
  return std::optional{std::move(stopped)};
}

bool nothing_runs(const Value& work, const Value& resource) {
  const Value& generation = work["metadata"]["generation"];
  if (!applied(work) || condition_of(work, kStatusCollectedCondition)["observedGeneration"] != generation) return false;
  for (const Value& item : work["status"]["manifestStatuses"].items()) {
    const Value& identifier = item["identifier"];
    if (identifier["kind"] != resource["kind"] || identifier["name"] != resource["name"]) continue;
    const Value& status = item["status"];
    // Unknown: the object is not the one that was written. No status: its controller has not looked at it yet.
    if (item["health"].as_string() == "Unknown" || !status.is_object()) return false;
    if (!status["generation"].is_null() && !status["observedGeneration"].is_null() &&
        status["generation"] != status["observedGeneration"]) {
      return false;
    }
    return std::ranges::all_of(
        std::initializer_list<const char*>{"replicas", "readyReplicas", "availableReplicas", "updatedReplicas",
                                           "terminatingReplicas", "active", "terminating"},
        [&](const char* count) { return status[count].as_int() == 0; });
  }
  return false;
}

}  // namespace shiplog::dispatcher
