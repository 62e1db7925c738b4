#pragma once

#include <string_view>
#include <vector>

#include "events/explanation.h"
#include "events/scheduling.h"
#include "services/roles/scheduler/demand.h"
#include "services/roles/webster.h"

namespace shiplog::scheduler {

/// Gives the selected clusters their replicas (S-43 to S-61), by the placement's strategy. Sorted by cluster; clusters
/// that get none are left out, but for objects without replicas, which go to every cluster.
/// PlacementFailure: AssignmentFailed; kCapacity, the clusters do not have the room.
Placed<std::vector<Target>> assign(const std::vector<Candidate>& selected, const Demand& demand, Explanation& why);

/// Of all targets together.
int64_t total_replicas(const std::vector<Target>& targets);

/// One cluster, as the dividing strategies see it, in the order of selection.
struct Share {
  std::string_view cluster;
  int64_t allocatable = 0;
  int64_t previous = 0;
  uint32_t line = 0;  ///< its place in Explanation::clusters
};

/// The step for replicas that were divided by these weights.
Divided divided(Division division, Scaling scaling, int64_t replicas, const std::vector<Weight>& weights,
                const std::vector<Seats>& assigned);
/// Those who get replicas.
std::vector<Target> targets_of(const std::vector<Seats>& assigned);

/// By fixed weights; neither capacity nor the past counts (S-50). Without clusters that get no replicas.
std::vector<Target> assign_static(const std::vector<Candidate>& selected, const Demand& demand, Explanation& why);

/// By available replicas, over all clusters or (aggregated) over as few as will do (S-51 to S-57). Without clusters
/// that get no replicas.
Placed<std::vector<Target>> assign_dynamic(int64_t replicas, const std::vector<Share>& shares, const Demand& demand,
                                           Explanation& why);

}  // namespace shiplog::scheduler
