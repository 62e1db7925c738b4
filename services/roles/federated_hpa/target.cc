#include "services/roles/federated_hpa/target.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "events/state/work.h"

namespace shiplog::federated_hpa {
namespace {

constexpr const char* kNoScale = "the HPA controller was unable to get the target's current scale: ";
constexpr const char* kNoTarget = "the HPA controller was unable to get the target reference object: ";
constexpr const char* kNoBinding = "the HPA controller was unable to get the binding by scaleTargetRef: ";
constexpr const char* kNoClusters = "the HPA controller was unable to get the target clusters from binding: ";

/// "spec" of ".spec.replicas", which is cut off.
std::string next_of(std::string_view& json_path) {
  json_path.remove_prefix(1);
  const size_t end = std::min(json_path.find('.'), json_path.size());
  std::string name{json_path.substr(0, end)};
  json_path.remove_prefix(end);
  return name;
}

const Value& value_at(const Value& object, std::string_view json_path) {
  const Value* at = &object;
  while (!json_path.empty()) at = &(*at)[next_of(json_path)];
  return *at;
}

bool ready(const State& state, const std::string& name) {
  const Cluster* cluster = state.cluster(name);
  if (cluster == nullptr) return false;
  const Cluster::Condition* condition = cluster->condition("Ready");
  return condition != nullptr && condition->status == "True";
}

}  // namespace

std::variant<ScalableTarget, Unscalable> find_target(const State& state, const Value& autoscaler) {
  const Value& named = autoscaler["spec"]["scaleTargetRef"];
  const std::string api_version = named["apiVersion"].str(), kind = named["kind"].str(), name = named["name"].str();
  const std::string ns = autoscaler["metadata"]["namespace"].str();
  const auto served = served_kind(state, api_version, kind);
  if (!served) {
    return Unscalable{"FailedGetScaleTargetRef",
                      kNoTarget + ("no matches for kind \"" + kind + "\" in version \"" + api_version + "\"")};
  }
  if (!served->namespaced || served->replicas.empty()) {
    return Unscalable{"FailedGetScale",
                      kNoScale + served->type() + " cannot be scaled: the kind has no scale subresource"};
  }
  ScalableTarget target{served->key(ns, name), *served, 0, {}};
  const Object* object = state.find(target.key);
  if (object == nullptr || deleting(object->value)) {
    return Unscalable{"FailedGetScaleTargetRef", kNoTarget + served->type() + " \"" + name +
                                                     (object == nullptr ? "\" not found" : "\" is being deleted")};
  }
  const Value& metadata = object->value["metadata"];
  if (label_of(object->value, label::kPolicyId).empty() && label_of(object->value, label::kClusterPolicyId).empty()) {
    return Unscalable{"FailedGetBinding", std::string{kNoBinding} + "No label of policy found. "};
  }
  const Value& binding = state.value_of(binding_key(target.key, kind));
  if (binding.is_null() || binding["spec"]["resource"]["uid"] != metadata["uid"]) {
    return Unscalable{"FailedGetBinding", std::string{kNoBinding} + "No binding matches the target resource. "};
  }
  if (binding["spec"]["clusters"].size() == 0) {
    return Unscalable{"FailedGetTargetClusters", std::string{kNoClusters} + "Binding has no schedulable clusters. "};
  }
  for (const Value& cluster : binding["spec"]["clusters"].items()) {
    if (std::string placed = cluster["name"].str(); ready(state, placed)) target.clusters.push_back(std::move(placed));
  }
  std::ranges::sort(target.clusters);
  target.replicas = value_at(object->value, served->replicas).as_int();
  return target;
}

Value with_replicas(const Value& object, const Served& served, int64_t replicas) {
  Value scaled = object;
  Value* at = &scaled;
  for (std::string_view path = served.replicas; !path.empty();) at = &at->edit(next_of(path));
  *at = replicas;
  return scaled;
}

}  // namespace shiplog::federated_hpa
