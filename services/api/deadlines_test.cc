#include "services/api/deadlines.h"

#include <gtest/gtest.h>

#include "services/runtime/manual_executor.h"

namespace shiplog::api {
namespace {

TEST(Deadlines, AnAnswerInTimeIsPassedOnOnce) {
  ManualExecutor executor;
  const auto deadlines = std::make_shared<Deadlines>(executor);
  int answered = 0;
  const auto done = deadlines->guard(Millis{1000}, [&](const Result<Outcome>& outcome) {
    EXPECT_TRUE(outcome.has_value());
    ++answered;
  });
  executor.run(Millis{900});
  done(Outcome{});
  executor.run(Millis{10'000});
  done(Outcome{});
  EXPECT_EQ(answered, 1);
}

TEST(Deadlines, AfterTheTimeTheClientHearsThatTheOutcomeIsNotKnown) {
  ManualExecutor executor;
  const auto deadlines = std::make_shared<Deadlines>(executor);
  std::vector<ErrorCode> answers;
  const auto hear = [&](const Result<Outcome>& outcome) { answers.push_back(outcome.error().code); };
  const auto late = deadlines->guard(Millis{5000}, hear);
  const auto later = deadlines->guard(Millis{60'000}, hear);
  executor.run(Millis{6000});
  EXPECT_EQ(answers, std::vector<ErrorCode>{ErrorCode::kTimeout});
  late(Outcome{});  // stored after all: that is not told any more
  EXPECT_EQ(answers.size(), 1U);
  executor.run(Millis{60'000});
  EXPECT_EQ(answers.size(), 2U);
}

}  // namespace
}  // namespace shiplog::api
