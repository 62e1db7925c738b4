#include "services/roles/service_clusters.h"

#include <algorithm>
#include <span>

#include "events/state/cluster.h"

namespace shiplog {
namespace {

constexpr const char* kSliceEnablement = "discovery.k8s.io/v1, Kind=EndpointSlice";
constexpr size_t kMostLeftOut = 30;

std::span<const Value> named(const Value& list) {
  return list.items().first(std::min(list.size(), kMostNamedClusters));
}

}  // namespace

std::set<std::string> named_clusters(const State& state, const Value& list) {
  std::set<std::string> names;
  for (const Value& each : named(list)) names.insert(each["name"].str());
  if (!names.empty()) return names;
  for (const auto& [name, cluster] : state.clusters()) names.insert(name);
  return names;
}

bool names_cluster(const Value& list, std::string_view cluster) {
  if (list.size() == 0) return true;
  return std::ranges::any_of(named(list), [&](const Value& each) { return each["name"].as_string() == cluster; });
}

bool takes_slices(const Cluster& cluster) {
  const auto& enabled = cluster.api_enablements;
  return cluster.ready() && std::binary_search(enabled.begin(), enabled.end(), kSliceEnablement);
}

std::vector<LeftOut> left_out(const State& state, const Value& service) {
  std::vector<LeftOut> missing;
  const auto look = [&](const char* role, const char* list, const char* what) {
    const size_t most = missing.size() + kMostLeftOut;
    for (const std::string& name : named_clusters(state, service["spec"][list])) {
      if (missing.size() == most) break;
      const Cluster* cluster = state.cluster(name);
      const std::string named = std::string{role} + " cluster " + name;
      if (cluster == nullptr) {
        missing.push_back({name, "ClusterNotFound", named + " is not found"});
      } else if (!cluster->ready()) {
        missing.push_back({name, "SyncServiceFailed", named + " is not ready, skip to propagate " + what});
      } else if (!takes_slices(*cluster)) {
        missing.push_back({name, "APIIncompatible", named + " does not support EndpointSlice"});
      }
    }
  };
  look("Provider", "providerClusters", "MultiClusterService");
  look("Consumer", "consumerClusters", "EndpointSlice");
  std::ranges::sort(missing, {}, &LeftOut::message);
  return missing;
}

}  // namespace shiplog
