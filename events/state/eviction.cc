#include "events/state/eviction.h"

#include <algorithm>

#include "events/dispatch.h"
#include "events/state/work.h"

namespace shiplog {

bool unreachable(const Value& cluster) {
  const Value& ready = condition_of(cluster, "Ready");
  return ready["status"].as_string() == "Unknown" || ready["reason"].as_string() == "ClusterNotReachable";
}

std::string reported_health(const Value& work, const Value& resource) {
  for (const Value& status : work["status"]["manifestStatuses"].items()) {
    const Value& identifier = status["identifier"];
    if (identifier["kind"] == resource["kind"] && identifier["name"] == resource["name"] &&
        identifier["namespace"].as_string() == resource["namespace"].as_string()) {
      return status["health"].str();
    }
  }
  return "";
}

bool keeps_last_copy(const Value& binding, const Value& task, const Value& cluster, const Value& work) {
  if (task["purgeMode"].as_string() == "Directly") return false;
  if (binding["status"]["schedulerObservedGeneration"] == binding["metadata"]["generation"]) return false;
  if (condition_of(cluster, "Ready")["status"].as_string() != "True" || deleting(cluster) || deleting(work)) {
    return false;
  }
  return reported_health(work, binding["spec"]["resource"]) == "Healthy";
}

namespace {

std::string blocked_by(const Value& work, const Value& resource) {
  if (work.is_null() || deleting(work)) return "it has no Work yet";
  if (!applied(work)) return "the Work has not been applied there yet";
  const Value& collected = condition_of(work, kStatusCollectedCondition);
  if (collected["observedGeneration"].as_int() != work["metadata"]["generation"].as_int()) {
    return "no status has been collected since the Work was applied";
  }
  const std::string health = reported_health(work, resource);
  if (health.empty()) return "the object is not there";
  return health == "Healthy" ? "" : "the object is " + health;
}

}  // namespace

std::vector<EvictionBlocker> eviction_blockers(const Value& binding, const WorkOfCluster& work_of) {
  const Value& generation = binding["metadata"]["generation"];
  if (binding["status"]["schedulerObservedGeneration"] != generation) {
    const Value& scheduled = condition_of(binding, "Scheduled");
    if (scheduled["status"].as_string() == "False")
      return {{"", "it could not be placed: " + scheduled["message"].str()}};
    return {{"", "the binding has not been scheduled since its last change"}};
  }
  const Value& synced = condition_of(binding, kWorksSyncedCondition);
  if (synced["status"].as_string() == "False") {
    return {{"", "not every target could be rendered: " + synced["message"].str()}};
  }
  if (synced["observedGeneration"].as_int() != generation.as_int()) {
    return {{"", "the Works have not been rendered since the last placement"}};
  }
  std::vector<EvictionBlocker> blockers;
  for (const Value& target : binding["spec"]["clusters"].items()) {
    const std::string cluster = target["name"].str();
    std::string reason = blocked_by(work_of(cluster), binding["spec"]["resource"]);
    if (!reason.empty()) blockers.push_back({cluster, std::move(reason)});
  }
  return blockers;
}

}  // namespace shiplog
