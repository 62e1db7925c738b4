#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shiplog::scheduler {

/// A region that clusters can be taken from.
struct RegionWorth {
  int64_t clusters = 0;  ///< at least 1
  int64_t score = 0;     ///< not negative
};

/// Of the region and the cluster constraint.
struct RegionLimits {
  int64_t region_min = 0, region_max = 0;
  int64_t cluster_min = 0;
};

/// The combination of regions that S-38 and S-39 choose, as indices into `regions`, which are in the order of S-38
/// (clusters ascending, then by `rank`); in the order of `rank`, which has the place of each region by score
/// descending, then name. Empty: no combination has enough clusters.
///
/// The rules list all combinations, depth first, and take the one with the highest score, of equal ones that with the
/// most clusters, then the first. Here the best continuation of all combinations that are equally long and have equally
/// many clusters is computed once: regions * region_max * cluster_min steps in place of a number that doubles with
/// each region. Where even these would be too many (50 million), the largest regions are taken.
std::vector<size_t> choose_regions(const std::vector<RegionWorth>& regions, const std::vector<size_t>& rank,
                                   const RegionLimits& limits);

}  // namespace shiplog::scheduler
