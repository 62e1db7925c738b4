#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/time.h"
#include "events/state/cluster.h"
#include "events/state/unsettled_index.h"

namespace shiplog::scheduler {

/// For so long a placement counts as promised (M-8).
inline constexpr Millis kPromiseGoodFor{5 * 60 * 1000};

/// What has been placed on a cluster in the last five minutes and is not healthy there (M-8): it uses capacity, though
/// what the cluster reports as free does not account for it yet.
using UnsettledPlacements = std::vector<UnsettledIndex::Footprint>;
UnsettledPlacements unsettled_placements(const UnsettledIndex& unsettled, std::string_view cluster, UtcMillis now);

/// The capacity of a cluster without what these use (M-9).
std::map<std::string, Cluster::Room> capacity_without(std::map<std::string, Cluster::Room> room,
                                                      const UnsettledPlacements& promised);

}  // namespace shiplog::scheduler
