#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "events/state/settled_offsets.h"

namespace shiplog::requests {

/// Where a partition of a topic of requests is consumed from.
struct Resumption {
  int64_t from = 0;
  int64_t expired = 0;  ///< records that the topic's retention deleted before they were consumed
  /// Not to be consumed at all: what the brokers report contradicts what the journal knows. A sentence with the remedy.
  std::optional<std::string> refused;
};

/// `committed`: the group's position, -1: none. `oldest`, `end`: of the partition. `settled`: what the journal knows.
/// Pure.
Resumption resume(const std::string& topic, int32_t partition, int64_t committed, int64_t oldest, int64_t end,
                  const SettledOffsets& settled);

}  // namespace shiplog::requests
