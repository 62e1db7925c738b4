#include "services/roles/decision_metrics.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "events/explain/placement_facts.h"
#include "events/explain/policy_facts.h"
#include "services/roles/taint/decide.h"

namespace shiplog {
namespace {

const ObjectKey kBinding{type::kResourceBinding, "default", "web"};
const ObjectKey kWork{type::kWork, "karmada-es-m1", "web"};
const Error kError{ErrorCode::kUnavailable, "the member is unreachable"};

/// The value of a series; -1: it is not exported.
double value_of(const std::string& series) {
  const std::string text = "\n" + metrics::text();
  const size_t found = text.find("\n" + series + " ");
  return found == std::string::npos ? -1 : std::strtod(text.c_str() + found + series.size() + 2, nullptr);
}

double attempts(const std::string& result, const std::string& type) {
  return value_of("karmada_scheduler_schedule_attempts_total{result=\"" + result + "\",schedule_type=\"" + type +
                  "\"}");
}

class DecisionMetricsTest : public testing::Test {
 protected:
  void fold(const std::string& role, Event event, std::optional<Refusal> refusal = std::nullopt) {
    DecodedRecord record;
    record.entry.fence = {role, 1};
    record.entry.events.push_back(std::move(event));
    Folded folded;
    folded.refusal = std::move(refusal);
    metrics_.on_folded(State{}, record, folded);
  }
  static PlacementDecided placed(PlacementTrigger trigger) {
    PlacementDecided event;
    event.binding = kBinding;
    event.why.steps.emplace_back(Triggered{trigger, ""});
    return event;
  }

  bool acting_ = true;
  DecisionMetrics metrics_{[this](std::string_view) { return acting_; }};
};

TEST_F(DecisionMetricsTest, AttemptsToScheduleAreCountedByResultAndType) {
  const double reconciled = attempts("scheduled", "ReconcileSchedule");
  const double scaled = attempts("scheduled", "ScaleSchedule");
  const double refused = attempts("error", "ReconcileSchedule");
  fold("scheduler", placed(PlacementTrigger::kPlacementChanged));
  metrics_.on_step("scheduler", kBinding, 0.01, nullptr);
  fold("scheduler", placed(PlacementTrigger::kReplicasChanged));
  metrics_.on_step("scheduler", kBinding, 0.01, nullptr);
  PlacementRefused nowhere;
  nowhere.binding = kBinding;
  fold("scheduler", nowhere);
  metrics_.on_step("scheduler", kBinding, 0.01, nullptr);
  metrics_.on_step("scheduler", kBinding, 0.01, &kError);
  metrics_.on_step("scheduler", kBinding, 0.01, nullptr);  // nothing was decided
  EXPECT_EQ(attempts("scheduled", "ReconcileSchedule"), reconciled + 1);
  EXPECT_EQ(attempts("scheduled", "ScaleSchedule"), scaled + 1);
  EXPECT_EQ(attempts("error", "ReconcileSchedule"), refused + 2);
}

TEST_F(DecisionMetricsTest, WhatAnotherProcessDecidesOrTheFoldRefusesDoesNotCount) {
  const double before = attempts("scheduled", "ReconcileSchedule");
  fold("scheduler", placed(PlacementTrigger::kPlacementChanged), Refusal{ErrorCode::kConflict, "superseded"});
  metrics_.on_step("scheduler", kBinding, 0.01, nullptr);
  acting_ = false;
  fold("scheduler", placed(PlacementTrigger::kPlacementChanged));
  metrics_.on_step("scheduler", kBinding, 0.01, nullptr);
  EXPECT_EQ(attempts("scheduled", "ReconcileSchedule"), before);
}

TEST_F(DecisionMetricsTest, PoliciesAndPreemptionsAreCounted) {
  const double applied = value_of(R"(policy_apply_attempts_total{result="success"})");
  const double failed = value_of(R"(policy_apply_attempts_total{result="error"})");
  const double preempted = value_of(R"(policy_preemption_total{result="success"})");
  BindingPut bound;
  bound.binding = kBinding;
  fold("binder", bound);
  bound.why.steps.emplace_back(PolicyPreempted{});
  fold("binder", bound);
  metrics_.on_step("binder", {"deployments.apps", "default", "web"}, 0.01, &kError);
  EXPECT_EQ(value_of(R"(policy_apply_attempts_total{result="success"})"), applied + 2);
  EXPECT_EQ(value_of(R"(policy_apply_attempts_total{result="error"})"), failed + 1);
  EXPECT_EQ(value_of(R"(policy_preemption_total{result="success"})"), preempted + 1);
}

TEST_F(DecisionMetricsTest, StepsOfTheDispatcherAreDurationsByResult) {
  const double works = value_of(R"(work_sync_workload_duration_seconds_count{result="error"})");
  const double bindings = value_of(R"(binding_sync_work_duration_seconds_count{result="success"})");
  metrics_.on_step("dispatcher", kWork, 0.01, &kError);
  metrics_.on_step("dispatcher", kBinding, 0.01, nullptr);
  EXPECT_EQ(value_of(R"(work_sync_workload_duration_seconds_count{result="error"})"), works + 1);
  EXPECT_EQ(value_of(R"(binding_sync_work_duration_seconds_count{result="success"})"), bindings + 1);
}

TEST_F(DecisionMetricsTest, EvictionsAreCountedByQueueWhenTheyBegin_OBS_7) {
  const auto total = [](const std::string& name, const std::string& result) {
    return value_of("eviction_processing_total{name=\"" + name + "\",result=\"" + result + "\"}");
  };
  const auto steps = [](const std::string& name) {
    return value_of("eviction_processing_latency_seconds_count{name=\"" + name + "\"}");
  };
  const double begun = total("binding-eviction", "success");
  const double failed = total("binding-eviction", "error");
  const double observed = steps("binding-eviction");
  const double others = total("cluster-binding-eviction", "success");
  EvictionStarted evicted;
  evicted.binding = kBinding;
  fold("taint", evicted);
  evicted.cluster = "m2";
  fold("taint", evicted);
  metrics_.on_step("taint", kBinding, 0.01, nullptr);  // of the task that has ended
  EXPECT_EQ(steps("binding-eviction"), observed);
  metrics_.on_step("taint", taint::evictions_key(), 0.01, nullptr);
  metrics_.on_step("taint", taint::evictions_key(), 0.01, nullptr);  // nothing began
  EXPECT_EQ(total("binding-eviction", "success"), begun + 2);
  EXPECT_EQ(steps("binding-eviction"), observed + 1);
  EXPECT_EQ(steps("cluster-binding-eviction"), 0);
  metrics_.on_step("taint", kBinding, 0.01, &kError);
  EXPECT_EQ(total("binding-eviction", "error"), failed + 1);

  evicted.binding = {type::kClusterResourceBinding, "", "role"};
  fold("taint", evicted);
  metrics_.on_step("taint", taint::evictions_key(), 0.01, nullptr);
  EXPECT_EQ(total("cluster-binding-eviction", "success"), others + 1);
  EXPECT_EQ(steps("cluster-binding-eviction"), 1);
  fold("application-failover", evicted);
  EXPECT_EQ(total("cluster-binding-eviction", "success"), others + 1) << "it has been in no queue";
}

}  // namespace
}  // namespace shiplog
