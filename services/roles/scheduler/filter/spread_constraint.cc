#include "services/roles/scheduler/filter/rules.h"

namespace shiplog::scheduler {

std::optional<std::string> spread_constraint(const Demand& demand, const Cluster& cluster) {
  for (const SpreadConstraint& spread : demand.placement.spread) {
    if (spread.field == "provider" && cluster.provider.empty()) return "cluster(s) did not have provider property";
    if (spread.field == "region" && cluster.region.empty()) return "cluster(s) did not have region property";
    if (spread.field == "zone" && cluster.zones.empty()) return "cluster(s) did not have zones property";
  }
  return std::nullopt;
}

}  // namespace shiplog::scheduler
