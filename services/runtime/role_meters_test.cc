#include "services/runtime/role_meters.h"

#include <cmath>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace shiplog {
namespace {

/// The value of a series; -1: it is not exported.
double series_value(const std::string& series) {
  const std::string text = "\n" + metrics::text();
  const size_t found = text.find("\n" + series + " ");
  return found == std::string::npos ? -1 : std::strtod(text.c_str() + found + series.size() + 2, nullptr);
}

TEST(RoleMeters, ARoleIsExportedBeforeItLeads) {
  const RoleMeters meters{"waits"};
  LeaseMeter lease{"waits"};
  EXPECT_EQ(series_value(R"(leader_election_master_status{name="waits"})"), -1);
  lease.set(false);
  EXPECT_EQ(series_value(R"(leader_election_master_status{name="waits"})"), 0);
  EXPECT_EQ(series_value(R"(workqueue_retries_total{name="waits"})"), 0);
}

TEST(RoleMeters, StepsAreCountedByTheirResult) {
  RoleMeters meters{"counts"};
  using enum RoleMeters::StepResult;
  for (const auto result : {kSuccess, kSuccess, kRequeueAfter, kError}) meters.end_step(meters.begin_step(0.5), result);
  EXPECT_EQ(series_value(R"(controller_runtime_reconcile_total{controller="counts",result="success"})"), 2);
  EXPECT_EQ(series_value(R"(controller_runtime_reconcile_total{controller="counts",result="requeue_after"})"), 1);
  EXPECT_EQ(series_value(R"(controller_runtime_reconcile_total{controller="counts",result="error"})"), 1);
  EXPECT_EQ(series_value(R"(workqueue_retries_total{name="counts"})"), 1);
  EXPECT_EQ(series_value(R"(workqueue_queue_duration_seconds_sum{name="counts"})"), 2);
  EXPECT_EQ(series_value(R"(workqueue_work_duration_seconds_count{name="counts"})"), 4);
}

TEST(RoleMeters, ALeaseThatIsRetiredIsNeitherLedNorNot) {
  LeaseMeter lease{"old"};
  lease.set(true);
  EXPECT_EQ(series_value(R"(leader_election_master_status{name="old"})"), 1);
  lease.retire();
  EXPECT_TRUE(std::isnan(series_value(R"(leader_election_master_status{name="old"})"))) << "no alert is about it";
}

TEST(RoleMeters, AStepThatDoesNotEndShowsAsUnfinishedWork) {
  RoleMeters meters{"hangs"};
  EXPECT_EQ(series_value(R"(workqueue_longest_running_processor_seconds{name="hangs"})"), 0);
  const uint64_t first = meters.begin_step(0);
  const uint64_t second = meters.begin_step(0);
  const double longest = series_value(R"(workqueue_longest_running_processor_seconds{name="hangs"})");
  EXPECT_GT(longest, 0);
  EXPECT_GT(series_value(R"(workqueue_unfinished_work_seconds{name="hangs"})"), longest) << "both count";
  meters.end_step(first, RoleMeters::StepResult::kSuccess);
  EXPECT_GT(series_value(R"(workqueue_unfinished_work_seconds{name="hangs"})"), 0);
  meters.forget_step(second);
  EXPECT_EQ(series_value(R"(workqueue_unfinished_work_seconds{name="hangs"})"), 0);
}

TEST(RoleMeters, AStepThatWasForgottenIsNotCounted) {
  RoleMeters meters{"forgets"};
  const uint64_t step = meters.begin_step(0);
  meters.forget_step(step);
  EXPECT_EQ(meters.end_step(step, RoleMeters::StepResult::kSuccess), 0);
  EXPECT_EQ(series_value(R"(workqueue_work_duration_seconds_count{name="forgets"})"), 0);
}

}  // namespace
}  // namespace shiplog
