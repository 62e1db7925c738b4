#include <optional>
#include <string>

#include "services/programs/member/bounds.h"
#include "services/programs/member/condition.h"
#include "services/programs/member/decision_changes.h"
#include "services/programs/member/kinds.h"

namespace shiplog::member {
namespace {

/// The type of the workload that an autoscaler names; nullptr: it is of a kind that is not simulated.
const char* target_type(const Value& reference) {
  if (!reference["apiVersion"].as_string().starts_with("apps/")) return nullptr;
  const std::string_view kind = reference["kind"].as_string();
  if (kind == "Deployment") return kDeployments;
  if (kind == "StatefulSet") return kStatefulSets;
  if (kind == "ReplicaSet") return kReplicaSets;
  return nullptr;
}

/// The replicas that the bounds demand; nullopt: metrics decide.
struct Demanded {
  int64_t replicas;
  const char* why;
};
std::optional<Demanded> demanded_by_bounds(const Value& spec, int64_t replicas) {
  const int64_t least = spec["minReplicas"].as_int(1);
  const int64_t most = spec["maxReplicas"].as_int();
  if (replicas > most) return Demanded{most, "Current number of replicas above Spec.MaxReplicas"};
  if (replicas < least) return Demanded{least, "Current number of replicas below Spec.MinReplicas"};
  return std::nullopt;
}

const char* reason_of_metric(const Value& metric) {
  const std::string_view type = metric["type"].as_string();
  if (type == "Pods") return "FailedGetPodsMetric";
  if (type == "Object") return "FailedGetObjectMetric";
  if (type == "External") return "FailedGetExternalMetric";
  if (type == "ContainerResource") return "FailedGetContainerResourceMetric";
  return "FailedGetResourceMetric";
}

}  // namespace

Result<Decided> decide_autoscaler(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value)) return Nothing{};
  Changes changes;
  Value seen = object->value;
  const Value& spec = object->value["spec"];
  const Value& named = spec["scaleTargetRef"];
  Value& status = seen.edit("status");
  if (!seen["metadata"]["generation"].is_null()) status.set("observedGeneration", seen["metadata"]["generation"]);

  const char* type = target_type(named);
  const ObjectKey target_key{type == nullptr ? "" : type, key.ns, named["name"].str()};
  const Object* target = type == nullptr ? nullptr : state.find(target_key);
  if (target == nullptr) {
    const std::string why = type == nullptr ? named["kind"].str() + " of " + named["apiVersion"].str() +
                                                  " is not simulated by trial members"
                                            : std::string{type} + " \"" + target_key.name + "\" not found";
    set_condition(
        status, "AbleToScale",
        {"False", "FailedGetScale", "the HPA controller was unable to get the target's current scale: " + why}, now);
    changes.update_status(key, *object, std::move(seen));
    return changes.take();
  }

  const int64_t replicas = target->value["spec"]["replicas"].as_int(1);
  status.set("currentReplicas", target->value["status"]["replicas"].as_int());
  const auto demanded = demanded_by_bounds(spec, replicas);
  if (replicas == 0 && spec["minReplicas"].as_int(1) != 0) {
    set_condition(status, "AbleToScale",
                  {"True", "SucceededGetScale", "the HPA controller was able to get the target's current scale"}, now);
    set_condition(status, "ScalingActive",
                  {"False", "ScalingDisabled", "scaling is disabled since the replica count of the target is zero"},
                  now);
    status.set("desiredReplicas", 0);
  } else if (demanded) {
    Value scaled = target->value;
    scaled.edit("spec").set("replicas", demanded->replicas);
    changes.update(target_key, *target, std::move(scaled));
    set_condition(status, "AbleToScale",
                  {"True", "SucceededRescale",
                   "the HPA controller was able to update the target scale to " + std::to_string(demanded->replicas)},
                  now);
    status.set("desiredReplicas", demanded->replicas);
    status.set("lastScaleTime", rfc3339(now));
  } else {
    // The reason is that of a cluster without a metrics server.
    set_condition(status, "AbleToScale",
                  {"True", "SucceededGetScale", "the HPA controller was able to get the target's current scale"}, now);
    set_condition(
        status, "ScalingActive",
        {"False", reason_of_metric(spec["metrics"][0]),
         "the HPA was unable to compute the replica count: trial members scale by minReplicas and maxReplicas, "
         "and not by metrics"},
        now);
    if (status["desiredReplicas"].is_null()) status.set("desiredReplicas", 0);
  }
  changes.update_status(key, *object, std::move(seen));
  return changes.take();
}

void wake_autoscalers(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
  for (const auto& [name, autoscaler] : state.objects(kAutoscalers, change.object.ns)) {
    const Value& named = autoscaler.value["spec"]["scaleTargetRef"];
    const char* type = target_type(named);
    if (type != nullptr && change.object.type == type && named["name"].as_string() == change.object.name) {
      wake.push_back({kAutoscalers, name.ns, name.name});
    }
  }
}

}  // namespace shiplog::member
