#include "services/requests/window.h"

#include <gtest/gtest.h>

#include "events/base/random.h"
#include "services/requests/resumption.h"

namespace shiplog::requests {
namespace {

RecordOutcome outcome(const std::string& id) {
  ProducedResult result;
  result.id = id;
  return {std::move(result), std::nullopt};
}

TEST(RequestWindow, RequestsAboutOneObjectRunOneAfterTheOther) {
  RequestWindow window{10};
  window.add(1, "a");
  window.add(2, "a");
  window.add(3, "b");
  EXPECT_EQ(window.start_next(), 1);
  EXPECT_EQ(window.start_next(), 3);
  EXPECT_EQ(window.start_next(), std::nullopt);
  window.finish(1, outcome("1"));
  EXPECT_EQ(window.start_next(), 2);
}

TEST(RequestWindow, RequestsForGeneratedNamesDoNotWaitForEachOther) {
  RequestWindow window{2};
  for (const int64_t offset : {1, 2, 3}) window.add(offset, "");
  EXPECT_EQ(window.start_next(), 1);
  EXPECT_EQ(window.start_next(), 2);
  EXPECT_EQ(window.start_next(), std::nullopt) << "no more than may run";
}

TEST(RequestWindow, OnlyAPrefixIsTaken) {
  RequestWindow window{10};
  for (const int64_t offset : {5, 7, 8}) window.add(offset, std::to_string(offset));
  while (window.start_next()) {
  }
  window.finish(7, outcome("7"));
  EXPECT_FALSE(window.take_finished(10));
  window.finish(5, outcome("5"));
  const auto finished = window.take_finished(10);
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->next, 8);
  ASSERT_EQ(finished->outcomes.size(), 2u);
  EXPECT_EQ(finished->outcomes[0].second.result.id, "5");
  EXPECT_EQ(window.size(), 1u);
}

TEST(RequestWindow, WhatIsNoRequestWaitsForItsTurnToo) {
  RequestWindow window{1};
  window.add(1, "a");
  window.add_finished(2, {ProducedResult{}, "no JSON"});
  EXPECT_EQ(window.start_next(), 1);
  EXPECT_FALSE(window.take_finished(10));
  window.finish(1, outcome("1"));
  EXPECT_EQ(window.take_finished(1)->next, 2);
  EXPECT_EQ(window.take_finished(1)->outcomes.front().second.dead, "no JSON");
}

// Whatever order things finish in: everything is taken once, in order, never more runs than may, and an object's
// requests start in their order.
TEST(RequestWindow, TakesEverythingOnceInOrder) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SeededRandom random{seed};
    RequestWindow window{4};
    std::vector<int64_t> running;
    std::vector<int64_t> taken;
    std::map<int64_t, int64_t> last_started;  // by object
    int64_t next = 0;
    while (taken.size() < 100) {
      if (next < 100 && random_below(random, 2) == 0) {
        window.add(next, std::to_string(next % 7));
        ++next;
      }
      while (const auto started = window.start_next()) {
        const auto before = last_started.find(*started % 7);
        if (before != last_started.end()) {
          EXPECT_EQ(before->second + 7, *started);
        }
        last_started[*started % 7] = *started;
        running.push_back(*started);
      }
      ASSERT_LE(running.size(), 4u);
      EXPECT_EQ(window.running(), running.size());
      if (!running.empty()) {
        const size_t which = random_below(random, running.size());
        window.finish(running[which], outcome(std::to_string(running[which])));
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
      }
      if (const auto finished = window.take_finished(1 + random_below(random, 3))) {
        for (const auto& [offset, result] : finished->outcomes) taken.push_back(offset);
        EXPECT_EQ(finished->next, taken.back() + 1);
      }
    }
    for (size_t at = 0; at < taken.size(); ++at) EXPECT_EQ(taken[at], static_cast<int64_t>(at));
  }
}

TEST(Resumption, BeginsWhereTheGroupCommitted) {
  const SettledOffsets settled{90, {{95, 99}}};
  const Resumption usual = resume("t", 0, 92, 10, 200, settled);
  EXPECT_FALSE(usual.refused);
  EXPECT_EQ(usual.from, 92);
  EXPECT_EQ(resume("t", 0, -1, 3, 200, SettledOffsets{}).from, 3) << "a new group reads everything";
  // Killed before its first commit: what was appended is known, and nothing is missing.
  EXPECT_FALSE(resume("t", 0, -1, 0, 5, (SettledOffsets{0, {{0, 2}}})).refused);
  EXPECT_EQ(resume("t", 0, 92, 110, 200, settled).expired, 18);
}

TEST(Resumption, ATopicThatWasCreatedAgainIsNotConsumed) {
  const SettledOffsets settled{90, {{95, 99}}};
  const auto shorter = resume("demo.requests", 3, -1, 0, 5, settled).refused;
  ASSERT_TRUE(shorter);
  EXPECT_NE(shorter->find("partition 3 of demo.requests"), std::string::npos) << *shorter;
  EXPECT_NE(shorter->find("--requests-topic"), std::string::npos) << *shorter;
  EXPECT_TRUE(resume("t", 0, 99, 0, 99, settled).refused) << "even if a position was set by hand";
  EXPECT_FALSE(resume("t", 0, 99, 0, 100, settled).refused);
  const auto longer = resume("t", 0, -1, 0, 1000, settled).refused;
  ASSERT_TRUE(longer) << "it has grown beyond the mark, but its group has lost its position";
  EXPECT_NE(longer->find("--reset-offsets"), std::string::npos) << *longer;
}

}  // namespace
}  // namespace shiplog::requests
