#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/roles/scheduler/demand.h"

namespace shiplog::scheduler {

/// What would have let a placement take in a cluster that it left out.
struct Remedy {
  std::vector<std::string> changes;  ///< as text; all of them together
  /// Placing again with the changes gives the cluster the object. False: it passes every filter then, but is still not
  /// selected, and nothing that is tried here alters that.
  bool chosen = false;
};

/// The fewest changes known here: first what lifts each rejection of `cluster` (one by one what its rules require),
/// then, if that does not do, one more of: a wider spread constraint, a weight, free room, more replicas, a fresh
/// placement. Proposals have been tried by placing again. nullopt: the cluster is chosen as it is, is terminating, or
/// does not exist. `fresh`: the placement was requested explicitly. Pure.
std::optional<Remedy> remedy_for(const Binding& binding, const Placement& placement, const Clusters& clusters,
                                 const std::string& cluster, bool fresh, const PlacementContext& context = {});

}  // namespace shiplog::scheduler
