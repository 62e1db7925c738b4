#include <algorithm>
#include <utility>

#include "services/roles/scheduler/assign/assign.h"
#include "services/roles/webster.h"

namespace shiplog::scheduler {
namespace {

int64_t sum_of(const std::vector<Weight>& weights) {
  int64_t sum = 0;
  for (const Weight& each : weights) sum += each.weight;
  return sum;
}

/// The shortest beginning of the list that has room for all (S-56).
void keep_shortest_prefix(std::vector<Weight>& weights, int64_t replicas) {
  int64_t sum = 0;
  size_t kept = 0;
  while (kept < weights.size() && sum < replicas) sum += weights[kept++].weight;
  weights.resize(kept);
}

void sort_by_weight(std::vector<Weight>& weights) {
  // Stable: clusters of equal weight keep the order they were selected in (S-57).
  const auto heavier = [](const Weight& a, const Weight& b) { return a.weight > b.weight; };
  if (!std::is_sorted(weights.begin(), weights.end(), heavier)) {
    std::stable_sort(weights.begin(), weights.end(), heavier);
  }
}

void add(std::vector<Target>& targets, Target more) {
  if (targets.empty() || targets.back().cluster < more.cluster) {  // most are sorted already
    targets.push_back(std::move(more));
    return;
  }
  const auto found = std::lower_bound(targets.begin(), targets.end(), more.cluster,
                                      [](const Target& target, const auto& name) { return target.cluster < name; });
  if (found != targets.end() && found->cluster == more.cluster) {
    found->replicas += more.replicas;
  } else {
    targets.insert(found, std::move(more));
  }
}

ReplicasKept kept(int64_t total, const std::vector<Share>& shares) {
  std::vector<std::pair<uint32_t, int64_t>> placed;
  for (const Share& share : shares) {
    if (share.previous != 0) placed.emplace_back(share.line, share.previous);
  }
  std::ranges::sort(placed);  // lines are in the order of names
  ReplicasKept step;
  step.total = total;
  for (const auto& [line, replicas] : placed) {
    step.clusters.push_back(line);
    step.replicas.push_back(replicas);
  }
  return step;
}

}  // namespace

Placed<std::vector<Target>> assign_dynamic(int64_t replicas, const std::vector<Share>& shares, const Demand& demand,
                                           Explanation& why) {
  const bool aggregated = demand.placement.strategy == Strategy::kAggregated;
  std::vector<Target> previous;
  int64_t assigned = 0;
  for (const Share& share : shares) {
    if (share.previous == 0) continue;
    add(previous, {std::string{share.cluster}, share.previous});
    assigned += share.previous;
  }
  if (!demand.fresh && assigned == replicas) {
    why.steps.emplace_back(kept(replicas, shares));
    return previous;
  }

  const bool grows = !demand.fresh && assigned < replicas;
  const bool shrinks = !demand.fresh && assigned > replicas;
  const Scaling scaling = shrinks ? Scaling::kDown : grows ? Scaling::kUp : Scaling::kFresh;
  const int64_t wanted = grows ? replicas - assigned : replicas;
  std::vector<Weight> weights;
  weights.reserve(shares.size());
  for (const Share& share : shares) {
    if (shrinks && share.previous == 0) continue;
    const int64_t weight = shrinks ? share.previous : share.allocatable + (grows ? 0 : share.previous);
    weights.push_back({share.cluster, weight, share.line});
  }
  sort_by_weight(weights);
  if (sum_of(weights) < wanted) {
    return PlacementFailure{PlacementFailure::Kind::kCapacity,
                            AssignmentFailed{.scaling = scaling, .available = sum_of(weights)}};
  }
  if (aggregated && grows) {
    std::stable_partition(weights.begin(), weights.end(), [&](const Weight& weight) {
      return std::any_of(previous.begin(), previous.end(),
                         [&](const Target& target) { return target.cluster == weight.name; });
    });
  }
  if (aggregated) keep_shortest_prefix(weights, wanted);

  const auto given = webster(wanted, weights, names_descend(demand.binding.resource_uid));
  const Division division = aggregated ? Division::kAggregated : Division::kAvailableReplicas;
  why.steps.emplace_back(divided(division, scaling, wanted, weights, given));
  std::vector<Target> more = targets_of(given);
  if (!grows || previous.empty()) return more;
  std::vector<Target> targets = std::move(previous);
  for (Target& target : more) add(targets, std::move(target));
  return targets;
}

}  // namespace shiplog::scheduler
