#include <algorithm>

#include "services/roles/scheduler/assign/assign.h"
#include "services/roles/webster.h"

namespace shiplog::scheduler {
namespace {

int64_t weight_of(const Placement& placement, const Cluster& cluster) {
  int64_t weight = 0;
  for (const StaticWeight& rule : placement.weights) {
    if (rule.clusters.matches(cluster)) weight = std::max(weight, rule.weight);
  }
  return weight;
}

}  // namespace

std::vector<Target> assign_static(const std::vector<Candidate>& selected, const Demand& demand, Explanation& why) {
  std::vector<Weight> weights;
  for (const Candidate& candidate : selected) {
    const int64_t weight = weight_of(demand.placement, *candidate.cluster);
    if (weight > 0) weights.push_back({candidate.cluster->name, weight, candidate.line});
  }
  if (weights.empty()) {
    for (const Candidate& candidate : selected) weights.push_back({candidate.cluster->name, 1, candidate.line});
  }
  const auto given = webster(demand.binding.replicas, weights, names_descend(demand.binding.resource_uid));
  why.steps.emplace_back(divided(Division::kStaticWeight, Scaling::kNone, demand.binding.replicas, weights, given));
  return targets_of(given);
}

}  // namespace shiplog::scheduler
