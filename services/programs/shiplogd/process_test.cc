#include "services/programs/shiplogd/process.h"

#include <chrono>
#include <future>

#include <gtest/gtest.h>

namespace shiplog {
namespace {

TEST(StopDeadlineDeathTest, EndsAProcessThatDoesNotStop) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const StopDeadline deadline{Millis{50}};
        std::this_thread::sleep_for(std::chrono::minutes{10});
      },
      ::testing::ExitedWithCode(1), "");
}

TEST(StopDeadline, LeavesAProcessThatStopsInTimeAlone) { const StopDeadline deadline{Millis{600'000}}; }

TEST(Stuck, ReportsHowLongTheLoopHasWorkedOnOneCallback) {
  ThreadLoop loop;
  std::promise<void> begun;
  std::promise<void> released;
  loop.post([&] {
    begun.set_value();
    released.get_future().wait();
  });
  begun.get_future().wait();
  while (loop.busy_for() < Millis{5}) std::this_thread::yield();
  EXPECT_NE(stuck(loop, Millis{1}).find("the fold thread has been working on one thing for "), std::string::npos);
  EXPECT_EQ(stuck(loop, Millis{600'000}), "");
  released.set_value();
}

}  // namespace
}  // namespace shiplog
