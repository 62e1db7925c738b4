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

/// What has been placed on a cluster in the last five minutes and is not healthy there (M-8): it is promised, though
/// what the cluster says to be free does not count it yet.
using Promised = std::vector<UnsettledIndex::Footprint>;
Promised promised_on(const UnsettledIndex& unsettled, std::string_view cluster, UtcMillis now);

/// The room of a cluster without what is promised (M-9).
std::map<std::string, Cluster::Room> room_without(std::map<std::string, Cluster::Room> room, const Promised& promised);

}  // namespace shiplog::scheduler
