#include "services/interpreter/native/conditions.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include "events/state/condition.h"
#include "events/state/work.h"

namespace shiplog::interpreter::native {
namespace {

struct Condition {
  std::string_view type;
  std::string status;
  std::string reason;
  std::string message;
};

/// Sets the condition in `status`. Its times are those of `before`, the stored object, as long as nothing changes:
/// lastTransitionTime changes with the status, lastUpdateTime (in kinds with this field) with any field.
void put(Value& status, const Value& before, const Condition& condition, bool has_update_time, UtcMillis now) {
  const Value& old = condition_of(before, condition.type);
  const bool same_status = old["status"].as_string() == condition.status;
  const bool same =
      same_status && old["reason"].as_string() == condition.reason && old["message"].as_string() == condition.message;
  const auto kept = [&](const char* time) { return old[time].is_string() ? old[time] : Value{""}; };
  Value put = Value::object({{"type", condition.type},
                             {"status", condition.status},
                             {"reason", Value::interned(condition.reason)},
                             {"message", Value::interned(condition.message)},
                             {"lastTransitionTime", same_status ? kept("lastTransitionTime") : Value{rfc3339(now)}}});
  if (has_update_time) put.set("lastUpdateTime", same ? kept("lastUpdateTime") : Value{rfc3339(now)});
  edit_condition(status, condition.type) = std::move(put);
}

void append_name(std::string& names, const Value& item) {
  names += (names.empty() ? "" : ", ") + item["clusterName"].str();
}

/// A status that was collected by an earlier build has no conditions; then the counts apply.
bool is_available(const Value& item) {
  const Value& status = item["status"];
  if (status.is_null()) return false;
  const Value& condition = condition_of(item, "Available");
  if (!condition.is_null()) return condition["status"].as_string() == "True";
  return status["availableReplicas"].as_int() >= status["replicas"].as_int();
}

bool is_complete(const Value& item) {
  const Value& status = item["status"];
  const Value& condition = condition_of(item, "Progressing");
  if (!condition.is_null()) {
    return condition["status"].as_string() == "True" && condition["reason"].as_string() == "NewReplicaSetAvailable";
  }
  const int64_t updated = status["updatedReplicas"].as_int();
  return status["replicas"].as_int() == updated && status["availableReplicas"].as_int() >= updated;
}

Condition availability(const Value& deployment, const Value& items) {
  std::string missing;
  for (const Value& item : items.items()) {
    if (!is_available(item)) append_name(missing, item);
  }
  const bool nowhere = items.size() == 0 && deployment["spec"]["replicas"].as_int(1) > 0;
  if (missing.empty() && !nowhere) {
    return {"Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability."};
  }
  return {"Available", "False", "MinimumReplicasUnavailable",
          nowhere ? "Deployment is on no member cluster."
                  : "Deployment does not have minimum availability in member clusters " + missing + "."};
}

Condition progress(const Value& deployment, const Value& items) {
  if (deployment["spec"]["paused"].as_bool()) {
    return {"Progressing", "Unknown", "DeploymentPaused", "Deployment is paused"};
  }
  const int64_t generation = deployment["metadata"]["generation"].as_int();
  std::string stuck;
  bool complete = true;
  for (const Value& item : items.items()) {
    // Conditions of an earlier generation, such as a failed upgrade, do not apply to the present rollout.
    if (!reports_generation(item, generation)) {
      complete = false;
      continue;
    }
    if (condition_of(item, "Progressing")["status"].as_string() == "False") append_name(stuck, item);
    complete = complete && is_complete(item);
  }
  if (!stuck.empty()) {
    return {"Progressing", "False", "ProgressDeadlineExceeded",
            "Deployment has timed out progressing in member clusters " + stuck + "."};
  }
  if (complete && items.size() > 0) {
    return {"Progressing", "True", "NewReplicaSetAvailable", "Deployment has successfully progressed."};
  }
  return {"Progressing", "True", "ReplicaSetUpdated", "Deployment is progressing."};
}

/// The status of a condition for which a single cluster suffices.
enum class Wins { kTrue, kOther };

/// The condition merged over all clusters; empty type: absent in all.
Condition merged(const Value& items, std::string_view type, Wins wins) {
  Condition first;
  for (const Value& item : items.items()) {
    const Value& reported = condition_of(item, type);
    if (reported.is_null() && wins == Wins::kTrue) continue;
    const bool is_true = reported["status"].as_string() == "True";
    if (is_true == (wins == Wins::kTrue)) {
      if (reported.is_null()) {
        return {type, "Unknown", "NotReported", "no status of member cluster " + item["clusterName"].str()};
      }
      std::string message = item["clusterName"].str();
      if (!reported["message"].is_empty()) message += ": " + reported["message"].str();
      return {type, reported["status"].str(), reported["reason"].str(), std::move(message)};
    }
    if (first.type.empty())
      first = {type, reported["status"].str(), reported["reason"].str(), reported["message"].str()};
  }
  return first;
}

bool any_has(const Value& items, std::string_view type) {
  return std::ranges::any_of(items.items(), [&](const Value& item) { return !condition_of(item, type).is_null(); });
}

void put_merged(Value& status, const Value& before, const Value& items, std::string_view type, Wins wins,
                UtcMillis now) {
  if (!any_has(items, type)) return;
  const Condition condition = merged(items, type, wins);
  if (!condition.type.empty()) put(status, before, condition, false, now);
}

}  // namespace

bool reports_generation(const Value& item, int64_t generation) {
  const Value& member = item["status"];
  return !member.is_null() && member["observedGeneration"].as_int() >= member["generation"].as_int() &&
         member["resourceTemplateGeneration"].as_int() >= generation;
}

void set_deployment_conditions(Value& status, const Value& deployment, const Value& items, UtcMillis now) {
  put(status, deployment, availability(deployment, items), true, now);
  put(status, deployment, progress(deployment, items), true, now);
}

void set_pod_conditions(Value& status, const Value& pod, const Value& items, UtcMillis now) {
  for (const char* type : {"PodScheduled", "Initialized", "ContainersReady", "Ready"}) {
    put_merged(status, pod, items, type, Wins::kOther, now);
  }
}

void set_autoscaler_conditions(Value& status, const Value& autoscaler, const Value& items, UtcMillis now) {
  put_merged(status, autoscaler, items, "AbleToScale", Wins::kOther, now);
  put_merged(status, autoscaler, items, "ScalingActive", Wins::kOther, now);
  put_merged(status, autoscaler, items, "ScalingLimited", Wins::kTrue, now);
}

void set_disruption_budget_conditions(Value& status, const Value& budget, const Value& items, UtcMillis now) {
  put_merged(status, budget, items, "DisruptionAllowed", Wins::kOther, now);
}

}  // namespace shiplog::interpreter::native
