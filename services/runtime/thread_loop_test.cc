#include "services/runtime/thread_loop.h"

#include <array>
#include <future>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>

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

TEST(ThreadLoop, ItsThreadHasAName) {
  ThreadLoop loop;
  loop.call([] {
    std::array<char, 16> name{};
    ::pthread_getname_np(::pthread_self(), name.data(), name.size());
    EXPECT_STREQ(name.data(), "fold");
  });
}

TEST(ThreadLoop, IsIdleForTheLastThatWaits) {
  ThreadLoop loop;
  std::vector<bool> idle;
  std::promise<void> ran;
  loop.call([&] {
    idle.push_back(loop.idle());
    loop.post([&] { idle.push_back(loop.idle()); });
    loop.post([&] {
      idle.push_back(loop.idle());
      ran.set_value();
    });
    idle.push_back(loop.idle());
  });
  ran.get_future().wait();
  EXPECT_EQ(idle, (std::vector<bool>{true, false, false, true}));
}

TEST(ThreadLoop, ATimerThatIsDueBeforeTheOthersRunsBeforeThem) {
  ThreadLoop loop;
  std::promise<void> ran;
  loop.post_after(Millis{600'000}, [] {});
  loop.call([] {});  // the thread waits for that one now, or soon
  loop.post_after(Millis{5}, [&] { ran.set_value(); });
  ran.get_future().wait();
}

}  // namespace
}  // namespace shiplog
