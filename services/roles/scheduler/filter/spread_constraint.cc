#include "services/roles/scheduler/filter/rules.h"

namespace shiplog::scheduler {

std::optional<Fact> spread_constraint(const Demand& demand, const Cluster& cluster) {
  for (const SpreadConstraint& spread : demand.placement.spread) {
    if (spread.field == "provider" && cluster.provider.empty()) return SpreadPropertyMissing{"provider"};
    if (spread.field == "region" && cluster.region.empty()) return SpreadPropertyMissing{"region"};
    if (spread.field == "zone" && cluster.zones.empty()) return SpreadPropertyMissing{"zones"};
  }
  return std::nullopt;
}

}  // namespace shiplog::scheduler
