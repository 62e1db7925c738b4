#pragma once

#include <set>
#include <string>
#include <vector>

#include "events/state/state.h"

// The clusters of a MultiClusterService.

namespace shiplog {

/// The clusters that one of its lists names; all, if that is empty (5.7.1).
std::set<std::string> named_clusters(const State& state, const Value& list);

/// The cluster is ready and serves EndpointSlices.
bool takes_slices(const Cluster& cluster);

/// A cluster that a MultiClusterService names and whose endpoints are neither collected nor sent at present, with the
/// reason of its Event.
struct LeftOut {
  std::string cluster;
  const char* reason;
  std::string message;
};
/// Of its providers and consumers, sorted by message (5.7.8).
std::vector<LeftOut> left_out(const State& state, const Value& service);

}  // namespace shiplog
