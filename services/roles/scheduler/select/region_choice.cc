#include "services/roles/scheduler/select/region_choice.h"

#include <algorithm>
#include <compare>
#include <numeric>
#include <utility>

namespace shiplog::scheduler {
namespace {

/// Of a combination, or of its continuation.
struct Worth {
  int64_t score = 0;
  int64_t clusters = -1;  // negative: it cannot be continued to the end

  bool possible() const { return clusters >= 0; }
  auto operator<=>(const Worth&) const = default;
};

class Combinations {
 public:
  Combinations(const std::vector<RegionWorth>& regions, const RegionLimits& limits)
      : regions_{regions},
        limits_{limits},
        longest_{static_cast<size_t>(std::clamp<int64_t>(limits.region_max, 0, static_cast<int64_t>(regions.size())))},
        enough_{static_cast<size_t>(std::max<int64_t>(limits.cluster_min, 0))} {}

  /// Ascending indices; empty: there is none.
  std::vector<size_t> best() {
    int64_t all = 0;
    for (const RegionWorth& region : regions_) all += region.clusters;
    if (longest_ == 0 || all < limits_.cluster_min) return {};
    if (regions_.size() * longest_ > kMostSteps / (enough_ + 1)) return largest();
    weigh();
    return follow();
  }

  /// A combination ends with the first region that completes it.
  bool complete(size_t length, size_t clusters) const {
    return length > 0 && static_cast<int64_t>(length) >= limits_.region_min && clusters >= enough_;
  }

 private:
  static constexpr size_t kMostSteps = 50'000'000;  // some tenths of a second

  /// Those with the most clusters, so that a combination is found if there is one.
  std::vector<size_t> largest() const {
    std::vector<size_t> path;
    size_t clusters = 0;
    for (size_t region = regions_.size(); region-- > 0 && path.size() < longest_ && !complete(path.size(), clusters);) {
      path.insert(path.begin(), region);
      clusters = after(region, clusters);
    }
    return complete(path.size(), clusters) ? path : std::vector<size_t>{};
  }

  size_t cell(size_t length, size_t clusters) const { return length * (enough_ + 1) + clusters; }
  size_t after(size_t region, size_t clusters) const {
    return std::min(clusters + static_cast<size_t>(regions_[region].clusters), enough_);
  }

  /// From the last region to the first: what a combination that has a length and clusters so far is worth with the best
  /// of the regions from there on. More clusters than are enough are as good as enough.
  void weigh() {
    const size_t cells = longest_ * (enough_ + 1);
    std::vector<Worth> later(cells), now(cells);
    taken_.assign(regions_.size() * cells, false);
    for (size_t region = regions_.size(); region-- > 0; std::swap(now, later)) {
      const RegionWorth& own = regions_[region];
      for (size_t length = 0; length < longest_; ++length) {
        for (size_t clusters = 0; clusters <= enough_; ++clusters) {
          const size_t grown = after(region, clusters);
          Worth with;
          if (complete(length + 1, grown)) {
            with = {own.score, own.clusters};
          } else if (length + 1 < longest_) {
            const Worth& rest = later[cell(length + 1, grown)];
            if (rest.possible()) with = {own.score + rest.score, own.clusters + rest.clusters};
          }
          const Worth& without = later[cell(length, clusters)];
          // Of equal ones the first is that with this region.
          const bool take = with.possible() && (!without.possible() || with >= without);
          now[cell(length, clusters)] = take ? with : without;
          taken_[region * cells + cell(length, clusters)] = take;
        }
      }
    }
  }

  std::vector<size_t> follow() const {
    const size_t cells = longest_ * (enough_ + 1);
    std::vector<size_t> path;
    size_t clusters = 0;
    for (size_t region = 0; region < regions_.size() && !complete(path.size(), clusters); ++region) {
      if (!taken_[region * cells + cell(path.size(), clusters)]) continue;
      path.push_back(region);
      clusters = after(region, clusters);
    }
    return path;
  }

  const std::vector<RegionWorth>& regions_;
  const RegionLimits& limits_;
  const size_t longest_, enough_;
  std::vector<bool> taken_;  // by region and cell
};

/// S-39: the shortest combination that the chosen one, in the order of ranks, begins with.
size_t shortest_begin(const std::vector<RegionWorth>& regions, const std::vector<size_t>& chosen,
                      const Combinations& combinations) {
  size_t clusters = 0, last = 0;
  for (size_t length = 1; length < chosen.size(); ++length) {
    const size_t added = chosen[length - 1];
    clusters += static_cast<size_t>(regions[added].clusters);
    last = std::max(last, added);
    const bool before = combinations.complete(length - 1, clusters - static_cast<size_t>(regions[last].clusters));
    if (combinations.complete(length, clusters) && !before) return length;
  }
  return chosen.size();
}

}  // namespace

std::vector<size_t> choose_regions(const std::vector<RegionWorth>& regions, const std::vector<size_t>& rank,
                                   const RegionLimits& limits) {
  const auto by_rank = [&](size_t a, size_t b) { return rank[a] < rank[b]; };
  if (std::cmp_equal(regions.size(), limits.region_min)) {
    std::vector<size_t> all(regions.size());
    std::iota(all.begin(), all.end(), size_t{0});
    int64_t clusters = 0;
    for (const RegionWorth& region : regions) clusters += region.clusters;
    if (clusters < limits.cluster_min || limits.region_min > limits.region_max) return {};
    std::sort(all.begin(), all.end(), by_rank);
    return all;
  }
  Combinations combinations{regions, limits};
  std::vector<size_t> chosen = combinations.best();
  std::sort(chosen.begin(), chosen.end(), by_rank);
  chosen.resize(shortest_begin(regions, chosen, combinations));
  return chosen;
}

}  // namespace shiplog::scheduler
