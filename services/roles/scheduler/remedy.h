#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/roles/scheduler/demand.h"

namespace shiplog::scheduler {

/// What would have let a placement take in a cluster that it left out.
struct Remedy {
  std::vector<std::string> changes;  ///< in words; all of them together
  /// Placing again with the changes gives the cluster the object. False: it passes every filter then, but is still not
  /// taken, and nothing that is tried here alters that.
  bool chosen = false;
};

/// The fewest changes known here: first what lifts each rejection of `cluster` (one by one what its rules ask for),
/// then, if that does not do, one more of: a wider spread constraint, a weight, free room, more replicas, a fresh
/// placement. What is proposed has been tried by placing again. nullopt: the cluster is chosen as it is, is leaving, or
/// not there. `fresh`: the placement was asked for explicitly. Pure.
std::optional<Remedy> remedy_for(const Binding& binding, const Placement& placement, const Clusters& clusters,
                                 const std::string& cluster, bool fresh, const Surroundings& around = {});

}  // namespace shiplog::scheduler
