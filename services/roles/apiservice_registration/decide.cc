#include "services/roles/apiservice_registration/decide.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "events/state/definition_status.h"
#include "events/state/object.h"

namespace shiplog::apiservice_registration {
namespace {

/// A group that is registered from a fold version on: recorded decisions of earlier versions are without it.
struct AddedGroup {
  std::string_view name;
  uint32_t fold_version;
};
constexpr AddedGroup kAddedGroups[] = {{"audit.shiplog.io", 8}, {"node.k8s.io", 10}, {"resource.k8s.io", 11}};

bool added_later(std::string_view group, uint32_t fold_version) {
  return std::ranges::any_of(
      kAddedGroups, [&](const AddedGroup& added) { return added.name == group && fold_version < added.fold_version; });
}

constexpr const char* kManagedLabel = "kube-aggregator.kubernetes.io/automanaged";

struct ServedVersion {
  std::string group, version;
  bool builtin = false;
};

/// How kube-aggregator ranks the groups; those of users are last.
struct Rank {
  int group;
  int version;
};
Rank rank_of(const ServedVersion& served) {
  static const std::map<std::string, int, std::less<>> kGroups = {{"", 18000},
                                                                  {"apps", 17800},
                                                                  {"events.k8s.io", 17750},
                                                                  {"authentication.k8s.io", 17700},
                                                                  {"authorization.k8s.io", 17600},
                                                                  {"autoscaling", 17500},
                                                                  {"batch", 17400},
                                                                  {"certificates.k8s.io", 17300},
                                                                  {"networking.k8s.io", 17200},
                                                                  {"policy", 17100},
                                                                  {"rbac.authorization.k8s.io", 17000},
                                                                  {"storage.k8s.io", 16800},
                                                                  {"apiextensions.k8s.io", 16700},
                                                                  {"admissionregistration.k8s.io", 16700},
                                                                  {"scheduling.k8s.io", 16600},
                                                                  {"coordination.k8s.io", 16500},
                                                                  {"node.k8s.io", 16300},
                                                                  {"discovery.k8s.io", 16200},
                                                                  {"flowcontrol.apiserver.k8s.io", 16100},
                                                                  {"resource.k8s.io", 16200}};
  if (!served.builtin) return {1000, 100};
  const auto known = kGroups.find(served.group);
  const int first = served.group == "resource.k8s.io" ? 21 : 15;  // its beta versions are 15 and 9
  return {known == kGroups.end() ? 15000 : known->second, served.version == "v1" ? first : 30};
}

Value api_service(const ServedVersion& served, UtcMillis now) {
  const Rank rank = rank_of(served);
  Value spec = Value::object(
      {{"version", served.version}, {"groupPriorityMinimum", rank.group}, {"versionPriority", rank.version}});
  if (!served.group.empty()) spec.set("group", served.group);
  Value metadata = Value::object({{"name", served.version + "." + served.group},
                                  {"labels", Value::object({{kManagedLabel, served.builtin ? "onstart" : "true"}})}});
  Value available = Value::object({{"type", "Available"},
                                   {"status", "True"},
                                   {"lastTransitionTime", rfc3339(now)},
                                   {"reason", "Local"},
                                   {"message", "Local APIServices are always available"}});
  return Value::object({{"apiVersion", "apiregistration.k8s.io/v1"},
                        {"kind", "APIService"},
                        {"metadata", std::move(metadata)},
                        {"spec", std::move(spec)},
                        {"status", Value::object({{"conditions", Value::array({std::move(available)})}})}});
}

/// By the name of the APIService: "v1.apps", "v1.".
std::map<std::string, ServedVersion> served_versions(const State& state, const Kinds& compiled) {
  std::map<std::string, ServedVersion> served;
  for (const auto& kind : compiled.all()) {
    if (added_later(kind->group, state.fold_version())) continue;
    served.try_emplace(kind->version + "." + kind->group, ServedVersion{kind->group, kind->version, kind->builtin});
  }
  for (const auto& [name, definition] : state.objects(type::kCustomResourceDefinition)) {
    if (!serves_kinds(definition.value)) continue;
    const std::string group = definition.value["spec"]["group"].str();
    for (const Value& version : definition.value["spec"]["versions"].items()) {
      if (!version["served"].as_bool()) continue;
      const std::string version_name = version["name"].str();
      served.try_emplace(version_name + "." + group, ServedVersion{group, version_name, false});
    }
  }
  return served;
}

}  // namespace

Decided decide(const State& state, UtcMillis now, const Kinds& compiled) {
  const auto served = served_versions(state, compiled);
  DecisionBuilder decision;
  for (const auto& [name, version] : served) {
    const ObjectKey key{kApiServices, "", name};
    if (state.find(key) != nullptr) continue;
    if (!decision.try_add(ObjectCreated{key, api_service(version, now)}, {key, Revision{}})) break;
  }
  for (const auto& [name, object] : state.objects(kApiServices)) {
    if (served.contains(name.name.str()) || label_of(object.value, kManagedLabel) != "true") continue;
    const ObjectKey key{kApiServices, "", name.name};
    if (!decision.try_add(DeletionRequested{key, 0, "Background"}, {key, object.revision})) break;
  }
  return std::move(decision).build_and_look_again(now);
}

}  // namespace shiplog::apiservice_registration
