#include "services/roles/cron_scaler/execution.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "events/state/served_kind.h"

namespace shiplog::cron_scaler {
namespace {

constexpr const char* kAutoscalingVersion = "autoscaling.karmada.io/v1alpha1";
constexpr const char* kFederatedHpa = "federatedhpas.autoscaling.karmada.io";

Error failure(ErrorCode code, std::string message) { return {code, std::move(message)}; }

/// The field at ".spec.replicas".
Value& field_at(Value& object, std::string_view json_path) {
  Value* at = &object;
  while (!json_path.empty()) {
    json_path.remove_prefix(1);
    const size_t end = std::min(json_path.find('.'), json_path.size());
    at = &at->edit(std::string{json_path.substr(0, end)});
    json_path.remove_prefix(end);
  }
  return *at;
}

}  // namespace

Result<ScaleTarget> find_target(const State& state, const Value& autoscaler) {
  const Value& named = autoscaler["spec"]["scaleTargetRef"];
  const std::string api_version = named["apiVersion"].str(), kind = named["kind"].str();
  const std::string ns = autoscaler["metadata"]["namespace"].str();
  if (api_version == kAutoscalingVersion && kind != "FederatedHPA") {
    return failure(ErrorCode::kInvalid, "CronFederatedHPA(" + ns + "/" + autoscaler["metadata"]["name"].str() +
                                            ") do not support scale target " + api_version + "/" + kind);
  }
  const auto served = served_kind(state, api_version, kind);
  if (!served) {
    return failure(ErrorCode::kNotFound, "no matches for kind \"" + kind + "\" in version \"" + api_version + "\"");
  }
  const std::string type = served->type();
  const bool is_autoscaler = type == kFederatedHpa;
  if (!served->namespaced || (served->replicas.empty() && !is_autoscaler)) {
    return failure(ErrorCode::kInvalid, type + " cannot be scaled: the kind has no scale subresource");
  }
  ObjectKey key = served->key(ns, named["name"].as_string());
  const Object* object = state.find(key);
  if (object == nullptr) {
    return failure(ErrorCode::kNotFound, type + " \"" + named["name"].str() + "\" not found");
  }
  return ScaleTarget{std::move(key), object->value, is_autoscaler ? "" : served->replicas};
}

Result<void> carry_out(const Value& rule, ScaleTarget& target) {
  if (!target.replicas.empty()) {
    const Value& wanted = rule["targetReplicas"];
    if (!wanted.is_int()) return failure(ErrorCode::kInvalid, "the rule has no targetReplicas");
    Value scaled = target.value;
    field_at(scaled, target.replicas) = wanted;
    target.value = std::move(scaled);
    return ok();
  }
  const Value& least = rule["targetMinReplicas"];
  const Value& most = rule["targetMaxReplicas"];
  const Value& spec = target.value["spec"];
  const int64_t min = least.is_int() ? least.as_int() : spec["minReplicas"].as_int(1);
  const int64_t max = most.is_int() ? most.as_int() : spec["maxReplicas"].as_int();
  if (min > max) {
    return failure(ErrorCode::kInvalid, target.key.type.str() + " \"" + target.key.name.str() +
                                            "\" would be invalid: minReplicas " + std::to_string(min) +
                                            " is above maxReplicas " + std::to_string(max));
  }
  if (least.is_int()) target.value.edit("spec").set("minReplicas", least);
  if (most.is_int()) target.value.edit("spec").set("maxReplicas", most);
  return ok();
}

}  // namespace shiplog::cron_scaler
