#include "services/roles/application_failover/decide.h"

#include <algorithm>

#include "events/state/bound_template.h"
#include "events/state/failover_record.h"
#include "events/state/state_preservation.h"
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

/// Why its workload is not watched; empty: it is (3.2.1, 3.2.2).
std::string unwatched_because(const State& state, const ObjectKey& key, const Value& binding, UtcMillis now) {
  if (!state.options().controller_on(kApplicationFailover)) return "--controllers leaves out applicationFailover";
  if (!application_of(binding).is_object()) return "the policy asks for no application failover any more";
  if (!binding["spec"]["propagateDeps"].as_bool()) return "propagateDeps is not true";
  if (binding["status"]["aggregatedStatus"].size() == 0) return "no status is collected";
  if (!has_health(state, key, binding, now)) return "no rule determines the health of its kind";
  return "";
}

const Value* named(std::span<const Value> list, const char* field, std::string_view cluster) {
  const auto found = std::ranges::find_if(list, [&](const Value& item) { return item[field].as_string() == cluster; });
  return found == list.end() ? nullptr : &*found;
}

bool evicting(const Value& binding, std::string_view cluster) {
  return named(binding["spec"]["gracefulEvictionTasks"].items(), "fromCluster", cluster) != nullptr;
}

/// Why no failover from the cluster is due one day; empty: the workload is Unhealthy there (3.2.3).
std::string calm_because(const Value& binding, std::string_view cluster) {
  const Value* item = named(binding["status"]["aggregatedStatus"].items(), "clusterName", cluster);
  if (named(binding["spec"]["clusters"].items(), "name", cluster) == nullptr) return "the workload is not placed there";
  if (evicting(binding, cluster)) return "the workload is being evicted";
  if (item == nullptr) return "no status is collected from there";
  const std::string health = (*item)["health"].str();
  return health == "Unhealthy" ? "" : "the workload is " + (health.empty() ? "Unknown" : health);
}

Millis toleration_of(const Value& binding) {
  const int64_t seconds = application_of(binding)["decisionConditions"]["tolerationSeconds"].as_int(kTolerationSeconds);
  return Millis{std::max<int64_t>(seconds, 0) * 1000};
}

/// The task of 3.2.6, but for preserved state.
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

}  // namespace

bool concerns(const State& state, const ObjectKey& key, const Value& binding) {
  return application_of(binding).is_object() || state.value_of(failover_record_key(key))["timers"].size() > 0;
}

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* object = state.find(key);
  if (object == nullptr || !is_binding(key.type) || deleting(object->value)) return Nothing{};
  const Value& binding = object->value;
  if (!concerns(state, key, binding)) return Nothing{};

  const ObjectKey record_key = failover_record_key(key);
  const Value& timers = state.value_of(record_key)["timers"];
  const std::string unwatched = unwatched_because(state, key, binding, now);
  std::optional<UtcMillis> next;
  std::optional<Error> failed;
  // All that is due goes into one entry (3.2.8): a binding never loses its clusters one after the other.
  DecisionBuilder decision;
  for (const auto& timer : timers.members()) {
    const std::string cluster{timer.key()};
    std::string calm = unwatched.empty() ? calm_because(binding, cluster) : unwatched;
    if (!calm.empty()) {
      decision.add(FailoverTimerStopped{key, cluster, std::move(calm)});
      continue;
    }
    const UtcMillis since{timer.value.as_int()};
    const UtcMillis until = since + toleration_of(binding);
    if (now <= until) {  // strictly later (3.2.4)
      const UtcMillis due = until + Millis{1};
      if (!next || due < *next) next = due;
      continue;
    }
    EvictionStarted eviction = eviction_of(key, binding, cluster, since);
    if (!preserve_state(state, binding, "application", eviction, failed)) continue;
    decision.add(FailoverTimerStopped{key, cluster, "the workload is evicted"});
    decision.add(std::move(eviction));
  }
  if (unwatched.empty()) {
    for (const Value& target : binding["spec"]["clusters"].items()) {
      const std::string cluster = target["name"].str();
      if (timers.contains(cluster) || !calm_because(binding, cluster).empty()) continue;
      decision.add(FailoverTimerStarted{key, cluster, "the workload is Unhealthy"});
    }
  }
  if (!decision.empty()) {
    decision.expect({key, object->revision});
    decision.expect({record_key, state.revision_of(record_key)});
    return std::move(decision).build_and_look_again(now);
  }
  if (failed) return *failed;
  return next ? Decided{LookAgain{*next}} : Nothing{};
}

}  // namespace shiplog::application_failover
