#include "services/roles/scheduler/select/select.h"

#include <algorithm>
#include <tuple>

namespace shiplog::scheduler {
namespace {

bool ignores_spread(const Placement& placement) {
  if (placement.spread.empty()) return true;
  // Static weights determine where replicas go. A weight preference that is there but empty does not (S-30).
  return placement.strategy == Strategy::kStaticWeight && (!placement.weights_given || !placement.weights.empty());
}

ClusterIndexes lines_of(const std::vector<Candidate>& candidates) {
  ClusterIndexes lines;
  lines.reserve(candidates.size());
  for (const Candidate& candidate : candidates) lines.push_back(candidate.line);
  return lines;
}

}  // namespace

bool goes_first(const Candidate& a, const Candidate& b) {
  // Lines are in the order of names, and cheaper to compare.
  return std::tie(a.tier, b.score, b.available, a.line) < std::tie(b.tier, a.score, a.available, b.line);
}

Placed<std::vector<Candidate>> select(std::vector<Candidate> candidates, const Demand& demand, Explanation& why) {
  // Equal clusters are in order already.
  if (!std::is_sorted(candidates.begin(), candidates.end(), goes_first)) {
    std::sort(candidates.begin(), candidates.end(), goes_first);
  }
  const Placement& placement = demand.placement;
  if (ignores_spread(placement)) {
    if (!placement.spread.empty()) why.steps.emplace_back(SpreadIgnored{});
    return candidates;
  }
  const SpreadConstraint* region = placement.spread_by("region");
  const SpreadConstraint* cluster = placement.spread_by("cluster");
  for (const SpreadConstraint& spread : placement.spread) {
    if (spread.field == "zone" || spread.field == "provider") {
      why.steps.emplace_back(SpreadFiltersOnly{spread.field});
    }
  }
  if (region == nullptr && cluster == nullptr) {
    return PlacementFailure{PlacementFailure::Kind::kOther, SelectionFailed{SelectionFailure::kUnsupported}};
  }
  SHIPLOG_TRY(auto selected, region != nullptr ? select_by_region(candidates, *region, cluster, demand)
                                               : select_by_cluster(candidates, *cluster, demand));
  why.steps.emplace_back(SpreadSelected{lines_of(candidates), lines_of(selected)});
  return selected;
}

}  // namespace shiplog::scheduler
