#include "services/programs/shiplogctl/bindings.h"

#include <algorithm>
#include <array>
#include <map>

#include "events/state/condition.h"

namespace shiplog::ctl {
namespace {

constexpr std::array<std::string_view, 8> kWorkloads = {
    "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "Pod", "ReplicationController"};

/// Ready pods according to what a member reported; -1: that does not tell.
int64_t ready_in(const Value& reported, std::string_view kind, bool has_replicas) {
  const Value& status = reported["status"];
  if (!status.is_object()) return -1;
  if (kind == "Pod") return condition_holds(reported, "Ready") ? 1 : 0;
  for (const char* field : {"readyReplicas", "numberReady", "ready"}) {
    if (const Value& value = status[field]; value.is_int()) return value.as_int();
  }
  // Members omit zero. Of a Job they report the pods that have ended, and not those that are ready.
  return has_replicas && kind != "Job" ? 0 : -1;
}

bool names(const Value& list, const std::string& cluster) {
  return std::ranges::any_of(list.items(), [&](const Value& name) { return name.as_string() == cluster; });
}

}  // namespace

std::vector<BindingTarget> targets_of(const Value& binding) {
  const Value& spec = binding["spec"];
  std::map<std::string, BindingTarget> targets;
  const auto target = [&](const std::string& cluster) -> BindingTarget& {
    BindingTarget& found = targets[cluster];
    found.cluster = cluster;
    return found;
  };
  for (const Value& placed : spec["clusters"].items()) {
    BindingTarget& entry = target(placed["name"].str());
    entry.placed = true;
    if (placed["replicas"].is_int() && placed["replicas"].as_int() > 0) entry.replicas = placed["replicas"].as_int();
    if (entry.replicas < 0 && spec["replicas"].is_int()) entry.replicas = placed["replicas"].as_int();
  }
  // A dependency follows what requires it (B-5). The replicas named there are not its own.
  for (const Value& required : spec["requiredBy"].items()) {
    for (const Value& placed : required["clusters"].items()) target(placed["name"].str()).placed = true;
  }
  for (const Value& task : spec["gracefulEvictionTasks"].items()) {
    BindingTarget& entry = target(task["fromCluster"].str());
    entry.evicting = !entry.placed;
    entry.purged = task["purgeMode"].as_string() == "Directly";
  }
  for (const Value& reported : binding["status"]["aggregatedStatus"].items()) {
    BindingTarget& entry = target(reported["clusterName"].str());
    entry.reported = true;
    entry.applied = reported["applied"].as_bool();
    entry.applied_message = reported["appliedMessage"].str();
    entry.health = reported["health"].str();
    entry.ready = ready_in(reported, spec["resource"]["kind"].as_string(), entry.replicas >= 0);
    if (const Value& desired = reported["status"]["desiredNumberScheduled"]; desired.is_int()) {
      entry.desired = desired.as_int();
    }
  }
  const Value& suspension = spec["suspension"];
  std::vector<BindingTarget> all;
  for (auto& [name, entry] : targets) {
    entry.suspended =
        suspension["dispatching"].as_bool() || names(suspension["dispatchingOnClusters"]["clusterNames"], name);
    if (entry.health.empty()) entry.health = "Unknown";
    all.push_back(std::move(entry));
  }
  return all;
}

bool is_workload(const Value& binding) {
  const Value& spec = binding["spec"];
  return std::ranges::find(kWorkloads, spec["resource"]["kind"].as_string()) != kWorkloads.end() ||
         spec["replicas"].as_int() > 0 || spec["components"].size() > 0 || spec["replicaRequirements"].is_object();
}

std::string since(const Value& time, UtcMillis now) {
  if (!time.is_string()) return "";
  const auto at = parse_rfc3339(time.str());
  return at ? human_duration(Millis{now.value - at.value().value}) : "";
}

}  // namespace shiplog::ctl
