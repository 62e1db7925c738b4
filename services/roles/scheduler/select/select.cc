#include "services/roles/scheduler/select/select.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

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

// Unsigned numbers in the order wanted.
uint64_t ascending(int64_t number) {
  return static_cast<uint64_t>(number) ^ uint64_t { 1 } << 63U;
}
uint64_t descending(int64_t number) { return ~ascending(number); }

/// Stable, byte by byte, of those bytes that differ: few do.
void sort_by(const std::vector<uint64_t>& keys, std::vector<uint32_t>& order) {
  uint64_t differing = 0;
  for (const uint64_t key : keys) differing |= key ^ keys.front();
  std::vector<uint32_t> sorted(order.size());
  for (unsigned shift = 0; shift < 64; shift += 8) {
    if ((differing >> shift & 0xFFU) == 0) continue;
    std::array<uint32_t, 257> places{};
    for (const uint32_t at : order) ++places[(keys[at] >> shift & 0xFFU) + 1];
    std::partial_sum(places.begin(), places.end(), places.begin());
    for (const uint32_t at : order) sorted[places[keys[at] >> shift & 0xFFU]++] = at;
    order.swap(sorted);
  }
}

}  // namespace

void sort_candidates(std::vector<Candidate>& candidates) {
  // Equal clusters are in order already.
  if (std::is_sorted(candidates.begin(), candidates.end(), goes_first)) return;
  constexpr size_t kFew = 64;
  const bool by_line = std::ranges::is_sorted(candidates, {}, &Candidate::line);
  if (candidates.size() < kFew || !by_line) return std::sort(candidates.begin(), candidates.end(), goes_first);
  std::vector<uint32_t> order(candidates.size());
  std::iota(order.begin(), order.end(), 0U);
  std::vector<uint64_t> keys(candidates.size());
  const auto sort_on = [&](const auto& key_of) {
    std::ranges::transform(candidates, keys.begin(), key_of);
    sort_by(keys, order);
  };
  // What matters least is sorted by first: stable sorts keep it. The lines are in order.
  sort_on([](const Candidate& candidate) { return descending(candidate.available); });
  sort_on([](const Candidate& candidate) { return descending(candidate.score); });
  sort_on([](const Candidate& candidate) { return ascending(candidate.tier); });
  std::vector<Candidate> sorted;
  sorted.reserve(candidates.size());
  for (const uint32_t at : order) sorted.push_back(candidates[at]);
  candidates = std::move(sorted);
}

bool goes_first(const Candidate& a, const Candidate& b) {
  // Lines are in the order of names, and cheaper to compare.
  return std::tie(a.tier, b.score, b.available, a.line) < std::tie(b.tier, a.score, a.available, b.line);
}

Placed<std::vector<Candidate>> select(std::vector<Candidate> candidates, const Demand& demand, Explanation& why) {
  sort_candidates(candidates);
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
