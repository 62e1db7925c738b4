#include "services/api/search/search_plan.h"

#include <algorithm>
#include <string_view>

#include "events/state/placement.h"

namespace shiplog::api {
namespace {

constexpr std::string_view kComplete = "CompleteAPIEnablements";

bool serves(const Cluster& cluster, const Kind& kind) {
  const std::string wanted = kind.api_version() + ", Kind=" + kind.kind;
  if (std::ranges::find(cluster.api_enablements, wanted) != cluster.api_enablements.end()) return true;
  const Cluster::Condition* complete = cluster.condition(kComplete);
  return complete == nullptr || complete->status != "True";
}

std::string_view ready_of(const Value& cluster) {
  for (const Value& condition : cluster["status"]["conditions"].items()) {
    if (condition["type"].as_string() == "Ready") return condition["status"].as_string();
  }
  return {};
}

/// One registry's clusters for the kind.
void select(const ClusterAffinity& affinity, const std::vector<Cluster>& clusters, const Kind& kind,
            const std::string& ns, std::set<CachedScope>& into) {
  for (const Cluster& cluster : clusters) {
    if (cluster.deleting || !cluster.ready() || !affinity.matches(cluster) || !serves(cluster, kind)) continue;
    into.insert({cluster.name, kind.group, kind.version, kind.plural, kind.kind, ns, kind.namespaced});
  }
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

SearchPlan search_plan(const std::vector<Value>& registries, const std::vector<Cluster>& clusters, const Kinds& kinds) {
  SearchPlan plan;
  for (const Value& registry : registries) {
    const Value& spec = registry["spec"];
    const ClusterAffinity affinity = cluster_affinity_from(spec["targetCluster"]);
    for (const Value& selector : spec["resourceSelectors"].items()) {
      const Kind* kind = kinds.find_kind(selector["apiVersion"].as_string(), selector["kind"].as_string());
      if (kind == nullptr) continue;
      plan.registered.insert(resource_id(*kind));
      const std::string ns = kind->namespaced ? selector["namespace"].str() : std::string{};
      select(affinity, clusters, *kind, ns, plan.scopes[resource_id(*kind)]);
    }
  }
  for (auto& [resource, scopes] : plan.scopes) leave_out_included(scopes);
  std::erase_if(plan.scopes, [](const auto& each) { return each.second.empty(); });
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
