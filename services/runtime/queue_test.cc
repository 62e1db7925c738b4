#include "services/runtime/queue.h"

#include <gtest/gtest.h>

namespace shiplog {
namespace {

const ObjectKey kA{"configmaps", "default", "a"};
const ObjectKey kB{"configmaps", "default", "b"};
constexpr UtcMillis kNow{1'000'000};

Cause cause(uint64_t revision) { return {Revision{revision}, {}, ""}; }

class QueueTest : public ::testing::Test {
 protected:
  ReconcileQueue queue;
  SeededRandom random{1};

  std::string taken(UtcMillis now) {
    const auto one = queue.take(now);
    return one ? one->key.name.str() : "";
  }
};

TEST_F(QueueTest, HandsOutTriggeredKeysOnceEach) {  // S-6
  queue.wake(kA, kNow, cause(1));
  queue.wake(kA, kNow, cause(2));
  queue.wake(kB, kNow, cause(3));
  EXPECT_EQ(taken(kNow), "a");
  EXPECT_EQ(taken(kNow), "b");
  EXPECT_EQ(taken(kNow), "");
  EXPECT_EQ(queue.busy(), 2U);
}

TEST_F(QueueTest, OfDueKeysTheHighestPriorityIsFirst) {  // S-6
  const ObjectKey late{"configmaps", "default", "late"};
  queue.wake(kA, kNow, cause(1));
  queue.wake(kB, kNow + Millis{1}, cause(2), 5);
  queue.wake(late, kNow + Millis{9}, cause(3), 7);
  EXPECT_EQ(taken(kNow + Millis{1}), "b");
  EXPECT_EQ(taken(kNow + Millis{1}), "a") << "what is not due yet does not hold back what is";
  EXPECT_EQ(taken(kNow + Millis{9}), "late");
}

TEST_F(QueueTest, TheDepthIsTheNumberOfKeysThatAreDueAndNotBusy) {
  EXPECT_TRUE(queue.wake(kA, kNow, cause(1)));
  EXPECT_FALSE(queue.wake(kA, kNow, cause(2))) << "it is due already";
  EXPECT_TRUE(queue.wake(kB, kNow + Millis{5}, cause(3)));
  EXPECT_EQ(queue.ready(kNow), 1U);
  EXPECT_EQ(queue.ready(kNow + Millis{5}), 2U);
  const auto first = queue.take(kNow + Millis{7});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->due, kNow);
  EXPECT_EQ(queue.ready(kNow + Millis{7}), 1U);
}

TEST_F(QueueTest, CountingTheDepthChangesNoOrder) {
  queue.wake(kA, kNow, cause(1));
  queue.wake(kB, kNow, cause(2));
  EXPECT_EQ(queue.ready(kNow), 2U);
  queue.wake(kB, kNow, cause(3), 4);
  EXPECT_EQ(taken(kNow), "b") << "it has the higher priority now";
  EXPECT_EQ(taken(kNow), "a");
}

TEST_F(QueueTest, AWaitingKeyTakesItsNewPriority) {
  queue.wake(kA, kNow, cause(1), 3);
  queue.wake(kB, kNow, cause(2), 2);
  queue.wake(kB, kNow, cause(3), 4);
  const auto first = queue.take(kNow);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->key, kB);
  EXPECT_EQ(first->cause.revision.value, 2U) << "it still waits for its first cause";
  EXPECT_EQ(taken(kNow), "a");
  EXPECT_EQ(queue.next_due(), std::nullopt);
}

TEST_F(QueueTest, KeepsTheFirstCauseSinceTheLastStep) {
  queue.wake(kA, kNow, cause(1));
  queue.wake(kA, kNow, cause(2));
  EXPECT_EQ(queue.take(kNow)->cause.revision.value, 1U);
}

TEST_F(QueueTest, HandsABusyKeyOutAgainOnlyAfterItIsDone) {  // S-6
  queue.wake(kA, kNow, cause(1));
  ASSERT_EQ(taken(kNow), "a");
  queue.wake(kA, kNow, cause(2));
  EXPECT_EQ(taken(kNow), "");
  EXPECT_EQ(queue.next_due(), std::nullopt);
  queue.done(kA, kNow, std::nullopt);
  const auto again = queue.take(kNow);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->cause.revision.value, 2U);
}

TEST_F(QueueTest, ForgetsAKeyThatIsDone) {
  queue.wake(kA, kNow, cause(1));
  ASSERT_EQ(taken(kNow), "a");
  queue.done(kA, kNow, std::nullopt);
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_EQ(queue.busy(), 0U);
  EXPECT_EQ(taken(kNow + Millis{1'000'000}), "");
}

TEST_F(QueueTest, HandsOutAgainWhenRequested) {
  queue.wake(kA, kNow, cause(1));
  ASSERT_EQ(taken(kNow), "a");
  queue.done(kA, kNow, kNow + Millis{50});
  EXPECT_EQ(queue.next_due(), kNow + Millis{50});
  EXPECT_EQ(taken(kNow + Millis{49}), "");
  EXPECT_EQ(taken(kNow + Millis{50}), "a");
}

TEST_F(QueueTest, ATriggerPrecedesALaterTime) {
  queue.wake(kA, kNow, cause(1));
  ASSERT_EQ(taken(kNow), "a");
  queue.done(kA, kNow, kNow + Millis{50});
  queue.wake(kA, kNow + Millis{10}, cause(2));
  EXPECT_EQ(taken(kNow + Millis{10}), "a");
  EXPECT_EQ(taken(kNow + Millis{50}), "") << "the later look is part of the same key";
}

TEST_F(QueueTest, ATriggerWhileBusyPrecedesTheTimeGivenToDone) {
  queue.wake(kA, kNow, cause(1));
  ASSERT_EQ(taken(kNow), "a");
  queue.wake(kA, kNow, cause(2));
  queue.done(kA, kNow, kNow + Millis{50});
  EXPECT_EQ(taken(kNow), "a");
}

TEST_F(QueueTest, FailuresWaitLongerEachTimeUpToHalfAMinute) {  // E-7, S-7
  queue.wake(kA, kNow, cause(1));
  UtcMillis now = kNow;
  int64_t longest = 0;
  for (int failure = 0; failure < 30; ++failure) {
    ASSERT_EQ(taken(now), "a");
    queue.retry(kA, now, random);
    const int64_t backoff = std::min<int64_t>(30'000, 20LL << std::min(failure, 12));
    const int64_t wait = (*queue.next_due() - now).value;
    EXPECT_GE(wait, backoff / 2);
    EXPECT_LE(wait, backoff);
    longest = std::max(longest, wait);
    now = *queue.next_due();
  }
  EXPECT_EQ(queue.failures(kA), 30);
  EXPECT_GT(longest, 15'000);
}

TEST_F(QueueTest, ATriggerDoesNotWaitForTheBackoff) {  // S-7
  queue.wake(kA, kNow, cause(1));
  ASSERT_EQ(taken(kNow), "a");
  queue.retry(kA, kNow, random);
  queue.wake(kA, kNow, cause(2));
  EXPECT_EQ(taken(kNow), "a");
  EXPECT_EQ(queue.failures(kA), 1) << "a look is no success yet";
}

TEST_F(QueueTest, AFailureTriggeredWhileBusyIsHandedOutAtOnce) {
  queue.wake(kA, kNow, cause(1));
  ASSERT_EQ(taken(kNow), "a");
  queue.wake(kA, kNow, cause(2));
  queue.retry(kA, kNow, random);
  EXPECT_EQ(taken(kNow), "a");
}

TEST_F(QueueTest, SuccessForgetsFailures) {  // S-7
  queue.wake(kA, kNow, cause(1));
  ASSERT_EQ(taken(kNow), "a");
  queue.retry(kA, kNow, random);
  ASSERT_EQ(taken(kNow + Millis{20}), "a");
  queue.done(kA, kNow + Millis{20}, kNow + Millis{100});
  EXPECT_EQ(queue.failures(kA), 0);
}

TEST_F(QueueTest, AnEndAfterClearIsIgnored) {
  queue.wake(kA, kNow, cause(1));
  ASSERT_EQ(taken(kNow), "a");
  queue.clear();
  queue.done(kA, kNow, kNow + Millis{1});
  queue.retry(kA, kNow, random);
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_EQ(queue.busy(), 0U);
  queue.wake(kA, kNow, cause(2));
  EXPECT_EQ(taken(kNow), "a");
}

ObjectKey numbered(int number) { return {"configmaps", "default", "n" + std::to_string(1000 + number)}; }

class UrgencyTest : public QueueTest {
 protected:
  /// What was queued at a start.
  void start(int keys) {
    for (int number = 0; number < keys; ++number) queue.wake(numbered(number), kNow, cause(1), 0, Urgency::kRoutine);
  }
};

TEST_F(UrgencyTest, ChangesComeBeforeWhatWasQueuedAtTheStart_8_3_1) {
  start(100);
  queue.wake(kB, kNow + Millis{5}, cause(2));
  queue.wake(kA, kNow + Millis{9}, cause(3));
  EXPECT_EQ(taken(kNow + Millis{9}), "b") << "within an urgency the first is first";
  EXPECT_EQ(taken(kNow + Millis{9}), "a");
  EXPECT_EQ(taken(kNow + Millis{9}), "n1000");
  EXPECT_EQ(taken(kNow + Millis{9}), "n1001");
}

TEST_F(UrgencyTest, ComesBeforeThePriorityOfTheRole_8_3_1) {
  queue.wake(kA, kNow, cause(1), 1000, Urgency::kRoutine);
  queue.wake(kB, kNow, cause(2), -5);
  EXPECT_EQ(taken(kNow), "b");
  EXPECT_EQ(taken(kNow), "a");
}

TEST_F(UrgencyTest, AWaitingKeyIsRaisedAndNeverLowered_8_3_3) {
  start(3);
  EXPECT_FALSE(queue.wake(numbered(2), kNow + Millis{1}, cause(7))) << "it was due already";
  EXPECT_FALSE(queue.wake(numbered(2), kNow + Millis{2}, cause(8), 0, Urgency::kRoutine));
  EXPECT_EQ(queue.ready(kNow, Urgency::kChange), 1U);
  EXPECT_EQ(queue.ready(kNow, Urgency::kRoutine), 2U);
  const auto first = queue.take(kNow + Millis{2});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->key, numbered(2));
  EXPECT_EQ(first->urgency, Urgency::kChange);
  EXPECT_EQ(first->due, kNow) << "it has waited since the start";
  EXPECT_EQ(first->cause.revision.value, 7U) << "its step belongs to the change, not to the start";
  EXPECT_EQ(queue.take(kNow)->key, numbered(0));
}

TEST_F(UrgencyTest, AChangeWhileItWaitsForALaterTimeIsUrgent_8_3_3) {
  start(2);
  ASSERT_EQ(taken(kNow), "n1000");
  queue.done(numbered(0), kNow, kNow + Millis{50});
  queue.wake(numbered(0), kNow + Millis{1}, cause(2));
  EXPECT_EQ(taken(kNow + Millis{1}), "n1000");
}

TEST_F(UrgencyTest, AStepAgainHasTheUrgencyOfTheFirst_8_3_1) {
  start(1);
  ASSERT_EQ(taken(kNow), "n1000");
  queue.retry(numbered(0), kNow, random);
  queue.wake(kA, kNow + Millis{1'000}, cause(2));
  EXPECT_EQ(taken(kNow + Millis{1'000}), "a") << "what was routine and failed is routine";
  queue.retry(kA, kNow + Millis{1'000}, random);
  EXPECT_EQ(queue.ready(kNow + Millis{3'000}, Urgency::kChange), 1U);
}

TEST_F(UrgencyTest, AChangeWhileBusyMakesTheNextStepUrgent_8_3_3) {
  start(2);
  ASSERT_EQ(taken(kNow), "n1000");
  queue.wake(numbered(0), kNow, cause(2));
  queue.wake(numbered(0), kNow, cause(3), 0, Urgency::kRoutine);
  queue.retry(numbered(0), kNow, random);
  EXPECT_EQ(taken(kNow), "n1000");
}

TEST_F(UrgencyTest, ChangesWithoutEndDoNotStarveTheRest) {
  start(50);
  int routine = 0;
  for (int turn = 0; turn < 400; ++turn) {
    queue.wake(kA, kNow, cause(2));
    const auto next = queue.take(kNow);
    ASSERT_TRUE(next);
    if (next->urgency == Urgency::kRoutine) ++routine;
    queue.done(next->key, kNow, std::nullopt);
  }
  EXPECT_EQ(routine, 50) << "every eighth";
}

TEST_F(UrgencyTest, RoutineCanBeLeftWaiting) {
  start(2);
  EXPECT_EQ(queue.take(kNow, false), std::nullopt);
  EXPECT_EQ(queue.next_due(false), std::nullopt) << "nothing that could be taken";
  EXPECT_EQ(queue.next_due(), kNow);
  ASSERT_EQ(taken(kNow), "n1000");
  EXPECT_EQ(queue.counted(kNow).routine, 1U);
  queue.wake(kA, kNow, cause(2));
  EXPECT_EQ(queue.next_due(false), kNow);
  EXPECT_EQ(queue.take(kNow, false)->key, kA);
  EXPECT_EQ(queue.counted(kNow).routine, 1U);
  queue.done(numbered(0), kNow, std::nullopt);
  EXPECT_EQ(queue.counted(kNow).routine, 0U);
  EXPECT_EQ(queue.busy(), 1U);
}

TEST_F(UrgencyTest, TheOrderDependsOnTheCallsAlone) {
  const auto order = [](uint64_t seed) {
    ReconcileQueue one;
    SeededRandom calls{seed};
    SeededRandom jitter{7};
    std::string taken;
    UtcMillis now = kNow;
    for (int step = 0; step < 2'000; ++step) {
      const ObjectKey key = numbered(static_cast<int>(random_below(calls, 40)));
      const auto urgency = random_below(calls, 2) == 0 ? Urgency::kRoutine : Urgency::kChange;
      one.wake(key, now, cause(1), static_cast<int64_t>(random_below(calls, 3)), urgency);
      now = now + Millis{static_cast<int64_t>(random_below(calls, 5))};
      const auto next = one.take(now);
      if (!next) continue;
      taken += next->key.name + " ";
      if (random_below(calls, 3) == 0) {
        one.retry(next->key, now, jitter);
      } else {
        one.done(next->key, now, std::nullopt);
      }
    }
    return taken;
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

/// Keys whose namespace is that of a member.
class LaneTest : public ::testing::Test {
 protected:
  ReconcileQueue queue{[](const ObjectKey& key) { return key.ns.str(); }};
  SeededRandom random{1};

  static ObjectKey of(const std::string& member, size_t number) {
    return {"configmaps", member, std::to_string(1'000 + number)};
  }
  void wake(const std::string& member, size_t keys, UtcMillis now, Urgency urgency = Urgency::kChange) {
    for (size_t number = 0; number < keys; ++number) queue.wake(of(member, number), now, cause(1), 0, urgency);
  }
  size_t take_all(UtcMillis now) {
    size_t count = 0;
    while (queue.take(now)) ++count;
    return count;
  }
};

TEST_F(LaneTest, TheStepsOfALaneCountUntilOneHasTakenASecond) {
  wake("m1", 20, kNow);
  wake("m2", 3, kNow);
  EXPECT_EQ(take_all(kNow), 23U) << "none of them is slow yet";
  EXPECT_EQ(queue.counted(kNow + Millis{999}).all, 23U);
  queue.done(of("m2", 0), kNow + Millis{500}, std::nullopt);
  queue.done(of("m2", 1), kNow + Millis{500}, std::nullopt);
  queue.done(of("m2", 2), kNow + Millis{500}, std::nullopt);
  EXPECT_EQ(queue.counted(kNow + ReconcileQueue::kSlow).all, 0U);
  EXPECT_EQ(queue.busy(), 20U);
}

TEST_F(LaneTest, OfASlowLaneFewKeysAreHandedOutAndNoneOfThemCounts) {
  wake("m1", 1, kNow);
  EXPECT_EQ(take_all(kNow), 1U);
  const UtcMillis later = kNow + ReconcileQueue::kSlow;
  wake("m1", 100, later);
  wake("m2", 100, later, Urgency::kRoutine);
  EXPECT_EQ(take_all(later), ReconcileQueue::kMostOfSlowLane - 1 + 100) << "the first one of m1 is busy";
  EXPECT_EQ(queue.counted(later).all, 100U) << "those of m2";
  EXPECT_EQ(queue.counted(later).routine, 100U);
  EXPECT_EQ(queue.ready(later), 92U + 0U) << "they are due";
  EXPECT_EQ(queue.backlog(later).keys, 92U);
  EXPECT_EQ(queue.next_due(), std::nullopt) << "but none can be taken";
}

TEST_F(LaneTest, TheEndOfAStepOfASlowLaneLetsTheNextKeyBegin) {
  wake("m1", 12, kNow);
  for (size_t step = 0; step < 8; ++step) ASSERT_TRUE(queue.take(kNow));
  const UtcMillis later = kNow + Millis{10'000};
  EXPECT_EQ(take_all(later), 0U);
  queue.wake({"configmaps", "m1", "routine"}, later, cause(1), 0, Urgency::kRoutine);
  EXPECT_EQ(take_all(later), 0U);
  queue.retry(of("m1", 0), later, random);
  EXPECT_EQ(queue.take(later)->key, of("m1", 8)) << "changes before routine, in the order of their times";
  EXPECT_EQ(take_all(later), 0U);
}

TEST_F(LaneTest, ALaneIsQuickAgainWhenAStepHasEndedSoonAndNoneIsSlow) {
  wake("m1", 20, kNow);
  for (size_t step = 0; step < 2; ++step) ASSERT_TRUE(queue.take(kNow));
  const UtcMillis later = kNow + Millis{5'000};
  EXPECT_EQ(take_all(later), 6U);
  queue.done(of("m1", 2), later, std::nullopt);  // ends soon, but two still wait for the member
  EXPECT_EQ(take_all(later), 1U);
  queue.done(of("m1", 0), later, std::nullopt);
  queue.done(of("m1", 1), later, std::nullopt);
  EXPECT_EQ(take_all(later), 2U) << "it is slow until a step proves the contrary";
  EXPECT_EQ(queue.counted(later).all, 0U);
  queue.done(of("m1", 3), later, std::nullopt);
  EXPECT_EQ(take_all(later), 9U) << "all that were left";
  EXPECT_EQ(queue.counted(later).all, queue.busy());
  EXPECT_EQ(queue.busy(), 16U);
}

TEST_F(LaneTest, AKeyThatIsHeldBackCanBeRaisedAndIsForgottenWithTheRest) {
  wake("m1", 10, kNow, Urgency::kRoutine);
  for (size_t step = 0; step < 8; ++step) ASSERT_TRUE(queue.take(kNow));
  const UtcMillis later = kNow + Millis{2'000};
  EXPECT_EQ(take_all(later), 0U);
  EXPECT_EQ(queue.ready(later, Urgency::kRoutine), 2U);
  queue.wake(of("m1", 9), later, cause(7));
  EXPECT_EQ(queue.ready(later, Urgency::kChange), 1U);
  EXPECT_EQ(queue.ready(later, Urgency::kRoutine), 1U);
  queue.done(of("m1", 0), later, std::nullopt);
  const auto raised = queue.take(later);
  ASSERT_TRUE(raised);
  EXPECT_EQ(raised->key, of("m1", 9));
  EXPECT_EQ(raised->cause, cause(7));
  queue.clear();
  EXPECT_EQ(queue.ready(later), 0U);
  EXPECT_EQ(queue.counted(later).all, 0U);
  wake("m1", 10, later);
  EXPECT_EQ(take_all(later), 10U) << "whether the member is slow is forgotten too";
}

TEST_F(QueueTest, AClockThatFallsBackStillFindsTriggeredKeys) {
  queue.wake(kA, kNow, cause(1));
  const UtcMillis earlier{kNow.value - 60'000};
  queue.wake(kA, earlier, cause(2));
  EXPECT_EQ(taken(earlier), "a");
}

}  // namespace
}  // namespace shiplog
