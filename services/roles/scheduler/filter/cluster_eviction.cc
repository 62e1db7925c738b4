#include <algorithm>

#include "services/roles/scheduler/filter/rules.h"

namespace shiplog::scheduler {

std::optional<Fact> cluster_eviction(const Demand& demand, const Cluster& cluster) {
  const auto& evicting = demand.binding.evicting;
  if (std::find(evicting.begin(), evicting.end(), cluster.name) == evicting.end()) return std::nullopt;
  return EvictionInProgress{};
}

}  // namespace shiplog::scheduler
