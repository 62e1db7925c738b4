#include "events/base/spare_time.h"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace shiplog {
namespace {

TEST(SpareTime, DoesWhatIsLeftToItOnceItIsSpent) {
  std::vector<std::string> done;
  SpareTime spare;
  EXPECT_TRUE(SpareTime::leave([&](const SpareTime::Free& free) { done.emplace_back(free() ? "a" : "not a"); }));
  EXPECT_TRUE(SpareTime::leave([&](const SpareTime::Free& free) { done.emplace_back(free() ? "b" : "not b"); }));
  EXPECT_TRUE(done.empty());
  int asked = 0;
  spare.spend([&] { return ++asked == 1; });
  EXPECT_EQ(done, (std::vector<std::string>{"a", "not b"}));
  EXPECT_FALSE(SpareTime::leave([](const SpareTime::Free&) {})) << "it is over";
}

TEST(SpareTime, NothingLeftIsForgotten) {
  bool free = true;
  {
    const SpareTime spare;
    EXPECT_TRUE(SpareTime::leave([&](const SpareTime::Free& is_free) { free = is_free(); }));
  }
  EXPECT_FALSE(free);
}

TEST(SpareTime, IsThatOfItsThread) {
  EXPECT_FALSE(SpareTime::leave([](const SpareTime::Free&) {}));
  const SpareTime spare;
  std::thread{[] { EXPECT_FALSE(SpareTime::leave([](const SpareTime::Free&) {})); }}.join();
}

TEST(SpareTime, WhatItDoesIsNotLeftToItAgain) {
  bool left = true;
  SpareTime spare;
  SpareTime::leave([&](const SpareTime::Free&) { left = SpareTime::leave([](const SpareTime::Free&) {}); });
  spare.spend([] { return true; });
  EXPECT_FALSE(left);
}

}  // namespace
}  // namespace shiplog
