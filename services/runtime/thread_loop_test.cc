#include "services/runtime/thread_loop.h"

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/spare_time.h"

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

constexpr auto kFree = [] { return true; };

/// Runs a function that returns on which thread it ran, posted by this thread in its spare time.
std::thread::id where_it_runs(ThreadLoop& loop, const SpareTime::Free& free) {
  std::promise<std::thread::id> ran;
  SpareTime spare;
  loop.post([&] { ran.set_value(std::this_thread::get_id()); });
  spare.spend(free);
  return ran.get_future().get();
}

TEST(ThreadLoop, IsNotWokenForWhatAThreadWithSpareTimeCanRun) {
  ThreadLoop loop;
  // The loop's thread may not have gone to sleep yet, and then runs it.
  while (where_it_runs(loop, kFree) != std::this_thread::get_id()) std::this_thread::yield();
}

TEST(ThreadLoop, RunsItselfWhatAThreadHasNoTimeFor) {
  ThreadLoop loop;
  for (int round = 0; round < 20; ++round) {
    EXPECT_NE(where_it_runs(loop, [] { return false; }), std::this_thread::get_id());
  }
}

TEST(ThreadLoop, GoesOnWithWhatAThreadHasNoMoreTimeFor) {
  ThreadLoop loop;
  while (true) {
    std::vector<std::thread::id> ran;
    std::promise<void> last;
    SpareTime spare;
    for (int number = 0; number < 3; ++number) {
      loop.post([&, number] {
        ran.push_back(std::this_thread::get_id());
        if (number == 2) last.set_value();
      });
    }
    int asked = 0;
    spare.spend([&] { return ++asked == 1; });
    last.get_future().get();
    if (ran[0] != std::this_thread::get_id()) continue;  // the loop's thread was awake
    EXPECT_NE(ran[1], std::this_thread::get_id());
    EXPECT_EQ(ran[1], ran[2]);
    break;
  }
}

TEST(ThreadLoop, ATimerThatIsDueWhileAnotherThreadRunsSomethingRunsAfterIt) {
  ThreadLoop loop;
  while (true) {
    std::promise<void> timer_ran;
    std::vector<int> order;
    bool here = false;
    SpareTime spare;
    loop.post([&] {
      here = true;
      loop.post_after(Millis{0}, [&] {
        order.push_back(2);
        timer_ran.set_value();
      });
      // Long enough for the loop's thread to wake for it.
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
      order.push_back(1);
    });
    spare.spend(kFree);
    timer_ran.get_future().get();
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
    if (here) break;
  }
}

TEST(ThreadLoop, NothingRunsTwiceOrAtOnceOnAnyThread) {
  constexpr int kThreads = 3;
  constexpr int kPosts = 2'000;
  ThreadLoop loop;
  std::atomic<int> running{0};
  std::atomic<int> at_once{0};
  std::vector<std::vector<int>> ran(kThreads);  // by the thread that posted it
  std::promise<void> all;
  int left = kThreads * kPosts;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int number = 0; number < kPosts; ++number) {
        SpareTime spare;
        loop.post([&, thread, number] {
          if (running.fetch_add(1) != 0) ++at_once;
          ran[static_cast<size_t>(thread)].push_back(number);
          running.fetch_sub(1);
          if (--left == 0) all.set_value();
        });
        if (number % 7 == 0) loop.post_after(Millis{0}, [&] { at_once += running.load(); });
        spare.spend([&] { return number % 3 != 0; });
        if (number % 5 == 0) std::this_thread::yield();
      }
    });
  }
  all.get_future().get();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(at_once, 0);
  std::vector<int> expected(kPosts);
  for (int number = 0; number < kPosts; ++number) expected[static_cast<size_t>(number)] = number;
  for (const auto& of_thread : ran) EXPECT_EQ(of_thread, expected);
}

TEST(ThreadLoop, StopsOnceWhatAnotherThreadRunsHasEnded) {
  std::atomic<bool> ended{false};
  for (bool elsewhere = false; !elsewhere;) {
    ended = false;
    ThreadLoop loop;
    std::promise<void> begun;
    std::thread other{[&] {
      SpareTime spare;
      loop.post([&, poster = std::this_thread::get_id()] {
        elsewhere = std::this_thread::get_id() == poster;
        begun.set_value();
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
        ended = true;
      });
      spare.spend(kFree);
    }};
    begun.get_future().get();
    loop.stop();
    EXPECT_TRUE(ended);
    loop.post([] { ADD_FAILURE() << "it has stopped"; });
    other.join();
  }
}

}  // namespace
}  // namespace shiplog
