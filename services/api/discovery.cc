#include "services/api/discovery.h"

#include <algorithm>
#include <map>
#include <vector>

#include "events/base/base64.h"
#include "events/proof/sha256.h"
#include "services/api/aggregation/remote_discovery.h"
#include "services/api/computed_kinds.h"
#include "services/api/kind_registry.h"
#include "services/api/kubernetes_version.h"
#include "services/api/pod_subresources.h"

namespace shiplog::api {
namespace {

using KindPtr = std::shared_ptr<const Kind>;

struct Version {
  std::string name;
  const AggregatedVersion* remote = nullptr;  // nullptr: it is served here
};

struct Group {
  std::string name;
  bool builtin = false;
  std::vector<Version> versions;  // preferred first
};

// Where there is no APIService: what those of kinds that are served here have by default.
constexpr int64_t kBuiltinGroupPriority = 15000;
constexpr int64_t kDefinedGroupPriority = 1000;
constexpr int64_t kBuiltinVersionPriority = 15;
constexpr int64_t kDefinedVersionPriority = 100;

int64_t priority_in(const std::map<std::string, int64_t, std::less<>>& priorities, const std::string& name,
                    int64_t fallback) {
  const auto found = priorities.find(name);
  return found == priorities.end() ? fallback : found->second;
}

/// Groups and versions of other servers, among those that are served here: these keep their order.
void add_remote(std::vector<Group>& groups, const AggregatedVersions& remote) {
  const auto group_priority = [&](const Group& group) {
    if (group.versions.front().remote != nullptr) return group.versions.front().remote->api.group_priority;
    return priority_in(remote.local_group_priorities, group.name,
                       group.builtin ? kBuiltinGroupPriority : kDefinedGroupPriority);
  };
  for (const AggregatedVersion& each : remote.versions) {
    const auto known = std::ranges::find(groups, each.api.group, &Group::name);
    if (known == groups.end()) {
      const auto before = std::ranges::find_if(groups, [&](const Group& group) {
        return !group.name.empty() && group_priority(group) < each.api.group_priority;
      });
      groups.insert(before, Group{each.api.group, false, {{each.api.version, &each}}});
      continue;
    }
    const auto before = std::ranges::find_if(known->versions, [&](const Version& version) {
      const int64_t priority = version.remote != nullptr
                                   ? version.remote->api.version_priority
                                   : priority_in(remote.local_version_priorities, version.name + "." + known->name,
                                                 known->builtin ? kBuiltinVersionPriority : kDefinedVersionPriority);
      return priority < each.api.version_priority;
    });
    known->versions.insert(before, Version{each.api.version, &each});
  }
}

/// Core first, then built-in groups, then those of CustomResourceDefinitions: clients resolve ambiguous names in this
/// order (DISC-2).
std::vector<Group> groups_of(const Kinds& kinds, const AggregatedVersions* remote) {
  std::vector<Group> groups;
  for (const KindPtr& kind : kinds.all()) {
    auto found = std::ranges::find(groups, kind->group, &Group::name);
    if (found == groups.end()) found = groups.insert(groups.end(), Group{kind->group, kind->builtin, {}});
    if (std::ranges::find(found->versions, kind->version, &Version::name) == found->versions.end())
      found->versions.push_back({kind->version});
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    if (a.name.empty() != b.name.empty()) return a.name.empty();
    return a.builtin && !b.builtin;
  });
  if (remote != nullptr) add_remote(groups, *remote);
  return groups;
}

std::string group_version(std::string_view group, std::string_view version) {
  return group.empty() ? std::string{version} : std::string{group} + "/" + std::string{version};
}

Value text_array(const std::vector<std::string>& texts) {
  Value::Array items;
  for (const std::string& text : texts) items.emplace_back(text);
  return Value::array(std::move(items));
}

Value group_element(const Group& group) {
  Value element = Value::object({{"name", group.name}});
  Value::Array versions;
  for (const Version& version : group.versions) {
    versions.push_back(
        Value::object({{"groupVersion", group_version(group.name, version.name)}, {"version", version.name}}));
  }
  element.set("preferredVersion", versions.front());
  element.set("versions", Value::array(std::move(versions)));
  return element;
}

/// By which clients that migrate stored objects see that they are stored in another version.
std::string storage_version_hash(const Kinds& kinds, const Kind& kind) {
  const Kind* stored =
      is_review(kind) || is_metrics(kind) || is_component_status(kind) ? nullptr : kinds.find_type(kind.type());
  if (stored == nullptr) return "";
  constexpr size_t kBytes = 8;
  const proof::Digest digest = proof::sha256({stored->group, "/", stored->version, "/", stored->kind});
  return base64_encode(proof::bytes_of(digest).substr(0, kBytes));
}

Value response_kind(const std::string& group, const std::string& version, const std::string& kind) {
  return Value::object({{"group", group}, {"version", version}, {"kind", kind}});
}

/// A kind in aggregated discovery.
Value resource_here(const Kind& kind, bool pod_actions) {
  Value resource = Value::object({{"resource", kind.plural},
                                  {"responseKind", response_kind(kind.group, kind.version, kind.kind)},
                                  {"scope", kind.namespaced ? "Namespaced" : "Cluster"},
                                  {"singularResource", kind.singular},
                                  {"verbs", verbs_of(kind)}});
  if (!kind.short_names.empty()) resource.set("shortNames", text_array(kind.short_names));
  if (!kind.categories.empty()) resource.set("categories", text_array(kind.categories));
  Value::Array subs;
  for (const Subresource& sub : subresources_of(kind, pod_actions)) {
    subs.push_back(Value::object({{"subresource", sub.name},
                                  {"responseKind", response_kind(sub.group, sub.version, sub.kind)},
                                  {"verbs", sub.verbs}}));
  }
  if (!subs.empty()) resource.set("subresources", Value::array(std::move(subs)));
  return resource;
}

struct ConnectOnly {
  const char* resource;
  const char* kind;
};
/// What requests are passed through besides the kinds of a group: no verb is stored (6.1.1).
constexpr ConnectOnly kSearching[] = {{"proxying", "Proxying"}, {"search", "Search"}};

bool has_searching(const Kind& kind) { return kind.type() == "resourceregistries.search.karmada.io"; }

Value version_here(const Kinds& kinds, const std::string& group, const std::string& version, bool pod_actions) {
  Value::Array resources;
  for (const KindPtr& kind : kinds.all()) {
    if (kind->group != group || kind->version != version) continue;
    resources.push_back(resource_here(*kind, pod_actions));
    if (!has_searching(*kind)) continue;
    for (const ConnectOnly& each : kSearching) {
      resources.push_back(Value::object({{"resource", each.resource},
                                         {"responseKind", response_kind(group, version, each.kind)},
                                         {"scope", "Cluster"},
                                         {"singularResource", each.resource},
                                         {"verbs", Value::array()}}));
    }
  }
  if (group.empty()) {
    resources.push_back(Value::object({{"resource", "bindings"},
                                       {"responseKind", response_kind("", "v1", "Binding")},
                                       {"scope", "Namespaced"},
                                       {"singularResource", "binding"},
                                       {"verbs", Value::array({"create"})}}));
  }
  return Value::object(
      {{"version", version}, {"freshness", "Current"}, {"resources", Value::array(std::move(resources))}});
}

Value version_elsewhere(const AggregatedVersion& remote) {
  const Value known = remote.resources == nullptr ? Value::array() : *remote.resources;
  return Value::object({{"version", remote.api.version},
                        {"freshness", remote.available() ? "Current" : "Stale"},
                        {"resources", aggregated_resources(known, remote.api.group, remote.api.version)}});
}

}  // namespace

std::vector<Subresource> subresources_of(const Kind& kind, bool pod_actions) {
  const Value changed = Value::array({"get", "patch", "update"});
  const Value posted = Value::array({"create"});
  std::vector<Subresource> found;
  if (kind.has_status) found.push_back({"status", kind.group, kind.version, kind.kind, changed});
  if (kind.scale) found.push_back({"scale", "autoscaling", "v1", "Scale", changed});
  if (kind.type() == "serviceaccounts") {
    found.push_back({"token", "authentication.k8s.io", "v1", "TokenRequest", posted});
  }
  if (kind.type() == "pods") {
    found.push_back({"binding", "", "v1", "Binding", posted});
    found.push_back({std::string{kEphemeralContainers}, "", "v1", "Pod", changed});
    found.push_back({"eviction", "policy", "v1", "Eviction", posted});
    found.push_back({std::string{kPodResize}, "", "v1", "Pod", changed});
    if (pod_actions) {
      const Value begun = Value::array({"create", "get"});
      found.push_back({"attach", "", "v1", "PodAttachOptions", begun});
      found.push_back({"exec", "", "v1", "PodExecOptions", begun});
      found.push_back({"log", "", "v1", "Pod", Value::array({"get"})});
      found.push_back({"portforward", "", "v1", "PodPortForwardOptions", begun});
    }
  }
  if (kind.type() == "certificatesigningrequests.certificates.k8s.io") {
    found.push_back({"approval", kind.group, kind.version, kind.kind, changed});
  }
  if (kind.type() == "namespaces") {
    found.push_back({"finalize", "", "v1", "Namespace", Value::array({"update"})});
  }
  return found;
}

Value verbs_of(const Kind& kind) {
  if (is_review(kind)) return Value::array({"create"});
  if (is_metrics(kind) || is_component_status(kind)) return Value::array({"get", "list"});
  Value verbs = Value::array({"create", "delete"});
  if (can_delete_collection(kind)) verbs.push_back("deletecollection");
  for (const char* verb : {"get", "list", "patch", "update", "watch"}) verbs.push_back(verb);
  return verbs;
}

Value api_versions(const std::string& server_address) {
  return Value::object(
      {{"kind", "APIVersions"},
       {"versions", Value::array({"v1"})},
       {"serverAddressByClientCIDRs",
        Value::array({Value::object({{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", server_address}})})}});
}

Value root_paths(const Kinds& kinds, const AggregatedVersions* remote) {
  std::vector<std::string> paths = {"/.well-known/openid-configuration",
                                    "/api",
                                    "/api/v1",
                                    "/apis",
                                    "/feeds",
                                    "/healthz",
                                    "/livez",
                                    "/metrics",
                                    "/openapi/v2",
                                    "/openapi/v3",
                                    "/openid/v1/jwks",
                                    "/readyz",
                                    "/shiplog/v1",
                                    "/version"};
  for (const Group& group : groups_of(kinds, remote)) {
    if (group.name.empty()) continue;
    paths.push_back("/apis/" + group.name);
    for (const Version& version : group.versions) paths.push_back("/apis/" + group_version(group.name, version.name));
  }
  std::ranges::sort(paths);
  return Value::object({{"paths", text_array(paths)}});
}

Value group_list(const Kinds& kinds, const AggregatedVersions* remote) {
  Value::Array groups;
  for (const Group& group : groups_of(kinds, remote)) {
    if (!group.name.empty()) groups.push_back(group_element(group));
  }
  return Value::object({{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", Value::array(std::move(groups))}});
}

Value group(const Kinds& kinds, std::string_view name, const AggregatedVersions* remote) {
  for (const Group& group : groups_of(kinds, remote)) {
    if (group.name != name || name.empty()) continue;
    Value element = group_element(group);
    element.set("kind", "APIGroup");
    element.set("apiVersion", "v1");
    return element;
  }
  return {};
}

Value resource_list(const Kinds& kinds, std::string_view group, std::string_view version, bool pod_actions) {
  Value::Array resources;
  for (const KindPtr& kind : kinds.all()) {
    if (kind->group != group || kind->version != version) continue;
    Value resource = Value::object({{"name", kind->plural},
                                    {"singularName", kind->singular},
                                    {"namespaced", kind->namespaced},
                                    {"kind", kind->kind},
                                    {"verbs", verbs_of(*kind)}});
    if (!kind->short_names.empty()) resource.set("shortNames", text_array(kind->short_names));
    if (!kind->categories.empty()) resource.set("categories", text_array(kind->categories));
    if (std::string hash = storage_version_hash(kinds, *kind); !hash.empty()) {
      resource.set("storageVersionHash", std::move(hash));
    }
    resources.push_back(std::move(resource));
    for (const Subresource& sub : subresources_of(*kind, pod_actions)) {
      Value element = Value::object({{"name", kind->plural + "/" + sub.name},
                                     {"singularName", ""},
                                     {"namespaced", kind->namespaced},
                                     {"kind", sub.kind},
                                     {"verbs", sub.verbs}});
      if (sub.group != kind->group || sub.version != kind->version) {
        element.set("group", sub.group);
        element.set("version", sub.version);
      }
      resources.push_back(std::move(element));
    }
    if (!has_searching(*kind)) continue;
    for (const ConnectOnly& each : kSearching) {
      resources.push_back(Value::object({{"name", each.resource},
                                         {"singularName", each.resource},
                                         {"namespaced", false},
                                         {"kind", each.kind},
                                         {"verbs", Value::array()}}));
    }
  }
  if (resources.empty()) return {};
  if (group.empty()) {  // no kind that is stored: POST it to bind a pod
    resources.push_back(Value::object({{"name", "bindings"},
                                       {"singularName", "binding"},
                                       {"namespaced", true},
                                       {"kind", "Binding"},
                                       {"verbs", Value::array({"create"})}}));
  }
  return Value::object({{"kind", "APIResourceList"},
                        {"apiVersion", "v1"},
                        {"groupVersion", group_version(group, version)},
                        {"resources", Value::array(std::move(resources))}});
}

Value aggregated(const Kinds& kinds, bool core, std::string_view version, const AggregatedVersions* remote,
                 bool pod_actions) {
  Value::Array items;
  for (const Group& group : groups_of(kinds, remote)) {
    if (group.name.empty() != core) continue;
    Value::Array versions;
    for (const Version& each : group.versions) {
      versions.push_back(each.remote == nullptr ? version_here(kinds, group.name, each.name, pod_actions)
                                                : version_elsewhere(*each.remote));
    }
    Value item = Value::object({{"versions", Value::array(std::move(versions))}});
    item.set("metadata", core ? Value::object() : Value::object({{"name", group.name}}));
    items.push_back(std::move(item));
  }
  return Value::object({{"kind", "APIGroupDiscoveryList"},
                        {"apiVersion", "apidiscovery.k8s.io/" + std::string{version}},
                        {"metadata", Value::object()},
                        {"items", Value::array(std::move(items))}});
}

std::optional<std::string> aggregated_version(std::string_view accept) {
  // The first clause that can be served counts: a client that prefers the plain form gets it.
  while (!accept.empty()) {
    const size_t end = std::min(accept.find(','), accept.size());
    const std::string_view clause = accept.substr(0, end);
    accept.remove_prefix(std::min(end + 1, accept.size()));
    if (clause.find("as=") == std::string_view::npos) return std::nullopt;
    if (clause.find("as=APIGroupDiscoveryList") == std::string_view::npos) continue;
    for (const char* version : {"v2beta1", "v2"}) {
      const size_t position = clause.find(std::string{"v="} + version);
      if (position == std::string_view::npos) continue;
      const size_t behind = position + 2 + std::string_view{version}.size();
      if (behind == clause.size() || clause[behind] == ';' || clause[behind] == ' ') return version;
    }
  }
  return std::nullopt;
}

Value version_info(const std::string& shiplog_version) {
  return Value::object({{"major", "1"},
                        {"minor", kKubernetesMinor},
                        {"emulationMajor", "1"},
                        {"emulationMinor", kKubernetesMinor},
                        {"minCompatibilityMajor", "1"},
                        {"minCompatibilityMinor", "35"},
                        {"gitVersion", std::string{kKubernetesVersion} + "-" + shiplog_version},
                        {"gitCommit", ""},
                        {"gitTreeState", "clean"},
                        {"buildDate", "1970-01-01T00:00:00Z"},
                        {"goVersion", "none"},
                        {"compiler", "g++"},
                        {"platform", "linux/amd64"}});
}

}  // namespace shiplog::api
