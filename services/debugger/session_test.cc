#include "services/debugger/session.h"

#include <gtest/gtest.h>

#include "tests/support/golden_journal.h"

namespace shiplog::debugger {
namespace {

const std::vector<std::string>& conditions() {
  static const std::vector<std::string> all = {
      "decision",
      "refused",
      "family scheduling",
      "event WorkRendered or event TaintAdded",
      "binding */* gains m*",
      "object Deployment default/web exists",
      "not object Deployment default/web exists",
      "revision >= 40",
      "object Cluster m1 .spec.taints exists",
      "changes Cluster *",
      "object Deployment default/web .spec.replicas > 2 and not binding * placed on m1",
      "offset == 77"};
  return all;
}

class SessionConditions : public ::testing::TestWithParam<size_t> {};

TEST_P(SessionConditions, StopAtTheSameEntriesInBothDirections) {
  const std::string& text = conditions()[GetParam()];
  const auto records = golden_records(7);
  const BreakCondition condition = BreakCondition::parse(text).value();
  // One entry after the other, and each time looked up anew.
  std::vector<size_t> expected;
  {
    JournalTimeline timeline = timeline_of(journal_with(records));
    bool before = condition.holds(timeline.moment());
    while (timeline.forward().value()) {
      const bool now = condition.holds(timeline.moment());
      if (now && !(before && condition.about_state_only())) expected.push_back(timeline.position());
      before = now;
    }
  }
  for (const size_t keep_every : {size_t{5}, size_t{64}, size_t{4096}}) {
    Session session{timeline_of(journal_with(records), {keep_every, 1'000'000})};
    session.add_breakpoint(condition);
    std::vector<size_t> forwards;
    while (session.resume(true).value().reason == Stop::Reason::kCondition) {
      forwards.push_back(session.timeline().position());
    }
    EXPECT_EQ(forwards, expected) << text;
    std::vector<size_t> backwards;
    while (session.resume(false).value().reason == Stop::Reason::kCondition) {
      backwards.insert(backwards.begin(), session.timeline().position());
    }
    EXPECT_EQ(session.timeline().position(), 0U);
    // The end is not passed again on the way back if it is a hit.
    if (!expected.empty() && expected.back() == records.size()) expected.pop_back();
    EXPECT_EQ(backwards, expected) << text << ", a state kept every " << keep_every;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SessionConditions, ::testing::Range(size_t{0}, conditions().size()));

TEST(Session, EveryConditionOfTheTestHoldsSomewhere) {
  for (const std::string& text : conditions()) {
    Session session{timeline_of(journal_with(golden_records(7)))};
    EXPECT_EQ(session.resume_until(BreakCondition::parse(text).value(), true).value().reason, Stop::Reason::kCondition)
        << text;
  }
}

TEST(Session, GoesByRevisionInBothDirections) {
  Session session{timeline_of(journal_with(golden_records(7)))};
  ASSERT_TRUE(session.go_to_revision(Revision{50}));
  const size_t first = session.timeline().position();
  EXPECT_GE(session.state().revision(), Revision{50});
  EXPECT_LT(session.timeline().mark(first - 1).revision, Revision{50}) << "the entry that reached it";
  const Revision here = session.state().revision();
  ASSERT_TRUE(session.step_revision());
  EXPECT_GT(session.state().revision(), here);
  ASSERT_TRUE(session.step_revision_back());
  EXPECT_EQ(session.state().revision(), here);
  EXPECT_EQ(session.timeline().position(), first);
  ASSERT_TRUE(session.go_to_end());
  ASSERT_TRUE(session.go_to_revision(Revision{50}));
  EXPECT_EQ(session.timeline().position(), first) << "also when it is known already";
  EXPECT_EQ(session.go_to_revision(Revision{1'000'000}).error().code, ErrorCode::kGone);
}

TEST(Session, GoesByOffsetTimeAndEntry) {
  Session session{timeline_of(journal_with(golden_records(7)))};
  ASSERT_TRUE(session.go_to_offset(Offset{42}));
  EXPECT_EQ(session.timeline().position(), 43U);
  const UtcMillis time = session.timeline().record().entry->time;
  ASSERT_TRUE(session.go_to_time(time));
  const size_t last = session.timeline().position();
  EXPECT_LE(session.timeline().mark(last).time, time);
  EXPECT_GE(last, 43U);
  ASSERT_TRUE(session.step(1));
  EXPECT_GT(session.timeline().record().entry->time, time);
  ASSERT_TRUE(session.go_to_time(UtcMillis{0}));
  EXPECT_EQ(session.timeline().position(), 0U);
  EXPECT_EQ(session.go_to_offset(Offset{100'000}).error().code, ErrorCode::kGone);
  EXPECT_EQ(session.step_back(1'000'000).value().reason, Stop::Reason::kBeginning);
  EXPECT_EQ(session.step(1'000'000).value().reason, Stop::Reason::kEnd);
}

TEST(Session, AnInterruptEndsARunAndLeavesTheCursorUsable) {
  Session session{timeline_of(journal_with(golden_records(7)))};
  ASSERT_TRUE(session.go_to_position(100));
  session.interrupt();
  EXPECT_EQ(session.resume(true).value().reason, Stop::Reason::kInterrupted);
  EXPECT_EQ(session.resume(false).value().reason, Stop::Reason::kInterrupted);
  EXPECT_EQ(session.timeline().position(), 100U);
  session.clear_interrupt();
  EXPECT_EQ(session.resume(true).value().reason, Stop::Reason::kEnd);
}

TEST(Session, DeletedBreakpointsDoNotStop) {
  Session session{timeline_of(journal_with(golden_records(7)))};
  const int number = session.add_breakpoint(BreakCondition::parse("decision").value());
  EXPECT_EQ(session.resume(true).value().breakpoints, std::vector<int>{number});
  EXPECT_TRUE(session.delete_breakpoint(number));
  EXPECT_FALSE(session.delete_breakpoint(number));
  EXPECT_EQ(session.resume(true).value().reason, Stop::Reason::kEnd);
}

}  // namespace
}  // namespace shiplog::debugger
