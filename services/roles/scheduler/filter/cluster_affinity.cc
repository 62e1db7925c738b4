#include <algorithm>

#include "services/roles/scheduler/filter/rules.h"

namespace shiplog::scheduler {
namespace {

bool matches(const Demand& demand, const Cluster& cluster) {
  if (demand.term == nullptr) return !demand.placement.affinity || demand.placement.affinity->matches(cluster);
  if (demand.term->affinity.matches(cluster)) return true;
  if (!demand.binding.workload) return false;  // overflow is about replicas
  const auto& overflow = demand.term->overflow;
  return std::any_of(overflow.begin(), overflow.end(), [&](const auto& tier) { return tier.matches(cluster); });
}

}  // namespace

// A current target does not pass as such: a cluster that stops matching is left with the next placement.
std::optional<Fact> cluster_affinity(const Demand& demand, const Cluster& cluster) {
  if (matches(demand, cluster)) return std::nullopt;
  return AffinityMismatch{};
}

}  // namespace shiplog::scheduler
