#include "services/roles/recorder/correlation.h"

#include <algorithm>
#include <list>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "events/base/random.h"

namespace shiplog::recorder {
namespace {

constexpr UtcMillis kStart{1'700'000'000'000};
constexpr Millis kSecond{1000}, kMinute{60'000};

EventDraft draft(const std::string& message, const std::string& name = "web", const char* component = "scheduler",
                 const char* reason = "Placed", bool warning = false) {
  return {Value::object({{"apiVersion", "apps/v1"},
                         {"kind", "Deployment"},
                         {"metadata", Value::object({{"name", name}, {"namespace", "shop"}, {"uid", "uid-" + name}})}}),
          component, warning, reason, message};
}

class EventCorrelationTest : public ::testing::Test {
 protected:
  std::optional<Correlated> correlate(EventDraft one) {
    auto correlated = correlation.correlate(one, now, now);
    written = one.message;
    return correlated;
  }
  Hash128 identity(EventDraft one) { return correlate(std::move(one)).value().identity; }
  void wait(Millis time) { now = now + time; }

  EventCorrelation correlation{CorrelationLimits{.burst = 1000}};
  UtcMillis now = kStart;
  std::string written;  // the message of the last one
};

TEST_F(EventCorrelationTest, EventsOfTheSameWordsAreOneWhateverTheTimeBetween) {
  const Hash128 first = identity(draft("a"));
  wait(Millis{3'600'000});
  EXPECT_EQ(identity(draft("a")), first);
  EXPECT_EQ(written, "a");
}

TEST_F(EventCorrelationTest, WhatDiffersInAnythingIsAnother) {
  const std::set<Hash128> identities{
      identity(draft("a")),
      identity(draft("b")),
      identity(draft("a", "api")),
      identity(draft("a", "web", "taint-manager")),
      identity(draft("a", "web", "scheduler", "Failed")),
      identity(draft("a", "web", "scheduler", "Placed", true)),
  };
  EXPECT_EQ(identities.size(), 6U);
}

TEST_F(EventCorrelationTest, FromTheTenthMessageOnSimilarEventsAreCombined) {
  std::set<Hash128> identities;
  for (int i = 1; i <= 9; ++i) {
    identities.insert(identity(draft(std::to_string(i))));
    EXPECT_EQ(written, std::to_string(i));
    wait(kMinute);
  }
  EXPECT_EQ(identities.size(), 9U);
  const Hash128 combined = identity(draft("10"));
  EXPECT_EQ(written, "(combined from similar events): 10");
  EXPECT_FALSE(identities.contains(combined));
  EXPECT_EQ(identity(draft("11")), combined);
  EXPECT_EQ(written, "(combined from similar events): 11");
  // Others are not similar.
  for (EventDraft other :
       {draft("12", "api"), draft("12", "web", "taint-manager"), draft("12", "web", "scheduler", "Failed"),
        draft("12", "web", "scheduler", "Placed", true)}) {
    EXPECT_NE(identity(std::move(other)), combined);
    EXPECT_EQ(written, "12");
  }
}

TEST_F(EventCorrelationTest, TheSameMessageAgainAndAgainIsNotCombined) {
  const Hash128 first = identity(draft("a"));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(identity(draft(i % 2 == 0 ? "b" : "a")) == first, i % 2 == 1);
  EXPECT_EQ(written, "a");
}

TEST_F(EventCorrelationTest, TenMinutesAfterTheLastOneSimilarEventsAreCountedAnew) {
  for (int i = 1; i <= 10; ++i) correlate(draft(std::to_string(i)));
  const Hash128 combined = identity(draft("11"));
  wait(Millis{600'000});
  EXPECT_EQ(identity(draft("12")), combined) << "not longer than ten minutes";
  wait(Millis{600'001});
  EXPECT_NE(identity(draft("13")), combined);
  EXPECT_EQ(written, "13");
  for (int i = 14; i <= 21; ++i) correlate(draft(std::to_string(i)));
  EXPECT_EQ(written, "21");
  EXPECT_EQ(identity(draft("22")), combined);
}

TEST_F(EventCorrelationTest, AComponentMayReportTwentyFiveAtOnceAboutAnObjectAndThenOneInFiveMinutes) {
  correlation = EventCorrelation{};
  const Hash128 identity_of_a = identity(draft("a"));
  for (int i = 1; i < 25; ++i) EXPECT_TRUE(correlate(draft("a", "web", "scheduler", i % 2 == 0 ? "Placed" : "Failed")));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(correlate(draft("a")));
  EXPECT_TRUE(correlate(draft("a", "api"))) << "another object";
  EXPECT_TRUE(correlate(draft("a", "web", "taint-manager"))) << "another component";
  wait(Millis{299'000});
  EXPECT_FALSE(correlate(draft("a")));
  wait(kSecond);
  EXPECT_EQ(correlate(draft("a")), (Correlated{identity_of_a, 7, kStart})) << "with the six that were filtered";
  EXPECT_FALSE(correlate(draft("a")));
  wait(Millis{300'000});
  EXPECT_EQ(correlate(draft("a")).value().count, 2);
  wait(Millis{24 * 3'600'000});
  for (int i = 0; i < 25; ++i) EXPECT_EQ(correlate(draft("a")).value().count, 1) << i;
  EXPECT_FALSE(correlate(draft("a"))) << "no more than that were saved up";
}

TEST_F(EventCorrelationTest, AnEventThatWasFilteredFromItsFirstTimeOnKeepsThatTime) {
  correlation = EventCorrelation{CorrelationLimits{.burst = 1}};
  EXPECT_TRUE(correlate(draft("a")));
  wait(kMinute);
  EXPECT_FALSE(correlate(draft("b")));
  wait(Millis{300'000});
  const Correlated late = correlate(draft("b")).value();
  EXPECT_EQ(late.count, 2);
  EXPECT_EQ(late.first, kStart + kMinute);
}

TEST_F(EventCorrelationTest, AClockThatIsSetBackSavesNothingUp) {
  correlation = EventCorrelation{CorrelationLimits{.burst = 1}};
  EXPECT_TRUE(correlate(draft("a")));
  wait(Millis{-3'600'000});
  EXPECT_FALSE(correlate(draft("a")));
}

TEST_F(EventCorrelationTest, WhatWasNotSeenForLongestIsForgotten) {
  correlation = EventCorrelation{CorrelationLimits{.burst = 1, .remembered = 2}};
  EXPECT_TRUE(correlate(draft("a", "one")));
  EXPECT_TRUE(correlate(draft("a", "two")));
  EXPECT_FALSE(correlate(draft("a", "one")));
  EXPECT_TRUE(correlate(draft("a", "three")));
  EXPECT_FALSE(correlate(draft("a", "one"))) << "seen later than two";
  EXPECT_TRUE(correlate(draft("a", "two"))) << "forgotten";
}

// Against a list in which each key is looked for. Keys that want the same places come and go.
TEST(RecentValuesTest, AreThoseThatWereUsedLast) {
  for (const size_t most : {1, 2, 7, 100}) {
    RecentValues<int> values{most};
    std::list<std::pair<Hash128, int>> expected;
    SeededRandom random{most};
    for (int step = 0; step < 20'000; ++step) {
      const uint64_t number = random_below(random, 2 * most + 3);
      const Hash128 key{random_below(random, 2) == 0 ? number : number % 5 + 250, number};
      const auto known = std::ranges::find(expected, key, &std::pair<Hash128, int>::first);
      if (known == expected.end()) {
        expected.emplace_front(key, step);
        if (expected.size() > most) expected.pop_back();
      } else {
        expected.splice(expected.begin(), expected, known);
      }
      ASSERT_EQ(values.use(key, step), expected.front().second) << "of " << most << ", step " << step;
      if (random_below(random, 3) == 0) values.use(key, -1) = expected.front().second = -step;
    }
  }
}

}  // namespace
}  // namespace shiplog::recorder
