#include "services/api/sql/reading_turns.h"

#include <gtest/gtest.h>

namespace shiplog::api {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ReadingTurns, StatementsThatOverlapWithoutEndGetABreak) {
  ReadingTurns turns;
  const ReadingTurns::Time start{seconds{1000}};
  ReadingTurns::Time now = start;
  turns.begin(now);
  // Each begins before the one before it has ended.
  while (turns.may_begin(now)) {
    turns.begin(now);
    now += seconds{3};
    turns.end(now);
    ASSERT_LT(now - start, seconds{60}) << "without an end";
  }
  turns.end(now);
  EXPECT_FALSE(turns.may_begin(now));
  EXPECT_FALSE(turns.may_begin(now + ReadingTurns::kBreak - milliseconds{1}));
  EXPECT_TRUE(turns.may_begin(now + ReadingTurns::kBreak));
}

TEST(ReadingTurns, ShortStatementsDoNotWait) {
  ReadingTurns turns;
  ReadingTurns::Time now{seconds{1000}};
  for (int round = 0; round < 1000; ++round) {
    ASSERT_TRUE(turns.may_begin(now));
    turns.begin(now);
    ASSERT_TRUE(turns.may_begin(now)) << "two read at a time";
    now += milliseconds{50};
    turns.end(now);
  }
}

}  // namespace
}  // namespace shiplog::api
