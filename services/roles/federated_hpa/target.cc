#include "services/roles/federated_hpa/target.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "events/state/work.h"
#include "services/roles/federated_hpa/metric_source.h"
#include "services/roles/federated_hpa/replicas_field.h"

namespace shiplog::federated_hpa {
namespace {

constexpr const char* kNoTarget = "the HPA controller was unable to get the target reference object: ";
constexpr const char* kNoBinding = "the HPA controller was unable to get the binding by scaleTargetRef: ";
/// On templates whose replicas members choose, as a HorizontalPodAutoscaler there does.
constexpr const char* kRetainReplicas = "resourcetemplate.karmada.io/retain-replicas";
constexpr const char* kNoClusters = "the HPA controller was unable to get the target clusters from binding: ";

bool ready(const State& state, const std::string& name) {
  const Cluster* cluster = state.cluster(name);
  if (cluster == nullptr) return false;
  const Cluster::Condition* condition = cluster->condition("Ready");
  return condition != nullptr && condition->status == "True";
}

std::vector<std::string> ready_clusters(const State& state, const Value& binding) {
  std::vector<std::string> clusters;
  for (const Value& cluster : binding["spec"]["clusters"].items()) {
    if (std::string placed = cluster["name"].str(); ready(state, placed)) clusters.push_back(std::move(placed));
  }
  std::ranges::sort(clusters);
  return clusters;
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
  ScalableTarget target{served->key(ns, name), kind, *served, 0, {}, {}};
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
  target.clusters = ready_clusters(state, binding);
  const Kind* compiled = Kinds::compiled().find_kind(api_version, kind);
  const bool builtin = compiled != nullptr && compiled->builtin;
  const Value& replicas = value_at(object->value, served->replicas);
  if (replicas.is_null() && !builtin) {
    return Unscalable{"FailedGetScale", kNoScale + ("the spec replicas field \"" + served->replicas + "\" of " +
                                                    served->type() + " \"" + name + "\" does not exist")};
  }
  target.replicas = replicas.as_int(1);
  if (builtin) target.selector = selector_parameter(object->value["spec"]["selector"]);
  return target;
}

std::map<std::string, int64_t> most_replicas(const State& state, const ScalableTarget& target, int64_t lately) {
  std::map<std::string, int64_t> most;
  if (label_of(state.value_of(target.key), kRetainReplicas) == "true") return most;
  const Value& binding = state.value_of(binding_key(target.key, target.kind));
  const std::string work = work_name(target.kind, target.key.ns.str(), target.key.name.str());
  for (const Value& cluster : binding["spec"]["clusters"].items()) {
    const std::string name = cluster["name"].str();
    const Value& manifests =
        state.value_of({type::kWork, execution_space(name), work})["spec"]["workload"]["manifests"];
    const int64_t demanded = value_at(manifests[0], target.served.replicas).as_int();
    most[name] = std::max({cluster["replicas"].as_int(), demanded, lately});
  }
  return most;
}

}  // namespace shiplog::federated_hpa
