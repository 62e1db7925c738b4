#include "services/api/search/search_plan.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "events/base/names.h"
#include "events/state/placement.h"

namespace shiplog::api {
namespace {

constexpr std::string_view kComplete = "CompleteAPIEnablements";

/// `wanted`: as Cluster::api_enablements has it.
bool serves(const Cluster& cluster, const std::string& wanted) {
  if (std::ranges::binary_search(cluster.api_enablements, wanted)) return true;
  const Cluster::Condition* complete = cluster.condition(kComplete);
  return complete == nullptr || complete->status != "True";
}

std::string_view ready_of(const Value& cluster) {
  for (const Value& condition : cluster["status"]["conditions"].items()) {
    if (condition["type"].as_string() == "Ready") return condition["status"].as_string();
  }
  return {};
}

bool may_be_cached(const Cluster& cluster) { return !cluster.deleting && cluster.ready(); }

/// What registries select of one kind.
struct SelectedKind {
  const Kind* kind = nullptr;
  std::set<std::string> namespaces;  ///< with "" for all
  /// Of each registry, which clusters, and which of these namespaces there.
  std::vector<std::pair<ClusterAffinity, std::set<std::string>>> of;
};

/// The selectors of one registry, by resource_id().
std::map<std::string, SelectedKind> selectors_of(const Value& spec, const Kinds& kinds) {
  std::map<std::string, SelectedKind> found;
  const ClusterAffinity affinity = cluster_affinity_from(spec["targetCluster"]);
  for (const Value& selector : spec["resourceSelectors"].items()) {
    const Kind* kind = kinds.find_kind(selector["apiVersion"].as_string(), selector["kind"].as_string());
    if (kind == nullptr) continue;
    SelectedKind& selected = found[resource_id(*kind)];
    selected.kind = kind;
    if (selected.of.empty()) selected.of.push_back({affinity, {}});
    const std::string ns = kind->namespaced ? selector["namespace"].str() : std::string{};
    if (!ns.empty() && label_problem(ns)) continue;
    selected.of.front().second.insert(ns);
    selected.namespaces.insert(ns);
  }
  return found;
}

/// How many are left out.
size_t leave_out_too_many(std::set<std::string>& namespaces) {
  const size_t most = kMostNamespaces + (namespaces.contains("") ? 1 : 0);
  const size_t all = namespaces.size();
  while (namespaces.size() > most) namespaces.erase(std::prev(namespaces.end()));
  return all - namespaces.size();
}

std::set<CachedScope> scopes_of(const SelectedKind& selected,
                                const std::vector<std::shared_ptr<const Cluster>>& clusters) {
  std::set<CachedScope> scopes;
  const Kind& kind = *selected.kind;
  const std::string wanted = kind.api_version() + ", Kind=" + kind.kind;
  for (const auto& cluster : clusters) {
    if (!may_be_cached(*cluster) || !serves(*cluster, wanted)) continue;
    for (const auto& [affinity, namespaces] : selected.of) {
      if (!affinity.matches(*cluster)) continue;
      for (const std::string& ns : namespaces) {
        if (!selected.namespaces.contains(ns)) continue;
        scopes.insert({cluster->name, kind.group, kind.version, kind.plural, kind.kind, ns, kind.namespaced});
      }
    }
  }
  return scopes;
}

/// All namespaces of a cluster include each of them.
void leave_out_included(std::set<CachedScope>& scopes) {
  std::set<std::string> whole;
  for (const CachedScope& scope : scopes) {
    if (scope.ns.empty()) whole.insert(scope.cluster);
  }
  std::erase_if(scopes, [&](const CachedScope& scope) { return !scope.ns.empty() && whole.contains(scope.cluster); });
}

}  // namespace

std::string CachedScope::path() const {
  std::string path = group.empty() ? "/api/" + version : "/apis/" + group + "/" + version;
  if (!ns.empty()) path += "/namespaces/" + ns;
  return path + "/" + plural;
}

std::string resource_id(const Kind& kind) { return kind.api_version() + "/" + kind.plural; }
std::string resource_id(const CachedScope& scope) { return scope.api_version() + "/" + scope.plural; }

SearchPlan search_plan(const std::vector<Value>& registries,
                       const std::vector<std::shared_ptr<const Cluster>>& clusters, const Kinds& kinds) {
  std::map<std::string, SelectedKind> selected;
  for (const Value& registry : registries) {
    for (auto& [resource, more] : selectors_of(registry["spec"], kinds)) {
      SelectedKind& all = selected[resource];
      all.kind = more.kind;
      all.namespaces.merge(more.namespaces);
      all.of.push_back(std::move(more.of.front()));
    }
  }
  SearchPlan plan;
  for (auto& [resource, one] : selected) {
    plan.registered.insert(resource);
    if (const size_t left_out = leave_out_too_many(one.namespaces); left_out > 0) plan.left_out[resource] = left_out;
    auto scopes = scopes_of(one, clusters);
    leave_out_included(scopes);
    if (!scopes.empty()) plan.scopes.emplace(resource, std::move(scopes));
  }
  return plan;
}

bool same_for_search(const Value& before, const Value& after) {
  if (before.is_null() != after.is_null()) return false;
  const Value& old_metadata = before["metadata"];
  const Value& metadata = after["metadata"];
  return before["spec"] == after["spec"] && old_metadata["labels"] == metadata["labels"] &&
         old_metadata["deletionTimestamp"] == metadata["deletionTimestamp"] &&
         before["status"]["apiEnablements"] == after["status"]["apiEnablements"] && ready_of(before) == ready_of(after);
}

}  // namespace shiplog::api
