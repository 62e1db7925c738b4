#include "services/roles/scheduler/filter/rules.h"

namespace shiplog::scheduler {

// A current target passes both: a placement is never revoked because of later placements of others (M-10).

std::optional<Fact> workload_affinity(const Demand& demand, const Cluster& cluster) {
  const AffinityGroup& group = *demand.context.together;
  const ObjectKey& self = demand.binding.key;
  if (demand.previous(cluster.name) != nullptr) return std::nullopt;
  if (group.others_on(cluster.name, self) == group.others_placed(self)) return std::nullopt;
  return AffinityGroupElsewhere{};
}

std::optional<Fact> workload_anti_affinity(const Demand& demand, const Cluster& cluster) {
  if (demand.previous(cluster.name) != nullptr) return std::nullopt;
  if (demand.context.apart->others_on(cluster.name, demand.binding.key) == 0) return std::nullopt;
  return AntiAffinityGroupPresent{};
}

}  // namespace shiplog::scheduler
