#include "services/roles/failover_evictions.h"

#include <algorithm>
#include <span>

#include "events/state/bound_template.h"
#include "events/state/eviction.h"
#include "services/interpreter/interpreter.h"

namespace shiplog::application_failover {
namespace {

/// Upstream's CRD defaults, for a binding that was written without them.
constexpr int64_t kTolerationSeconds = 300;
constexpr const char* kGracefully = "Gracefully";

const Value& application_of(const Value& binding) { return binding["spec"]["failover"]["application"]; }

/// A kind without health is never Unhealthy; one whose rule was removed keeps what was reported last (3.2.2).
bool has_health(const State& state, const ObjectKey& key, const Value& binding, UtcMillis now) {
  const auto bound = bound_template(state, key, binding["spec"]["resource"]);
  if (!bound || !bound.value()) return false;
  const Value& object = state.value_of(*bound.value());
  if (object.is_null()) return false;
  const auto health = interpreter::health(state, object, now);
  return !health || health.value().has_value();  // an error or a question: some level offers it
}

const Value* named(std::span<const Value> list, const char* field, std::string_view cluster) {
  const auto found = std::ranges::find_if(list, [&](const Value& item) { return item[field].as_string() == cluster; });
  return found == list.end() ? nullptr : &*found;
}

bool evicting(const Value& binding, std::string_view cluster) {
  return named(binding["spec"]["gracefulEvictionTasks"].items(), "fromCluster", cluster) != nullptr;
}

Millis toleration_of(const Value& binding) {
  const int64_t seconds = application_of(binding)["decisionConditions"]["tolerationSeconds"].as_int(kTolerationSeconds);
  return Millis{std::max<int64_t>(seconds, 0) * 1000};
}

}  // namespace

bool evictions_take_turns(const State& state) {
  return state.fold_version() >= 7 && !state.options().eviction_budget.empty();
}

std::string unwatched_because(const State& state, const ObjectKey& key, const Value& binding, UtcMillis now) {
  if (!state.options().controller_on(kApplicationFailover)) return "--controllers leaves out applicationFailover";
  if (!application_of(binding).is_object()) return "the policy asks for no application failover any more";
  if (!binding["spec"]["propagateDeps"].as_bool()) return "propagateDeps is not true";
  if (binding["status"]["aggregatedStatus"].size() == 0) return "no status is collected";
  if (!has_health(state, key, binding, now)) return "no rule determines the health of its kind";
  return "";
}

std::string calm_because(const State& state, const Value& binding, std::string_view cluster) {
  const Value* item = named(binding["status"]["aggregatedStatus"].items(), "clusterName", cluster);
  if (named(binding["spec"]["clusters"].items(), "name", cluster) == nullptr) return "the workload is not placed there";
  if (evicting(binding, cluster)) return "the workload is being evicted";
  if (item == nullptr) return "no status is collected from there";
  const std::string health = (*item)["health"].str();
  if (health != "Unhealthy") return "the workload is " + (health.empty() ? "Unknown" : health);
  // What was reported before the cluster was lost says nothing about the time since (decision 0074).
  return unreachable(state.value_of({type::kCluster, "", std::string{cluster}})) ? "the cluster is unreachable" : "";
}

UtcMillis due_at(const Value& binding, UtcMillis since) { return since + toleration_of(binding) + Millis{1}; }

EvictionStarted eviction_of(const ObjectKey& key, const Value& binding, const std::string& cluster, UtcMillis since) {
  const Value& application = application_of(binding);
  EvictionStarted event;
  event.binding = key;
  event.cluster = cluster;
  event.reason = "ApplicationFailure";
  event.message = "the workload has been Unhealthy there since " + rfc3339(since) + ", longer than " +
                  std::to_string(toleration_of(binding).value / 1000) + " s";
  event.producer = key.ns.empty() ? "cluster-resource-binding-application-failover-controller"
                                  : "resource-binding-application-failover-controller";
  event.purge_mode = application["purgeMode"].is_empty() ? kGracefully : application["purgeMode"].str();
  if (event.purge_mode == kGracefully) {
    event.grace_seconds = std::max<int64_t>(application["gracePeriodSeconds"].as_int(), 0);
  }
  event.suppress_deletion = event.purge_mode == "Never";
  for (const Value& target : binding["spec"]["clusters"].items()) event.clusters_before.push_back(target["name"].str());
  return event;
}

}  // namespace shiplog::application_failover
