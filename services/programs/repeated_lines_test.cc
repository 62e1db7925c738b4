#include "services/programs/repeated_lines.h"

#include <string>

#include <gtest/gtest.h>

namespace shiplog {
namespace {

using std::chrono::seconds;

TEST(RepeatedLines, OfLinesThatDifferInCountsOneAMinuteIsNew) {
  RepeatedLines lines;
  const RepeatedLines::Time start{};
  EXPECT_TRUE(lines.is_new("b1:9092/1: Timed out 2 in-flight, 0 retry-queued (after 5001ms)", start));
  EXPECT_FALSE(lines.is_new("b1:9092/1: Timed out 11 in-flight, 3 retry-queued (after 77ms)", start + seconds{59}));
  EXPECT_TRUE(lines.is_new("b1:9092/1: Timed out 11 in-flight, 3 retry-queued (after 77ms)", start + seconds{61}));
  EXPECT_FALSE(lines.is_new("b1:9092/1: Timed out 1 in-flight, 3 retry-queued (after 9ms)", start + seconds{62}));
}

TEST(RepeatedLines, WhatIsAboutAnotherBrokerPartitionOrErrorIsNew) {
  RepeatedLines lines;
  const RepeatedLines::Time start{};
  EXPECT_TRUE(lines.is_new("10.0.0.1:9092/1: Connect to ipv4#10.0.0.1:9092 failed: Connection refused", start));
  EXPECT_TRUE(lines.is_new("10.0.0.2:9092/2: Connect to ipv4#10.0.0.2:9092 failed: Connection refused", start));
  EXPECT_TRUE(lines.is_new("10.0.0.1:9092/1: Disconnected (after 46766ms in state UP)", start));
  EXPECT_TRUE(lines.is_new("f.requests [0]: topic does not exist", start));
  EXPECT_TRUE(lines.is_new("f.requests [1]: topic does not exist", start));
  EXPECT_FALSE(lines.is_new("f.requests [1]: topic does not exist", start));
}

TEST(RepeatedLines, ManyDifferentLinesTakeABoundedPlace) {
  RepeatedLines lines;
  const RepeatedLines::Time start{};
  for (int number = 0; number < 10'000; ++number) EXPECT_TRUE(lines.is_new("line-" + std::to_string(number), start));
}

}  // namespace
}  // namespace shiplog
