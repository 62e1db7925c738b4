#include "services/runtime/thread_loop.h"

#include <future>
#include <thread>

#include <gtest/gtest.h>

namespace shiplog {
namespace {

TEST(ThreadLoop, ReportsHowLongOneTaskHasBeenRunning) {
  ThreadLoop loop;
  loop.call([] {});
  std::promise<void> begun;
  std::promise<void> released;
  loop.post([&] {
    begun.set_value();
    released.get_future().wait();
  });
  begun.get_future().wait();
  while (loop.busy_for() < Millis{20}) std::this_thread::yield();
  EXPECT_GE(loop.busy_for(), Millis{20});
  released.set_value();
  loop.call([] {});
  // The thread marks itself idle just after the last function has returned.
  while (loop.busy_for() != Millis{0}) std::this_thread::yield();
  loop.call([&] { EXPECT_LT(loop.busy_for(), Millis{10'000}) << "counted anew for each function"; });
}

}  // namespace
}  // namespace shiplog
