#pragma once

#include <array>
#include <string>
#include <vector>

#include "events/slots.h"

namespace shiplog {

/// Which process should hold each slot of a divided role; empty strings when there are no candidates.
using SlotOwners = std::array<std::string, kSlots>;

/// Each slot goes to the candidate that ranks highest for it (rendezvous hashing), passing over those that already have
/// their share. So every process comes to the same result, shares differ by one slot at most, and a candidate that
/// joins or leaves moves little more than its own share. Pure; the order of the candidates does not matter.
SlotOwners owners_of_slots(const std::vector<std::string>& candidates);

}  // namespace shiplog
