#include <algorithm>

#include "services/roles/scheduler/select/select.h"

namespace shiplog::scheduler {
namespace {

int64_t total_available(const std::vector<Candidate>& candidates) {
  int64_t total = 0;
  for (const Candidate& candidate : candidates) total += candidate.available;
  return total;
}

}  // namespace

Placed<std::vector<Candidate>> select_by_cluster(const std::vector<Candidate>& ordered, const SpreadConstraint& spread,
                                                 const Demand& demand) {
  const auto feasible = static_cast<int64_t>(ordered.size());
  const int64_t needed = demand.needed();
  if (feasible < spread.min_groups) {
    return PlacementFailure{PlacementFailure::Kind::kOther, SelectionFailed{SelectionFailure::kTooFewClusters}};
  }
  const int64_t count = std::max<int64_t>(std::min(feasible, spread.max_groups), 0);
  std::vector<Candidate> selected(ordered.begin(), ordered.begin() + count);
  if (demand.placement.strategy == Strategy::kDuplicated) return selected;

  // From the last place to the first, trade for the roomiest cluster outside until all replicas fit.
  std::vector<Candidate> rest(ordered.begin() + count, ordered.end());
  for (auto place = selected.rbegin(); place != selected.rend(); ++place) {
    if (total_available(selected) >= needed) break;
    const auto roomiest = std::max_element(rest.begin(), rest.end(), [](const Candidate& a, const Candidate& b) {
      return a.available < b.available;  // of equals max_element takes the first
    });
    if (roomiest != rest.end() && roomiest->available > place->available) std::swap(*place, *roomiest);
  }
  if (selected.empty() || total_available(selected) < needed) {
    return PlacementFailure{PlacementFailure::Kind::kOther, SelectionFailed{SelectionFailure::kTooFewReplicas, count}};
  }
  return selected;
}

}  // namespace shiplog::scheduler
