#include <algorithm>
#include <initializer_list>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "events/base/json.h"
#include "events/state/condition.h"
#include "events/state/pod_template.h"
#include "events/state/work.h"
#include "services/interpreter/native/conditions.h"
#include "services/interpreter/native/member_status.h"
#include "services/interpreter/native/native.h"

namespace shiplog::interpreter::native {
namespace {

using Fields = std::initializer_list<const char*>;

/// Counts are of 32 bits: a sum beyond them is their greatest or least.
int64_t saturated(int64_t total) {
  using Count = std::numeric_limits<int32_t>;
  return std::clamp<int64_t>(total, Count::min(), Count::max());
}

/// Sums over the items; a zero is left out unless the field is one that the kind always shows.
void sum(Value& status, const Value& items, Fields fields, Fields always = {}) {
  for (const char* field : fields) {
    int64_t total = 0;
    for (const Value& item : items.items()) total += saturated(item["status"][field].as_int());
    total = saturated(total);
    if (total != 0 || std::ranges::find(always, std::string_view{field}) != always.end()) {
      status.set(field, total);
    } else {
      status.erase(field);
    }
  }
}

/// T-13: the template's generation counts as observed once every item reports it.
void observe_generation(Value& status, const Value& object, const Value& items) {
  const int64_t generation = object["metadata"]["generation"].as_int();
  const bool all =
      std::ranges::all_of(items.items(), [&](const Value& item) { return reports_generation(item, generation); });
  if (all) status.set("observedGeneration", generation);
}

Value of_deployment(const Value& object, const Value& items, Conditions conditions, UtcMillis now) {
  Value status = object["status"];
  sum(status, items, {"replicas", "readyReplicas", "updatedReplicas", "availableReplicas", "unavailableReplicas"});
  observe_generation(status, object, items);
  if (conditions == Conditions::kOfMembers) set_deployment_conditions(status, object, items, now);
  return status;
}

Value of_replica_set(const Value& object, const Value& items) {
  Value status = object["status"];
  sum(status, items, {"replicas", "readyReplicas", "availableReplicas"}, {"replicas"});
  observe_generation(status, object, items);
  return status;
}

Value of_daemon_set(const Value& object, const Value& items) {
  Value status = object["status"];
  sum(status, items,
      {"currentNumberScheduled", "desiredNumberScheduled", "numberAvailable", "numberMisscheduled", "numberReady",
       "updatedNumberScheduled", "numberUnavailable"},
      {"currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"});
  observe_generation(status, object, items);
  return status;
}

/// Revisions have the names that this server serves: members name their revisions after their own templates. The
/// present template becomes the current revision once it is current in every cluster.
void set_revisions(Value& status, const Value& object, const Value& items) {
  const std::string update = object["metadata"]["name"].str() + "-" + template_hash(object["spec"]["template"]);
  const int64_t generation = object["metadata"]["generation"].as_int();
  const bool everywhere = std::ranges::all_of(items.items(), [&](const Value& item) {
    return reports_generation(item, generation) &&
           item["status"]["currentRevision"].as_string() == item["status"]["updateRevision"].as_string();
  });
  if (everywhere || status["currentRevision"].is_empty()) status.set("currentRevision", update);
  status.set("updateRevision", update);
}

Value of_stateful_set(const Value& object, const Value& items, Conditions conditions) {
  Value status = object["status"];
  sum(status, items, {"availableReplicas", "currentReplicas", "readyReplicas", "replicas", "updatedReplicas"},
      {"availableReplicas", "replicas"});
  if (conditions == Conditions::kOfMembers) {
    observe_generation(status, object, items);
    set_revisions(status, object, items);
    return status;
  }
  // T-14: members' observedGeneration is not collected, so it moves only while there is no item.
  if (items.size() == 0) status.set("observedGeneration", object["metadata"]["generation"].as_int());
  return status;
}

/// One address of a load balancer.
struct IngressPoint {
  Value value;
  std::set<std::string> ports = {};  ///< those of `value`, once a second point has the same address
};

/// Adds the ports that it does not have. A member may report thousands of them.
void add_ports(IngressPoint& point, const Value& ports) {
  if (point.ports.empty()) {
    for (const Value& port : point.value["ports"].items()) point.ports.insert(to_json(port));
  }
  for (const Value& port : ports.items()) {
    if (point.ports.insert(to_json(port)).second) point.value.edit("ports").push_back(port);
  }
}

/// The union of ingress points, each once, with its ports merged; nameless ones last.
Value of_load_balancer(const Value& items) {
  std::map<std::tuple<bool, std::string, std::string, std::string>, IngressPoint> points;
  for (const Value& item : items.items()) {
    for (const Value& point : item["status"]["loadBalancer"]["ingress"].items()) {
      const std::string hostname = point["hostname"].str();
      auto [at, inserted] = points.try_emplace({hostname.empty(), hostname, point["ip"].str(), point["ipMode"].str()},
                                               IngressPoint{point});
      if (!inserted) add_ports(at->second, point["ports"]);
    }
  }
  Value balancer = Value::object();
  for (const auto& [key, point] : points) balancer.edit("ingress").push_back(point.value);
  return Value::object({{"loadBalancer", balancer}});
}

void add_condition(Value& status, const char* type, const char* reason, const std::string& message, UtcMillis now) {
  Value::Array& conditions = status.edit("conditions").edit_items();
  conditions.push_back(Value::object({{"type", type},
                                      {"status", "True"},
                                      {"lastProbeTime", rfc3339(now)},
                                      {"lastTransitionTime", rfc3339(now)},
                                      {"reason", reason},
                                      {"message", message}}));
}

/// The earliest or latest of the items' times; empty unless every item has one. RFC 3339 in UTC sorts as text.
std::string of_times(const Value& items, const char* field, bool latest) {
  std::string chosen;
  for (const Value& item : items.items()) {
    const std::string time = item["status"][field].str();
    if (time.empty()) return "";
    if (chosen.empty() || (latest ? time > chosen : time < chosen)) chosen = time;
  }
  return chosen;
}

bool is_finished(const Value& job) { return condition_holds(job, "Complete") || condition_holds(job, "Failed"); }

Value of_job(const Value& object, const Value& items, UtcMillis now) {
  if (is_finished(object)) return object["status"];
  Value status = Value::object();  // rebuilt: only the start time of the old status is kept
  sum(status, items, {"active", "succeeded", "failed"});
  std::string failed;
  size_t complete = 0;
  size_t criteria_met = 0;
  for (const Value& item : items.items()) {
    if (condition_holds(item, "Failed")) failed += (failed.empty() ? "" : ",") + item["clusterName"].str();
    complete += condition_holds(item, "Complete") ? 1U : 0U;
    criteria_met += condition_holds(item, "SuccessCriteriaMet") ? 1U : 0U;
  }
  if (!failed.empty()) {
    add_condition(status, "Failed", "JobFailed", "Job executed failed in member clusters " + failed, now);
  }
  if (complete == items.size() && complete > 0) {
    add_condition(status, "Complete", "Completed", "Job completed", now);
    if (criteria_met == items.size()) {
      add_condition(status, "SuccessCriteriaMet", "CompletionsReached", "All member clusters have met success criteria",
                    now);
    }
  }
  std::string start = object["status"]["startTime"].str();
  if (start.empty()) start = of_times(items, "startTime", false);
  if (!start.empty()) status.set("startTime", start);
  const std::string end = of_times(items, "completionTime", true);
  if (!end.empty()) status.set("completionTime", end);
  return status;
}

Value of_cron_job(const Value& items) {
  Value status = Value::object();
  for (const Value& item : items.items()) {
    for (const Value& job : item["status"]["active"].items()) status.edit("active").push_back(job);
    for (const char* field : {"lastScheduleTime", "lastSuccessfulTime"}) {
      const std::string time = item["status"][field].str();
      if (time > status[field].str()) status.set(field, time);
    }
  }
  return status;
}

/// The first of `order` that some item has; items without a status count as Pending.
std::string first_phase(const Value& items, Fields order) {
  for (const char* phase : order) {
    for (const Value& item : items.items()) {
      const auto has = item["status"].is_null() ? "Pending" : item["status"]["phase"].as_string();
      if (has == phase) return phase;
    }
  }
  return "";
}

Value of_pod(const Value& object, const Value& items, Conditions conditions, UtcMillis now) {
  if (items.size() == 0) return object["status"];
  Value status = Value::object();
  if (const auto phase = first_phase(items, {"Failed", "Pending", "Running", "Succeeded"}); !phase.empty()) {
    status.set("phase", phase);
  }
  for (const char* list : {"containerStatuses", "initContainerStatuses"}) {
    Value all = Value::array();
    for (const Value& item : items.items()) {
      for (const Value& container : item["status"][list].items()) {
        Value kept = Value::object({{"ready", container["ready"].as_bool()}});
        if (!container["state"].is_null()) kept.set("state", container["state"]);
        all.push_back(std::move(kept));
      }
    }
    if (all.size() > 0) status.set(list, std::move(all));
  }
  if (conditions == Conditions::kOfMembers) set_pod_conditions(status, object, items, now);
  return status;
}

Value of_volume(const Value& items) {
  Value status = Value::object();
  const auto phase = first_phase(items, {"Failed", "Pending", "Available", "Bound", "Released"});
  if (!phase.empty()) status.set("phase", phase);
  return status;
}

Value of_claim(const Value& items) {
  std::string phase = "Bound";
  for (const Value& item : items.items()) {
    if (item["status"].is_null()) continue;
    const std::string item_phase = item["status"]["phase"].str();
    if (item_phase != "Bound") phase = item_phase;
    if (item_phase == "Lost") break;
  }
  return Value::object({{"phase", phase}});
}

Value of_disruption_budget(const Value& object, const Value& items, Conditions conditions, UtcMillis now) {
  const Fields counts = {"currentHealthy", "desiredHealthy", "expectedPods", "disruptionsAllowed"};
  Value status = Value::object();
  sum(status, items, counts, counts);
  for (const Value& item : items.items()) {
    for (const auto& pod : item["status"]["disruptedPods"].members()) {
      status.edit("disruptedPods").set(item["clusterName"].str() + "/" + std::string{pod.key()}, pod.value);
    }
  }
  if (conditions == Conditions::kOfMembers) set_disruption_budget_conditions(status, object, items, now);
  return status;
}

Value of_autoscaler(const Value& object, const Value& items, Conditions conditions, UtcMillis now) {
  Value status = Value::object();
  sum(status, items, {"currentReplicas", "desiredReplicas"}, {"desiredReplicas"});
  if (conditions == Conditions::kOfMembers) set_autoscaler_conditions(status, object, items, now);
  return status;
}

/// What members report makes no difference to it.
bool keeps_status(const std::string& kind, const Value& object) {
  if (kind == "v1/Service") return object["spec"]["type"].as_string() != "LoadBalancer";
  return kind == "batch/v1/Job" && is_finished(object);
}

std::optional<Value> of_kind(const std::string& kind, const Value& object, const Value& items, UtcMillis now,
                             Conditions conditions) {
  if (kind == "apps/v1/Deployment") return of_deployment(object, items, conditions, now);
  if (kind == "apps/v1/ReplicaSet") return of_replica_set(object, items);
  if (kind == "apps/v1/DaemonSet") return of_daemon_set(object, items);
  if (kind == "apps/v1/StatefulSet") return of_stateful_set(object, items, conditions);
  if (kind == "v1/Service") {
    if (object["spec"]["type"].as_string() != "LoadBalancer") return std::nullopt;
    return of_load_balancer(items);
  }
  if (kind == "networking.k8s.io/v1/Ingress") return of_load_balancer(items);
  if (kind == "batch/v1/Job") return of_job(object, items, now);
  if (kind == "batch/v1/CronJob") return of_cron_job(items);
  if (kind == "v1/Pod") return of_pod(object, items, conditions, now);
  if (kind == "v1/PersistentVolume") return of_volume(items);
  if (kind == "v1/PersistentVolumeClaim") return of_claim(items);
  if (kind == "policy/v1/PodDisruptionBudget") return of_disruption_budget(object, items, conditions, now);
  if (kind == "autoscaling/v2/HorizontalPodAutoscaler") return of_autoscaler(object, items, conditions, now);
  return std::nullopt;
}

}  // namespace

Result<std::optional<Value>> aggregate_status(const Value& object, const Value& items, UtcMillis now,
                                              Conditions conditions) {
  const std::string kind = kind_of(object);
  if (!keeps_status(kind, object)) {
    SHIPLOG_TRY(check_member_items(kind, items));
  }
  return of_kind(kind, object, items, now, conditions);
}

}  // namespace shiplog::interpreter::native
