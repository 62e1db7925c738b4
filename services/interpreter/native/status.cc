#include <algorithm>
#include <charconv>
#include <initializer_list>

#include "events/state/object.h"
#include "events/state/work.h"
#include "services/interpreter/native/member_status.h"
#include "services/interpreter/native/native.h"

namespace shiplog::interpreter::native {
namespace {

using Fields = std::initializer_list<const char*>;

/// `always`: counts that are included even if they are 0.
Value chosen(const Value& status, Fields fields, Fields always = {}) {
  Value out;
  if (status.is_empty()) return out;
  for (const char* field : fields) {
    if (!status[field].is_empty()) out.set(field, status[field]);
  }
  for (const char* field : always) out.set(field, status[field].as_int());
  return out;
}

/// T-5: adds the generation of the member's object and of the template to which the status refers.
Result<Value> with_generations(Value status, const Value& object) {
  const auto text = annotation_of(object, annotation::kTemplateGeneration);
  int64_t generation = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), generation);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    return Error{ErrorCode::kInvalid, object["kind"].str() + " " + object["metadata"]["name"].str() +
                                          ": annotation resourcetemplate.karmada.io/generation is \"" +
                                          std::string{text} + "\", not a whole number"};
  }
  status.set("generation", object["metadata"]["generation"].as_int());
  status.set("resourceTemplateGeneration", generation);
  return status;
}

/// An empty result is stored as no status.
Result<Value> counted(const Value& object, Fields fields, Fields always = {}) {
  Value status = chosen(object["status"], fields, always);
  if (status.is_null()) return status;
  return with_generations(std::move(status), object);
}

/// The conditions of these types, without lastUpdateTime, which changes with every pod.
Value conditions_of(const Value& status, std::initializer_list<std::string_view> types) {
  Value kept = Value::array();
  for (const Value& condition : status["conditions"].items()) {
    if (std::ranges::find(types, condition["type"].as_string()) == types.end()) continue;
    Value copy = condition;
    copy.erase("lastUpdateTime");
    kept.push_back(std::move(copy));
  }
  return kept;
}

void add_conditions(Value& reflected, const Value& status, std::initializer_list<std::string_view> types) {
  if (reflected.is_null()) return;
  Value conditions = conditions_of(status, types);
  if (conditions.size() > 0) reflected.set("conditions", std::move(conditions));
}

bool caught_up(const Value& object) {
  return object["status"]["observedGeneration"].as_int() == object["metadata"]["generation"].as_int();
}

bool has_address(const Value& object) {
  for (const Value& ingress : object["status"]["loadBalancer"]["ingress"].items()) {
    if (!ingress["hostname"].is_empty() || !ingress["ip"].is_empty()) return true;
  }
  return false;
}

bool healthy_deployment(const Value& object) {
  const Value& status = object["status"];
  const Value& wanted = object["spec"]["replicas"];
  const int64_t updated = status["updatedReplicas"].as_int();
  return caught_up(object) && (wanted.is_null() || updated >= wanted.as_int()) &&
         status["availableReplicas"].as_int() >= updated;
}

bool healthy_replica_set(const Value& object) {
  const Value& wanted = object["spec"]["replicas"];
  return caught_up(object) && (wanted.is_null() || object["status"]["availableReplicas"].as_int() >= wanted.as_int());
}

bool healthy_daemon_set(const Value& object) {
  const Value& status = object["status"];
  const int64_t updated = status["updatedNumberScheduled"].as_int();
  return caught_up(object) && updated >= status["desiredNumberScheduled"].as_int() &&
         status["numberAvailable"].as_int() >= updated;
}

bool healthy_pod(const Value& object) {
  const auto phase = object["status"]["phase"].as_string();
  if (phase == "Succeeded") return true;
  return phase == "Running" && condition_of(object, "Ready")["status"].as_string() == "True";
}

}  // namespace

Result<Value> reflect_status(const Value& object) {
  const std::string kind = kind_of(object);
  const Value& status = object["status"];
  if (kind == "v1/Service" && object["spec"]["type"].as_string() != "LoadBalancer") return Value{};
  SHIPLOG_TRY(check_member_status(kind, status));
  if (kind == "apps/v1/Deployment") {
    SHIPLOG_TRY(auto reflected, counted(object, {"replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
                                                 "unavailableReplicas", "observedGeneration"}));
    add_conditions(reflected, status, {"Available", "Progressing"});  // upstream collects none
    return reflected;
  }
  if (kind == "apps/v1/ReplicaSet") {
    return counted(object, {"readyReplicas", "availableReplicas", "observedGeneration"}, {"replicas"});
  }
  if (kind == "apps/v1/StatefulSet") {  // unlike upstream (T-5) with its observedGeneration and revisions
    return counted(object,
                   {"currentReplicas", "readyReplicas", "updatedReplicas", "observedGeneration", "currentRevision",
                    "updateRevision"},
                   {"availableReplicas", "replicas"});
  }
  if (kind == "apps/v1/DaemonSet") {
    return counted(object, {"numberAvailable", "numberUnavailable", "updatedNumberScheduled", "observedGeneration"},
                   {"currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"});
  }
  if (kind == "batch/v1/Job") {
    return chosen(status, {"active", "succeeded", "failed", "conditions", "startTime", "completionTime"});
  }
  if (kind == "v1/Service") return chosen(status, {"loadBalancer"});
  if (kind == "policy/v1/PodDisruptionBudget") {
    Value reflected =
        chosen(status, {"disruptedPods"}, {"disruptionsAllowed", "expectedPods", "desiredHealthy", "currentHealthy"});
    add_conditions(reflected, status, {"DisruptionAllowed"});  // upstream collects none
    return reflected;
  }
  if (kind == "autoscaling/v2/HorizontalPodAutoscaler") {
    Value reflected = chosen(status, {"currentReplicas"}, {"desiredReplicas"});
    add_conditions(reflected, status, {"AbleToScale", "ScalingActive", "ScalingLimited"});  // upstream collects none
    return reflected;
  }
  return status;
}

std::optional<bool> health(const Value& object) {
  const std::string kind = kind_of(object);
  if (kind == "apps/v1/Deployment" || kind == "apps/v1/StatefulSet") return healthy_deployment(object);
  if (kind == "apps/v1/ReplicaSet") return healthy_replica_set(object);
  if (kind == "apps/v1/DaemonSet") return healthy_daemon_set(object);
  if (kind == "v1/Service") return object["spec"]["type"].as_string() != "LoadBalancer" || has_address(object);
  if (kind == "networking.k8s.io/v1/Ingress") return has_address(object);
  if (kind == "v1/PersistentVolumeClaim") return object["status"]["phase"].as_string() == "Bound";
  if (kind == "v1/Pod") return healthy_pod(object);
  if (kind == "policy/v1/PodDisruptionBudget") {
    return object["status"]["currentHealthy"].as_int() >= object["status"]["desiredHealthy"].as_int();
  }
  return std::nullopt;
}

}  // namespace shiplog::interpreter::native
