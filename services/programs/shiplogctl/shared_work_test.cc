#include "services/programs/shiplogctl/shared_work.h"

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace shiplog::ctl {
namespace {

TEST(CtlSharedWork, EachNumberIsUsedOnceWithAnyNumberOfThreads) {
  for (const size_t helpers : {size_t{0}, size_t{1}, size_t{3}}) {
    SharedWork work;
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    for (size_t number = 0; number < helpers; ++number) {
      threads.emplace_back([&] { work.help_until([&] { return over.load(); }); });
    }
    for (size_t round = 0; round < 2'000; ++round) {
      const size_t count = round % 17;
      std::vector<int> uses(count);  // not atomic: a race is reported by the sanitizer
      work.for_each(count, [&](size_t which) { ++uses[which]; });
      EXPECT_EQ(uses, std::vector<int>(count, 1));
    }
    over = true;
    work.wake();
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(CtlSharedWork, OthersTakePartWhileOneIsNotDone) {
  SharedWork work;
  std::atomic<bool> over{false};
  std::thread helper{[&] { work.help_until([&] { return over.load(); }); }};
  std::set<std::thread::id> ids;
  std::mutex mutex;
  // The first waits for the second, which another thread must begin.
  std::atomic<int> begun{0};
  work.for_each(2, [&](size_t) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
    const std::lock_guard lock{mutex};
    ids.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(ids.size(), 2U);
  over = true;
  work.wake();
  helper.join();
}

TEST(CtlSharedWork, ThereIsNothingToHelpBetweenCalls) {
  SharedWork work;
  EXPECT_FALSE(work.help());
  bool helped = true;
  work.for_each(1, [&](size_t) { helped = work.help(); });
  EXPECT_FALSE(helped) << "the only number is taken";
  EXPECT_FALSE(work.help());
}

}  // namespace
}  // namespace shiplog::ctl
