#include <algorithm>
#include <map>
#include <string>

#include "services/roles/scheduler/select/region_choice.h"
#include "services/roles/scheduler/select/select.h"

namespace shiplog::scheduler {
namespace {

struct Region {
  std::string name;
  std::vector<const Candidate*> clusters;  // in the order of S-29
  int64_t score = 0;

  int64_t size() const { return static_cast<int64_t>(clusters.size()); }
};

struct Limits : RegionLimits {
  int64_t cluster_max;
};

/// S-36, Duplicated: regions with many roomy clusters first.
int64_t score_duplicated(const Region& region, int64_t replicas) {
  int64_t roomy = 0;
  int64_t scores = 0;
  for (const Candidate* cluster : region.clusters) {
    if (cluster->available < replicas) continue;
    ++roomy;
    scores += cluster->score;
  }
  return roomy == 0 ? 0 : roomy * 1000 + scores / roomy;
}

/// S-36, Divided: a region that can take its share scores the share, one that cannot what it has.
int64_t score_divided(const Region& region, int64_t replicas, const Limits& limits) {
  const int64_t regions = std::max<int64_t>(limits.region_min, 1);
  const int64_t share = (replicas + regions - 1) / regions;
  const int64_t least = std::max(limits.cluster_min, limits.region_min);
  int64_t available = 0;
  int64_t scores = 0;
  int64_t walked = 0;
  for (const Candidate* cluster : region.clusters) {
    available += cluster->available;
    scores += cluster->score;
    ++walked;
    if (walked >= least && available >= share) break;
  }
  return available < share ? available * 1000 + scores / region.size() : share * 1000 + scores / walked;
}

bool scores_higher(const Region* a, const Region* b) {
  return a->score != b->score ? a->score > b->score : a->name < b->name;
}

using Path = std::vector<const Region*>;

int64_t clusters_of(const Path& path) {
  int64_t count = 0;
  for (const Region* region : path) count += region->size();
  return count;
}

/// S-38, S-39. `regions` are in the order of S-38.
Path chosen_of(const Path& regions, const Limits& limits) {
  Path by_score = regions;
  std::sort(by_score.begin(), by_score.end(), scores_higher);
  std::vector<RegionWorth> worths;
  std::vector<size_t> rank;
  for (const Region* region : regions) {
    worths.push_back({region->size(), region->score});
    rank.push_back(static_cast<size_t>(std::ranges::find(by_score, region) - by_score.begin()));
  }
  Path chosen;
  for (const size_t index : choose_regions(worths, rank, limits)) chosen.push_back(regions[index]);
  return chosen;
}

/// The first of each region, then the rest in the common order as far as cluster_max goes (S-40).
std::vector<Candidate> clusters_from(const Path& chosen, const Limits& limits) {
  std::vector<Candidate> selected;
  std::vector<Candidate> rest;
  for (const Region* region : chosen) {
    selected.push_back(*region->clusters.front());
    for (size_t next = 1; next < region->clusters.size(); ++next) rest.push_back(*region->clusters[next]);
  }
  std::sort(rest.begin(), rest.end(), goes_first);
  const int64_t most = std::min(clusters_of(chosen), limits.cluster_max);
  for (const Candidate& candidate : rest) {
    if (static_cast<int64_t>(selected.size()) >= most) break;
    selected.push_back(candidate);
  }
  return selected;
}

}  // namespace

Placed<std::vector<Candidate>> select_by_region(const std::vector<Candidate>& ordered, const SpreadConstraint& region,
                                                const SpreadConstraint* cluster, const Demand& demand) {
  // Without a cluster constraint beside it (the API requires one), the number of clusters is free.
  const Limits limits{{region.min_groups, region.max_groups, cluster == nullptr ? 0 : cluster->min_groups},
                      cluster == nullptr ? static_cast<int64_t>(ordered.size()) : cluster->max_groups};
  std::map<std::string, Region> by_name;
  for (const Candidate& candidate : ordered) {
    Region& group = by_name[candidate.cluster->region];
    group.name = candidate.cluster->region;
    group.clusters.push_back(&candidate);
  }
  if (static_cast<int64_t>(by_name.size()) < limits.region_min) {
    return PlacementFailure{PlacementFailure::Kind::kOther, SelectionFailed{SelectionFailure::kTooFewRegions}};
  }
  Path regions;
  for (auto& [name, group] : by_name) {
    group.score = demand.placement.strategy == Strategy::kDuplicated
                      ? score_duplicated(group, demand.binding.replicas)
                      : score_divided(group, demand.binding.replicas, limits);
    regions.push_back(&group);
  }
  std::sort(regions.begin(), regions.end(), [](const Region* a, const Region* b) {
    return a->size() != b->size() ? a->size() < b->size() : scores_higher(a, b);
  });
  const Path chosen = chosen_of(regions, limits);
  if (chosen.empty()) {
    return PlacementFailure{PlacementFailure::Kind::kOther,
                            SelectionFailed{SelectionFailure::kTooFewClustersInRegions}};
  }
  return clusters_from(chosen, limits);
}

}  // namespace shiplog::scheduler
