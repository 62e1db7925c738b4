#include "services/roles/scheduler/select/region_choice.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace shiplog::scheduler {
namespace {

using Regions = std::vector<RegionWorth>;
using Chosen = std::vector<size_t>;

/// The rules as they are written: all combinations are listed.
class AllCombinations {
 public:
  AllCombinations(const Regions& regions, const Chosen& rank, const RegionLimits& limits)
      : regions_{regions}, rank_{rank}, limits_{limits} {}

  Chosen best() {
    if (std::cmp_equal(regions_.size(), limits_.region_min)) {
      Chosen all(regions_.size());
      std::iota(all.begin(), all.end(), size_t{0});
      if (clusters_of(all) >= limits_.cluster_min && limits_.region_min <= limits_.region_max) found_.push_back(all);
    } else {
      descend(0, 0);
    }
    if (found_.empty()) return {};
    for (Chosen& path : found_) std::ranges::sort(path, {}, [this](size_t region) { return rank_[region]; });
    std::ranges::stable_sort(found_, [this](const Chosen& a, const Chosen& b) {
      return std::pair{score_of(a), clusters_of(a)} > std::pair{score_of(b), clusters_of(b)};
    });
    Chosen chosen = found_.front();
    for (const Chosen& other : found_) {
      if (other.size() < chosen.size() && std::equal(other.begin(), other.end(), chosen.begin())) chosen = other;
    }
    return chosen;
  }

 private:
  int64_t clusters_of(const Chosen& path) const {
    return std::accumulate(path.begin(), path.end(), int64_t{0},
                           [this](int64_t sum, size_t region) { return sum + regions_[region].clusters; });
  }
  int64_t score_of(const Chosen& path) const {
    return std::accumulate(path.begin(), path.end(), int64_t{0},
                           [this](int64_t sum, size_t region) { return sum + regions_[region].score; });
  }
  void descend(size_t from, int64_t clusters) {
    const auto length = static_cast<int64_t>(path_.size());
    if (length > limits_.region_max) return;
    if (length > 0 && length >= limits_.region_min && clusters >= limits_.cluster_min) {
      found_.push_back(path_);
      return;
    }
    for (size_t next = from; next < regions_.size(); ++next) {
      path_.push_back(next);
      descend(next + 1, clusters + regions_[next].clusters);
      path_.pop_back();
    }
  }

  const Regions& regions_;
  const Chosen& rank_;
  const RegionLimits& limits_;
  Chosen path_;
  std::vector<Chosen> found_;
};

/// Regions in the order of S-38, and the places of their scores.
std::pair<Regions, Chosen> in_order(Regions regions) {
  std::ranges::sort(regions, [](const RegionWorth& a, const RegionWorth& b) {
    return a.clusters != b.clusters ? a.clusters < b.clusters : a.score > b.score;
  });
  Chosen order(regions.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return regions[a].score > regions[b].score; });
  Chosen rank(regions.size());
  for (size_t place = 0; place < order.size(); ++place) rank[order[place]] = place;
  return {regions, rank};
}

TEST(RegionChoice, IsThatOfAllCombinations_S_38_S_39) {
  std::mt19937_64 random{20'261'130};
  const auto below = [&](int64_t limit) { return static_cast<int64_t>(random() % static_cast<uint64_t>(limit)); };
  int none = 0;
  for (int round = 0; round < 20'000; ++round) {
    Regions given(static_cast<size_t>(1 + below(9)));
    for (RegionWorth& region : given) region = {1 + below(5), below(2) == 0 ? below(4) * 1000 : below(6)};
    const auto [regions, rank] = in_order(given);
    const RegionLimits limits{below(6), below(8), below(14)};
    SCOPED_TRACE(std::to_string(round));
    const Chosen expected = AllCombinations{regions, rank, limits}.best();
    ASSERT_EQ(choose_regions(regions, rank, limits), expected);
    none += expected.empty() ? 1 : 0;
  }
  EXPECT_GT(none, 1000);
  EXPECT_LT(none, 15'000);
}

TEST(RegionChoice, FindsTheBestOfManyRegions_S_39) {
  Regions given(40, {1, 1000});  // small regions come first in the order of S-38
  given.resize(100, {100, 100'000});
  const auto [regions, rank] = in_order(given);
  const Chosen chosen = choose_regions(regions, rank, {8, 8, 100});
  ASSERT_EQ(chosen.size(), 8U);
  for (const size_t region : chosen) EXPECT_EQ(regions[region].clusters, 100);
}

TEST(RegionChoice, OfTooManyCombinationsToWeighTheLargestRegionsAreTaken) {
  Regions given;
  for (int64_t clusters = 1; clusters <= 600; ++clusters) given.push_back({clusters, 1000 - clusters});
  const auto [regions, rank] = in_order(given);
  EXPECT_EQ(choose_regions(regions, rank, {2, 300, 1200 - 1}), (Chosen{598, 599}));
  EXPECT_TRUE(choose_regions(regions, rank, {2, 2, 1200}).empty());
}

}  // namespace
}  // namespace shiplog::scheduler
