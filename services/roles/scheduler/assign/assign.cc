#include "services/roles/scheduler/assign/assign.h"

#include <algorithm>
#include <functional>

#include "events/base/check.h"

namespace shiplog::scheduler {
namespace {

std::vector<Target> same_for_all(const std::vector<Candidate>& selected, int64_t replicas) {
  std::vector<Target> targets;
  targets.reserve(selected.size());
  for (const Candidate& candidate : selected) targets.push_back({candidate.cluster->name, replicas});
  // Lines are in the order of names.
  if (!std::ranges::is_sorted(selected, {}, &Candidate::line)) std::sort(targets.begin(), targets.end());
  return targets;
}

std::vector<Share> shares_of(const std::vector<Candidate>& selected, int64_t tier) {
  std::vector<Share> shares;
  shares.reserve(selected.size());
  for (const Candidate& candidate : selected) {
    if (tier >= 0 && candidate.tier != tier) continue;
    const Target* previous = candidate.previous;
    shares.push_back(
        {candidate.cluster->name, candidate.allocatable, previous == nullptr ? 0 : previous->replicas, candidate.line});
  }
  return shares;
}

/// Fills one tier after the other; shrinking thus empties the last one first (S-61).
Placed<std::vector<Target>> assign_by_tier(const std::vector<Candidate>& selected, const Demand& demand,
                                           Explanation& why) {
  std::vector<Target> targets;
  int64_t left = demand.binding.replicas;
  const auto last = std::max_element(selected.begin(), selected.end(),
                                     [](const Candidate& a, const Candidate& b) { return a.tier < b.tier; });
  for (int64_t tier = 0; last != selected.end() && tier <= last->tier && left > 0; ++tier) {
    int64_t room = 0;
    for (const Candidate& candidate : selected) room += candidate.tier == tier ? candidate.available : 0;
    const int64_t part = std::min(left, room);
    if (part == 0) continue;
    why.steps.emplace_back(TierFilled{tier, room, part});
    SHIPLOG_TRY(const auto given, assign_dynamic(part, shares_of(selected, tier), demand, why));
    targets.insert(targets.end(), given.begin(), given.end());
    left -= part;
  }
  if (left > 0) {
    return PlacementFailure{PlacementFailure::Kind::kCapacity, AssignmentFailed{}};
  }
  std::sort(targets.begin(), targets.end());
  return targets;
}

Placed<std::vector<Target>> divide(const std::vector<Candidate>& selected, const Demand& demand, Explanation& why) {
  switch (demand.placement.strategy) {
    case Strategy::kDuplicated:
      why.steps.emplace_back(Duplicated{demand.binding.replicas});
      return same_for_all(selected, demand.binding.replicas);
    case Strategy::kStaticWeight:
      return assign_static(selected, demand, why);
    case Strategy::kDynamicWeight:
    case Strategy::kAggregated:
      break;
  }
  if (demand.term != nullptr && !demand.term->overflow.empty()) return assign_by_tier(selected, demand, why);
  return assign_dynamic(demand.binding.replicas, shares_of(selected, -1), demand, why);
}

/// --enable-empty-workload-propagation (S-46): a selected cluster without replicas gets the object all the same.
void attach_the_rest(const std::vector<Candidate>& selected, std::vector<Target>& targets, Explanation& why) {
  const size_t with_replicas = targets.size();
  for (const Candidate& candidate : selected) {
    if (std::ranges::find(targets, candidate.cluster->name, &Target::cluster) == targets.end()) {
      targets.push_back({candidate.cluster->name, 0});
    }
  }
  if (targets.size() == with_replicas) return;
  why.steps.emplace_back(EmptyTargetsAdded{static_cast<int64_t>(targets.size() - with_replicas)});
  std::sort(targets.begin(), targets.end());
}

}  // namespace

int64_t total_replicas(const std::vector<Target>& targets) {
  int64_t sum = 0;
  for (const Target& target : targets) sum += target.replicas;
  return sum;
}

Divided divided(Division division, Scaling scaling, int64_t replicas, const std::vector<Weight>& weights,
                const std::vector<Seats>& assigned) {
  Divided step;
  step.division = division;
  step.scaling = scaling;
  step.replicas = replicas;
  step.clusters.reserve(weights.size());
  step.weights.reserve(weights.size());
  step.assigned.reserve(assigned.size());
  for (const Weight& weight : weights) {
    step.clusters.push_back(weight.line);
    step.weights.push_back(weight.weight);
  }
  for (const Seats& each : assigned) step.assigned.push_back(each.seats);
  return step;
}

std::vector<Target> targets_of(const std::vector<Seats>& assigned) {
  std::vector<Target> targets;
  for (const Seats& each : assigned) {
    if (each.seats != 0) targets.push_back({std::string{each.name}, each.seats});
  }
  return targets;
}

Placed<std::vector<Target>> assign(const std::vector<Candidate>& selected, const Demand& demand, Explanation& why) {
  if (selected.empty()) return PlacementFailure{PlacementFailure::Kind::kOther, AssignmentFailed{.no_cluster = true}};
  if (!demand.binding.divisible()) {
    why.steps.emplace_back(NotDivided{!demand.binding.components.empty()});
    return same_for_all(selected, 0);
  }
  SHIPLOG_TRY(auto targets, divide(selected, demand, why));
  SHIPLOG_CHECK(demand.placement.strategy == Strategy::kDuplicated || demand.binding.replicas <= 0 ||
                    total_replicas(targets) == demand.binding.replicas,
                "the replicas of the targets sum up to those of the binding");
  std::erase_if(targets, [](const Target& target) { return target.replicas == 0; });
  if (demand.context.options != nullptr && demand.context.options->propagates_empty_workloads()) {
    attach_the_rest(selected, targets, why);
  }
  SHIPLOG_CHECK(std::ranges::adjacent_find(targets, std::ranges::greater_equal{}, &Target::cluster) == targets.end(),
                "targets are sorted, and a cluster is named once");
  return targets;
}

}  // namespace shiplog::scheduler
