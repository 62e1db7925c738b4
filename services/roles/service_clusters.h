#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "events/state/state.h"

// The clusters of a MultiClusterService.

namespace shiplog {

/// Of a list: admission accepts no more names, and no more are read.
inline constexpr size_t kMostNamedClusters = 1000;

/// The clusters that one of its lists names, whether there are such clusters or not; all, if it is empty (5.7.1).
std::set<std::string> named_clusters(const State& state, const Value& list);
/// That cluster is one of them.
bool names_cluster(const Value& list, std::string_view cluster);

/// The cluster is ready and serves EndpointSlices.
bool takes_slices(const Cluster& cluster);

/// A cluster that a MultiClusterService names and whose endpoints are neither collected nor sent at present, with the
/// reason of its Event.
struct LeftOut {
  std::string cluster;
  const char* reason;
  std::string message;
};
/// Of its providers and consumers, sorted by message (5.7.8): the first few dozen of each.
std::vector<LeftOut> left_out(const State& state, const Value& service);

}  // namespace shiplog
