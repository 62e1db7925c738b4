#include "events/base/paced_time.h"

#include <gtest/gtest.h>

namespace shiplog {
namespace {

using namespace std::chrono_literals;

constexpr auto kStart = 1'700'000'000s;

TEST(PacedTime, AgreesWithTheMachinesClock) {
  PacedTime time;
  EXPECT_EQ(time.at(kStart, 50s), kStart);
  EXPECT_EQ(time.at(kStart + 10s, 60s), kStart + 10s);
  EXPECT_EQ(time.at(kStart + 10s, 60s), kStart + 10s);
}

TEST(PacedTime, ComesNearerToAClockThatWasSetForwardWithoutAJump) {
  PacedTime time;
  time.at(kStart, 50s);
  EXPECT_EQ(time.at(kStart + 1h, 50s), kStart);
  EXPECT_EQ(time.at(kStart + 1h + 4s, 54s), kStart + 5s);
  EXPECT_EQ(time.at(kStart + 1h + 3600s * 4, 50s + 3600s * 4), kStart + 1h + 3600s * 4);
}

TEST(PacedTime, GoesOnWhenTheClockWasSetBack) {
  PacedTime time;
  time.at(kStart, 50s);
  EXPECT_EQ(time.at(kStart - 1h, 50s), kStart);
  EXPECT_EQ(time.at(kStart - 1h + 4s, 54s), kStart + 3s);
  EXPECT_EQ(time.at(kStart - 1h + 3600s * 4, 50s + 3600s * 4), kStart - 1h + 3600s * 4);
}

TEST(PacedTime, DoesNotGoBackWhenReadingsAreOutOfOrder) {
  PacedTime time;
  time.at(kStart, 50s);
  time.at(kStart + 10s, 60s);
  EXPECT_EQ(time.at(kStart + 9s, 59s), kStart + 10s);
  EXPECT_EQ(time.at(kStart + 11s, 61s), kStart + 11s);
}

// Read every few nanoseconds, as from many threads, it must not fall behind by rounding.
TEST(PacedTime, IsExactHoweverOftenItIsRead) {
  PacedTime time;
  time.at(kStart, 50s);
  std::chrono::nanoseconds passed{0};
  for (int i = 0; i < 100'000; ++i) time.at(kStart + ++passed, 50s + passed);
  EXPECT_EQ(time.at(kStart + passed, 50s + passed), kStart + passed);
}

}  // namespace
}  // namespace shiplog
