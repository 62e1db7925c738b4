#include "services/roles/webster.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "events/scheduling.h"

namespace shiplog {
namespace {

/// As targets, those without a seat included.
std::vector<Target> webster_targets(int64_t seats, const std::vector<Weight>& weights, bool descend) {
  std::vector<Target> targets;
  for (const Seats& each : webster(seats, weights, descend)) targets.push_back({std::string{each.name}, each.seats});
  return targets;
}

std::string given(int64_t seats, const std::vector<Weight>& weights, bool descend = false) {
  auto targets = webster_targets(seats, weights, descend);
  std::erase_if(targets, [](const Target& target) { return target.replicas == 0; });
  std::string words;
  for (const Target& target : targets) {
    words += (words.empty() ? "" : " ") + target.cluster + ":" + std::to_string(target.replicas);
  }
  return words.empty() ? "nothing" : words;
}

// TRAP-1.
TEST(Webster, WorkedExamples) {
  EXPECT_EQ(given(9, {{"a", 1}, {"b", 2}}), "a:3 b:6");
  EXPECT_EQ(given(9, {{"a", 1}, {"b", 3}}), "a:2 b:7");
  EXPECT_EQ(given(10, {{"a", 1}, {"b", 1}, {"c", 1}}), "a:4 b:3 c:3");
  EXPECT_EQ(given(10, {{"a", 1}, {"b", 1}, {"c", 1}}, true), "a:3 b:3 c:4");
  EXPECT_EQ(given(5, {{"a", 1}, {"b", 1}, {"c", 10}}), "c:5");
  EXPECT_EQ(given(2, {{"a", 3}, {"b", 1}}), "a:1 b:1");
  EXPECT_EQ(given(7, {{"a", 5}, {"b", 3}, {"c", 1}}), "a:4 b:2 c:1");
  EXPECT_EQ(given(12, {{"a", 6}, {"b", 2}, {"c", 1}}), "a:8 b:3 c:1");
  EXPECT_EQ(given(2, {{"a", 1}, {"b", 1}, {"c", 1}}), "a:1 b:1");
  EXPECT_EQ(given(100, {{"a", 1}, {"b", 1}, {"c", 1}}, true), "a:33 b:33 c:34");
  EXPECT_EQ(given(3, {{"a", 0}, {"b", 0}}), "nothing");                           // S-47
}

TEST(Webster, TiesGoDownTheNamesForOddUids) {  // S-48, TRAP-1
  EXPECT_TRUE(names_descend("uid-1"));
  EXPECT_FALSE(names_descend("uid-2"));
  EXPECT_FALSE(names_descend("00000000-0000-0000-0000-000000000001"));
  EXPECT_TRUE(names_descend("00000000-0000-0000-0000-000000000002"));
  EXPECT_FALSE(names_descend(""));
}

/// The rule as it is written: one seat after the other.
std::vector<Target> seat_by_seat(int64_t seats, const std::vector<Weight>& parties, bool descend) {
  std::vector<Target> table;
  int64_t total = 0;
  for (const Weight& party : parties) {
    table.push_back({std::string{party.name}, 0});
    total += party.weight;
  }
  for (; total > 0 && seats > 0; --seats) {
    size_t best = 0;
    for (size_t at = 1; at < parties.size(); ++at) {
      const int64_t mine = parties[at].weight * (2 * table[best].replicas + 1);
      const int64_t its = parties[best].weight * (2 * table[at].replicas + 1);
      const bool by_name = descend ? parties[at].name > parties[best].name : parties[at].name < parties[best].name;
      const bool wins_tie =
          table[at].replicas < table[best].replicas || (table[at].replicas == table[best].replicas && by_name);
      if (mine > its || (mine == its && wins_tie)) best = at;
    }
    ++table[best].replicas;
  }
  std::sort(table.begin(), table.end());
  return table;
}

TEST(Webster, EqualsHandingOutSeatBySeatWhateverTheWeights) {  // S-47
  uint64_t seed = 20260102;
  const auto next = [&seed](uint64_t below) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int64_t>((seed >> 33U) % below);
  };
  for (int round = 0; round < 3000; ++round) {
    std::vector<Weight> weights;
    const int64_t parties = 1 + next(9);
    for (int64_t at = 0; at < parties; ++at) {
      weights.push_back({std::string_view{"abcdefghijklmnopqrstuvwxyz"}.substr(static_cast<size_t>(at), 1),
                         next(round % 2 == 0 ? 7 : 100000)});
    }
    if (round % 4 >= 2) {  // as the scheduler has them: with their lines, and in another order
      const auto apart = static_cast<uint32_t>(1 + next(20));
      for (size_t at = 0; at < weights.size(); ++at) weights[at].line = static_cast<uint32_t>(at) * apart;
      std::ranges::sort(weights, std::ranges::greater{}, &Weight::weight);
    }
    const int64_t seats = next(200);
    const bool descend = round % 3 == 0;
    EXPECT_EQ(webster_targets(seats, weights, descend), seat_by_seat(seats, weights, descend)) << "round " << round;
  }
}

TEST(Webster, OneSeatMoreTakesNoneAway) {  // S-49
  const std::vector<Weight> weights = {{"a", 7}, {"b", 3}, {"c", 3}, {"d", 1}};
  for (int64_t seats = 0; seats < 300; ++seats) {
    const auto before = webster_targets(seats, weights, false);
    const auto after = webster_targets(seats + 1, weights, false);
    for (size_t at = 0; at < before.size(); ++at) EXPECT_GE(after[at].replicas, before[at].replicas) << seats;
  }
}

TEST(Webster, NeverGivesMoreThanTheWeightWhenWeightsSuffice) {  // S-59
  for (int64_t a = 0; a <= 6; ++a) {
    for (int64_t b = 0; b <= 6; ++b) {
      for (int64_t c = 0; c <= 6; ++c) {
        for (int64_t seats = 0; seats <= a + b + c; ++seats) {
          const auto targets = webster_targets(seats, {{"a", a}, {"b", b}, {"c", c}}, false);
          EXPECT_LE(targets[0].replicas, a);
          EXPECT_LE(targets[1].replicas, b);
          EXPECT_LE(targets[2].replicas, c);
        }
      }
    }
  }
}

TEST(Webster, NumbersThatNoUserMeansAreNoReasonToStop) {
  constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  for (const int64_t seats : {kLeast, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{7}, int64_t{1} << 40}) {
    int64_t sum = 0;
    for (const Target& target :
         webster_targets(seats, {{"a", kGreatest}, {"b", kGreatest}, {"c", kLeast}, {"d", 1}}, false)) {
      EXPECT_GE(target.replicas, 0) << seats;
      sum += target.replicas;
    }
    EXPECT_EQ(sum, std::max<int64_t>(seats, 0)) << "all replicas are assigned, and no more";
  }
}

TEST(Webster, TwoBillionReplicasTakeNoLonger) {
  const auto targets = webster_targets(2147483647, {{"a", INT64_MAX}, {"b", INT64_MAX}, {"c", 1}}, false);
  EXPECT_EQ(targets, (std::vector<Target>{{"a", 1073741824}, {"b", 1073741823}, {"c", 0}}));
}

}  // namespace
}  // namespace shiplog
