#include "services/roles/dispatcher/reverts.h"

#include <gtest/gtest.h>

namespace shiplog::dispatcher {
namespace {

const ObjectKey kWork{"works.work.karmada.io", "karmada-es-m1", "web"};
constexpr UtcMillis kNoon{1'767'268'800'000};

TEST(Reverts, PausesDoubleUntilTheObjectIsLeftAlone) {
  Reverts reverts;
  UtcMillis now = kNoon;
  for (int time = 0; time < Reverts::kAtOnce; ++time) {
    EXPECT_EQ(reverts.pause(kWork, "m1", now), Millis{0}) << "the first times at once";
    reverts.restored(kWork, now);
  }
  int64_t expected = Reverts::kFirstPause.value;
  for (int time = 0; time < 12; ++time) {
    EXPECT_EQ(reverts.pause(kWork, "m1", now), Millis{expected}) << time;
    now = now + Millis{expected};
    EXPECT_EQ(reverts.pause(kWork, "m1", now), Millis{0}) << time;
    reverts.restored(kWork, now);
    expected = std::min(2 * expected, Reverts::kLongestPause.value);
  }
  EXPECT_EQ(reverts.calm_in(kWork, now), Reverts::kCalm);
  now = now + Reverts::kCalm;
  EXPECT_EQ(reverts.calm_in(kWork, now), Millis{0});
  EXPECT_EQ(reverts.pause(kWork, "m1", now), Millis{0});
  for (int time = 0; time < Reverts::kAtOnce; ++time) reverts.restored(kWork, now);
  EXPECT_EQ(reverts.pause(kWork, "m1", now), Reverts::kFirstPause) << "it begins anew";
}

TEST(Reverts, AMembersBudgetIsForWhatIsRestoredAgain) {
  Reverts reverts;
  const auto work = [](int number) {
    return ObjectKey{"works.work.karmada.io", "karmada-es-m1", std::to_string(number)};
  };
  constexpr int kMany = 5'000;
  for (int number = 0; number < kMany; ++number) {
    EXPECT_EQ(reverts.pause(work(number), "m1", kNoon), Millis{0}) << "a member that lost everything gets it back";
    reverts.restored(work(number), kNoon);
  }
  const UtcMillis later = kNoon + Reverts::kFirstPause;
  int allowed = 0;
  for (int number = 0; number < kMany; ++number)
    allowed += reverts.pause(work(number), "m1", later) == Millis{0} ? 1 : 0;
  EXPECT_EQ(allowed, static_cast<int>(Reverts::kMemberBurst));
  reverts.restored(kWork, kNoon);
  EXPECT_EQ(reverts.pause(kWork, "m2", later), Millis{0}) << "another member's";
}

}  // namespace
}  // namespace shiplog::dispatcher
