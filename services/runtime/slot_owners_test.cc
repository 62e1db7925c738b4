#include "services/runtime/slot_owners.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "events/base/random.h"

namespace shiplog {
namespace {

std::vector<std::string> processes(SeededRandom& random, size_t count) {
  std::vector<std::string> names;
  for (size_t number = 0; number < count; ++number) {
    names.push_back("host" + std::to_string(random_below(random, 1'000'000'000)) + "_" + std::to_string(number));
  }
  return names;
}

size_t moved(const SlotOwners& before, const SlotOwners& after) {
  size_t count = 0;
  for (size_t slot = 0; slot < kSlots; ++slot) count += before[slot] == after[slot] ? 0 : 1;
  return count;
}

TEST(SlotOwners, WithoutCandidatesNoSlotHasAnOwner) {
  EXPECT_TRUE(std::ranges::all_of(owners_of_slots({}), &std::string::empty));
}

TEST(SlotOwners, AProcessThatIsAloneHasAll) {
  EXPECT_TRUE(std::ranges::all_of(owners_of_slots({"a"}), [](const std::string& owner) { return owner == "a"; }));
}

TEST(SlotOwners, TheOrderOfTheCandidatesDoesNotMatter) {
  EXPECT_EQ(owners_of_slots({"a", "b", "c"}), owners_of_slots({"c", "a", "b"}));
}

TEST(SlotOwners, EachSlotHasOneOwnerAndSharesDifferByOneAtMost) {
  SeededRandom random{1};
  for (size_t count = 1; count <= 20; ++count) {
    for (int run = 0; run < 50; ++run) {
      const auto candidates = processes(random, count);
      std::map<std::string, size_t> shares;
      for (const std::string& name : candidates) shares[name] = 0;
      for (const std::string& owner : owners_of_slots(candidates)) {
        ASSERT_TRUE(shares.contains(owner)) << "the owner is a candidate";
        ++shares[owner];
      }
      const auto [least, most] =
          std::ranges::minmax_element(shares, {}, [](const auto& share) { return share.second; });
      EXPECT_LE(most->second - least->second, 1U) << count << " processes";
    }
  }
}

/// Dividing anew without regard to who has what would move nearly all: (n-1)/n of the slots.
TEST(SlotOwners, AProcessThatJoinsOrLeavesMovesLittleMoreThanItsShare) {
  SeededRandom random{2};
  for (size_t count = 2; count <= 8; ++count) {
    size_t sum = 0;
    size_t needed = 0;
    constexpr size_t kRuns = 200;
    for (size_t run = 0; run < kRuns; ++run) {
      auto candidates = processes(random, count);
      const SlotOwners with = owners_of_slots(candidates);
      const std::string leaver = candidates.back();
      candidates.pop_back();
      const SlotOwners without = owners_of_slots(candidates);
      sum += moved(with, without);
      needed += static_cast<size_t>(std::ranges::count(with, leaver));
    }
    EXPECT_GE(sum, needed);
    EXPECT_LE(sum, needed + 3 * kRuns) << count << " processes: " << sum / kRuns << " of " << kSlots << " move, "
                                       << needed / kRuns << " must";
  }
}

}  // namespace
}  // namespace shiplog
