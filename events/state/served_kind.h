#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "events/base/api_version.h"
#include "events/base/ids.h"
#include "events/base/path_segment.h"
#include "events/kinds/kinds.h"
#include "events/state/definition_status.h"
#include "events/state/state.h"

namespace shiplog {

/// What a kind's URLs and ObjectKeys are made of. Users of this header link shiplog_kinds.
struct Served {
  std::string group, version, plural;
  bool namespaced = true;
  std::string replicas = {};  ///< JSON path, ".spec.replicas"; empty: the kind has no scale subresource

  std::string type() const { return group.empty() ? plural : plural + "." + group; }
  /// "/apis/apps/v1/namespaces/default/deployments"; an empty `ns` means all namespaces.
  std::string collection(std::string_view ns) const {
    std::string path = group.empty() ? "/api/" + version : "/apis/" + group + "/" + version;
    if (namespaced && !ns.empty()) path.append("/namespaces/").append(ns);
    return path + "/" + plural;
  }
  std::string path(std::string_view ns, std::string_view name) const {
    return collection(ns) + "/" + path_segment(name);
  }
  ObjectKey key(std::string_view ns, std::string_view name) const {
    return {type(), namespaced ? std::string{ns} : std::string{}, std::string{name}};
  }
};

/// Whether a definition has this kind. Before fold version 10 also one whose names others have.
inline bool defines_kind(const State& state, const Value& definition, std::string_view kind) {
  if (state.fold_version() < 10) return definition["spec"]["names"]["kind"].as_string() == kind;
  return serves_kinds(definition) && accepted_names(definition)["kind"].as_string() == kind;
}

/// How "apps/v1", "Deployment" is served: compiled in, or by a CustomResourceDefinition of this state.
inline std::optional<Served> served_kind(const State& state, std::string_view api_version, std::string_view kind) {
  if (const Kind* known = Kinds::compiled().find_kind(api_version, kind)) {
    return Served{known->group, known->version, known->plural, known->namespaced,
                  known->scale ? known->scale->spec_replicas : ""};
  }
  const auto [group, version] = split_api_version(api_version);
  if (group.empty()) return std::nullopt;
  for (const auto& [name, crd] : state.objects(type::kCustomResourceDefinition)) {
    const Value& spec = crd.value["spec"];
    if (spec["group"].as_string() != group || !defines_kind(state, crd.value, kind)) continue;
    for (const Value& entry : spec["versions"].items()) {
      if (entry["name"].as_string() != version || !entry["served"].as_bool()) continue;
      return Served{std::string{group}, std::string{version}, spec["names"]["plural"].str(),
                    spec["scope"].as_string() == "Namespaced",
                    entry["subresources"]["scale"]["specReplicasPath"].str()};
    }
  }
  return std::nullopt;
}

}  // namespace shiplog
