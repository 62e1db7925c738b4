#include "services/runtime/slot_owners.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "events/base/hash.h"

namespace shiplog {

SlotOwners owners_of_slots(const std::vector<std::string>& candidates) {
  struct Rank {
    Hash128 weight;
    int slot;
    std::string process;
  };
  std::vector<Rank> ranks;
  for (const std::string& process : candidates) {
    for (int slot = 0; slot < kSlots; ++slot) {
      ranks.push_back({siphash128(process + ":" + std::to_string(slot)), slot, process});
    }
  }
  // The best pairs of all first: were the slots served in their order, the last ones would take what is left over.
  std::ranges::sort(ranks, [](const Rank& a, const Rank& b) {
    return std::tie(b.weight, a.slot, a.process) < std::tie(a.weight, b.slot, b.process);
  });
  SlotOwners owners;
  if (candidates.empty()) return owners;
  const size_t share = kSlots / candidates.size();
  size_t larger_shares = kSlots % candidates.size();
  std::map<std::string, size_t> given;
  for (const Rank& rank : ranks) {
    std::string& owner = owners[static_cast<size_t>(rank.slot)];
    size_t& has = given[rank.process];
    if (!owner.empty() || has > share || (has == share && larger_shares == 0)) continue;
    if (has == share) --larger_shares;
    owner = rank.process;
    ++has;
  }
  return owners;
}

}  // namespace shiplog
