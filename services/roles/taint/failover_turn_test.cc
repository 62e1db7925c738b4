// Evictions of application failover in the turn of all evictions (decision 0073), and the queue that waits.
#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/state/binding.h"
#include "events/state/condition.h"
#include "events/state/eviction.h"
#include "events/state/eviction_record.h"
#include "events/state/failover_record.h"
#include "services/roles/application_failover/role.h"
#include "services/roles/taint/decide.h"
#include "services/roles/taint/role.h"
#include "services/runtime/metrics.h"
#include "tests/support/decided.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

/// Both roles on four clusters. Workloads tolerate to be unhealthy for 30 s.
class FailoverTurn : public ::testing::Test {
 protected:
  FailoverTurn() {
    stage.write({FoldVersionActivated{kFoldVersion}});
    stage.write({FeatureGatesSet{{"Failover", "StatefulFailoverInjection"}}});
    for (const char* name : {"m1", "m2", "m3", "m4"}) {
      stage.put(cluster_key(name), cluster_object(name));
      stage.write({ClusterConditionChanged{cluster_key(name), "Ready", "True", "ClusterReady", ""}});
    }
    stage.add(make_taint_role());
    stage.add(make_application_failover_role());
  }

  void options(const char* rate, std::vector<std::string> budget, std::vector<OptionSetting> more = {}) {
    more.push_back({"enable-no-execute-taint-eviction", {"true"}});
    more.push_back({"resource-eviction-rate", {rate}});
    more.push_back({"eviction-budget", std::move(budget)});
    ASSERT_FALSE(stage.write({OptionsSet{std::move(more)}}).refusal);
  }
  ObjectKey place(const std::string& name, const std::vector<std::string>& clusters, int64_t priority = 0) {
    stage.put({"deployments.apps", "default", name}, deployment("default", name, 2));
    std::vector<Target> targets;
    for (const std::string& cluster : clusters) targets.push_back({cluster, 1});
    Value made = binding(deployment("default", name, 2), targets);
    made.edit("metadata").edit("annotations").set(kAppliedPlacementAnnotation, "{}");
    made.edit("spec").set("propagateDeps", true);
    made.edit("spec")
        .edit("failover")
        .set("application",
             parse_json(R"({"decisionConditions": {"tolerationSeconds": 30}, "purgeMode": "Directly"})").value());
    if (priority != 0) made.edit("spec").edit("schedulePriority").set("priority", priority);
    stage.put(testing::binding_key(made), made);
    return testing::binding_key(made);
  }
  void report(const ObjectKey& key, const char* health) {
    StatusAggregated event;
    event.binding = key;
    Value all = Value::array();
    for (const Value& target : stage.state().value_of(key)["spec"]["clusters"].items()) {
      all.push_back(Value::object({{"clusterName", target["name"]}, {"health", health}}));
    }
    event.aggregated_status = std::move(all);
    stage.write({event});
  }
  void unhealthy(const std::vector<ObjectKey>& keys) {
    for (const ObjectKey& key : keys) report(key, "Unhealthy");
    stage.run(Millis{10});
  }
  void taint(const std::string& cluster) {
    stage.write({TaintAdded{cluster_key(cluster), {"fire", "", "NoExecute"}, "by hand"}});
  }
  size_t evicted() { return stage.count<EvictionStarted>(); }
  const Value& tasks(const ObjectKey& key) { return stage.state().value_of(key)["spec"]["gracefulEvictionTasks"]; }
  bool counts_down(const ObjectKey& key, const char* cluster) {
    return unhealthy_since(stage.state(), key, cluster).has_value();
  }
  std::string paused(const std::string& cluster) {
    const Value& condition = condition_of(stage.state().value_of(cluster_key(cluster)), kEvictionsPausedCondition);
    return condition.is_null() ? "" : condition["status"].str() + " " + condition["reason"].str();
  }
  /// Evictions in the entries that had any.
  std::vector<size_t> in_entries() {
    std::vector<size_t> found;
    for (const Stage::Folding& one : stage.history()) {
      size_t count = 0;
      for (const Event& event : one.entry.events) count += std::holds_alternative<EvictionStarted>(event) ? 1U : 0U;
      if (count > 0 && !one.folded.refusal) found.push_back(count);
    }
    return found;
  }

  Stage stage;
};

TEST_F(FailoverTurn, WithoutABudgetEachBeginsAtOnceAndCountsNowhere) {
  options("0", {});
  unhealthy({place("a", {"m1"}), place("b", {"m1"}), place("c", {"m2"})});
  stage.run(Millis{29'000});
  EXPECT_EQ(evicted(), 0U);
  stage.run(Millis{1100});
  EXPECT_EQ(evicted(), 3U) << "as upstream does";
  EXPECT_TRUE(stage.state().value_of(eviction_record_key()).is_null());
  const ObjectKey tainted = place("d", {"m3"});
  taint("m3");
  stage.run(Millis{1000});
  EXPECT_EQ(tasks(tainted).size(), 1U) << "they take no turn of an eviction for a taint";
}

TEST_F(FailoverTurn, WithABudgetEachCountsAndTheRestWaits) {
  options("1000", {"evictions=2", "window=1m"});
  const std::vector<ObjectKey> all{place("a", {"m1"}), place("b", {"m1"}), place("c", {"m2"})};
  unhealthy(all);
  stage.run(Millis{31'000});
  EXPECT_EQ(evicted(), 2U);
  EXPECT_EQ(paused("m1"), "");
  EXPECT_EQ(paused("m2"), "True EvictionBudgetExhausted");
  EXPECT_TRUE(counts_down(all[2], "m2")) << "its time is over, and not forgotten";
  EXPECT_FALSE(counts_down(all[0], "m1"));
  stage.run(Millis{58'000});
  EXPECT_EQ(evicted(), 2U);
  stage.run(Millis{5000});
  EXPECT_EQ(evicted(), 3U);
  EXPECT_EQ(paused("m2"), "False BudgetAvailable");
  EXPECT_EQ(tasks(all[2])[0]["reason"], Value{"ApplicationFailure"});
  EXPECT_FALSE(counts_down(all[2], "m2"));
  EXPECT_EQ(stage.count<FailoverTimerStopped>(), 3U);
  for (const Stage::Folding& one : stage.history()) {
    const auto has = [&]<class E>(E*) {
      return std::ranges::any_of(one.entry.events, [](const Event& event) { return std::holds_alternative<E>(event); });
    };
    EXPECT_EQ(has(static_cast<EvictionStarted*>(nullptr)), has(static_cast<FailoverTimerStopped*>(nullptr)))
        << "its timer stops with the same entry";
  }
}

TEST_F(FailoverTurn, ATimerAloneEvictsNothing) {
  options("1000", {"evictions=5"});
  const ObjectKey recovered = place("a", {"m1"});
  const ObjectKey unwatched = place("b", {"m1"});
  unhealthy({recovered, unwatched});
  stage.run(Millis{1000});
  stage.stop("application-failover");  // the timers stay
  report(recovered, "Healthy");
  Value changed = stage.state().value_of(unwatched);
  changed.edit("spec").set("propagateDeps", false);
  stage.put(unwatched, changed);
  stage.run(Millis{60'000});
  EXPECT_TRUE(counts_down(recovered, "m1") && counts_down(unwatched, "m1"));
  EXPECT_EQ(evicted(), 0U);
}

TEST_F(FailoverTurn, TaintsAndApplicationFailoverSpendOneBudgetByPriority) {
  options("1000", {"evictions=3", "window=1h"});
  const ObjectKey low = place("a-low", {"m1"});
  const ObjectKey high = place("b-high", {"m1"}, 100);
  unhealthy({low, high});
  const ObjectKey on_m2 = place("c-low", {"m2"});
  const ObjectKey high_on_m2 = place("d-high", {"m2"}, 100);
  stage.run(Millis{29'000});
  taint("m2");
  stage.run(Millis{500});
  EXPECT_EQ(evicted(), 2U) << "those of the taint are due first";
  stage.run(Millis{2000});
  EXPECT_EQ(evicted(), 3U);
  EXPECT_EQ(tasks(high).size(), 1U) << "the higher priority";
  EXPECT_EQ(tasks(low).size(), 0U);
  EXPECT_EQ(tasks(on_m2).size() + tasks(high_on_m2).size(), 2U);
  EXPECT_EQ(paused("m1"), "True EvictionBudgetExhausted");
}

TEST_F(FailoverTurn, TheRatePacesWorkloadsAndNotTheClustersOfOne_3_2_8) {
  options("0.5", {"evictions=100"});
  unhealthy({place("a", {"m1", "m2"}), place("b", {"m1", "m2"})});
  stage.run(Millis{30'500});
  EXPECT_EQ(in_entries(), std::vector<size_t>{2}) << "both clusters of one workload";
  stage.run(Millis{3900});
  EXPECT_EQ(in_entries(), (std::vector<size_t>{2, 2})) << "two evictions are four seconds";
}

TEST_F(FailoverTurn, AWorkloadThatRecoversWhileItWaitsStays) {
  options("1000", {"evictions=1", "window=1m"});
  const std::vector<ObjectKey> all{place("a", {"m1"}), place("b", {"m1"})};
  unhealthy(all);
  stage.run(Millis{31'000});
  EXPECT_EQ(evicted(), 1U);
  report(all[1], "Healthy");
  stage.run(Millis{20});
  EXPECT_EQ(paused("m1"), "False BudgetAvailable") << "nothing waits any more";
  stage.run(Millis{300'000});
  EXPECT_EQ(tasks(all[1]).size(), 0U);
  EXPECT_FALSE(counts_down(all[1], "m1"));
}

TEST_F(FailoverTurn, AnEvictionFromBeforeARecoveryIsRefused) {
  options("1000", {"evictions=5"});
  stage.stop("taint");
  const ObjectKey key = place("a", {"m1"});
  unhealthy({key});
  stage.run(Millis{31'000});
  const auto due = taint::decide(stage.state(), taint::evictions_key(), stage.now());
  const Decision* decision = decision_of(due);
  ASSERT_NE(decision, nullptr);
  report(key, "Healthy");
  EXPECT_TRUE(stage.write(decision->events, decision->expects).refusal);
  EXPECT_EQ(tasks(key).size(), 0U);
}

TEST_F(FailoverTurn, AReleasedClusterIsLeftWithoutBudget) {
  options("1000", {"evictions=0"});
  unhealthy({place("a", {"m1"}), place("b", {"m2"})});
  stage.run(Millis{31'000});
  EXPECT_EQ(evicted(), 0U);
  EXPECT_EQ(paused("m1"), "True EvictionBudgetExhausted");
  Value released = stage.state().value_of(cluster_key("m1"));
  released.edit("metadata").edit("annotations").set(taint::kEvictionsReleasedAnnotation, "true");
  stage.put(cluster_key("m1"), released);
  stage.run(Millis{100});
  EXPECT_EQ(evicted(), 1U);
  EXPECT_EQ(paused("m1"), "False Released");
  EXPECT_EQ(paused("m2"), "True EvictionBudgetExhausted");
}

TEST_F(FailoverTurn, ABudgetThatComesOrGoesCountsAtOnce) {
  options("1000", {});
  const std::vector<ObjectKey> all{place("a", {"m1"}), place("b", {"m1"})};
  unhealthy(all);
  stage.run(Millis{20'000});
  options("1000", {"evictions=0"});
  stage.run(Millis{60'000});
  EXPECT_EQ(evicted(), 0U);
  options("1000", {});
  stage.run(Millis{100});
  EXPECT_EQ(evicted(), 2U);
  EXPECT_EQ(paused("m1"), "False BudgetAvailable");
}

TEST_F(FailoverTurn, AShorterTolerationCountsAtOnce) {
  options("1000", {"evictions=10"});
  const ObjectKey key = place("a", {"m1"});
  unhealthy({key});
  stage.run(Millis{5000});
  Value hasty = stage.state().value_of(key);
  hasty.edit("spec").edit("failover").edit("application").edit("decisionConditions").set("tolerationSeconds", 5);
  stage.put(key, hasty);
  stage.run(Millis{200});
  EXPECT_EQ(evicted(), 1U);
}

TEST_F(FailoverTurn, WhatIsTaintedAndUnhealthyLeavesOnce) {
  options("1000", {"evictions=5"});
  const std::vector<ObjectKey> all{place("a", {"m1"}), place("b", {"m1"})};
  unhealthy(all);
  stage.run(Millis{29'000});
  stage.stop("taint");
  taint("m1");
  stage.run(Millis{2000});
  stage.add(make_taint_role());
  stage.run(Millis{100});
  EXPECT_EQ(evicted(), 2U);
  for (const ObjectKey& key : all) {
    ASSERT_EQ(tasks(key).size(), 1U);
    EXPECT_EQ(tasks(key)[0]["reason"], Value{"TaintUntolerated"});
    EXPECT_FALSE(counts_down(key, "m1"));
  }
}

TEST_F(FailoverTurn, StateThatCannotBePreservedSpendsNoBudget_3_4_3) {
  options("1000", {"evictions=1", "window=1h"});
  const ObjectKey key = place("a", {"m1"});
  Value preserving = stage.state().value_of(key);
  preserving.edit("spec")
      .edit("failover")
      .edit("application")
      .set("statePreservation",
           parse_json(R"({"rules": [{"aliasLabelName": "job-id", "jsonPath": "{ .job.id }"}]})").value());
  stage.put(key, preserving);
  const ObjectKey other = place("b", {"m1"});
  unhealthy({key, other});
  stage.run(Millis{60'000});
  EXPECT_EQ(tasks(key).size(), 0U);
  EXPECT_TRUE(counts_down(key, "m1"));
  EXPECT_EQ(tasks(other).size(), 1U);
}

TEST_F(FailoverTurn, ControllersLeaveThemOut_3_2_1) {
  options("1000", {"evictions=5"});
  unhealthy({place("a", {"m1"})});
  stage.run(Millis{10'000});
  options("1000", {"evictions=5"}, {{"controllers", {"*", "-applicationFailover"}}});
  stage.run(Millis{100'000});
  EXPECT_EQ(evicted(), 0U);
}

TEST_F(FailoverTurn, MoreThanFitIntoAnEntryFollow) {
  options("100000", {"evictions=1000"});
  std::vector<ObjectKey> all;
  for (int i = 0; i < 50; ++i) all.push_back(place("web-" + std::to_string(i), {"m1"}));
  unhealthy(all);
  stage.run(Millis{31'000});
  EXPECT_EQ(evicted(), 50U);
}

/// The value of a series; -1: it is not exported.
double value_of(const std::string& series) {
  const std::string text = "\n" + metrics::text();
  const size_t found = text.find("\n" + series + " ");
  return found == std::string::npos ? -1 : std::strtod(text.c_str() + found + series.size() + 2, nullptr);
}

TEST_F(FailoverTurn, TheQueueIsExportedByQueueAndByClusterAndKind_OBS_7) {
  const std::string depth = R"(eviction_queue_depth{name="binding-eviction"})";
  const std::string kind = R"(eviction_kind_total{member_cluster="m1",resource_kind="Deployment"})";
  options("1000", {"evictions=1", "window=1m"});
  stage.run(Millis{1});
  EXPECT_EQ(value_of(R"(eviction_queue_depth{name="cluster-binding-eviction"})"), 0);
  for (const char* name : {"a", "b", "c"}) place(name, {"m1"});
  taint("m1");
  stage.run(Millis{100});
  EXPECT_EQ(evicted(), 1U);
  EXPECT_EQ(value_of(depth), 2);
  EXPECT_EQ(value_of(kind), 2);
  stage.run(Millis{65'000});
  EXPECT_EQ(value_of(depth), 1);
  stage.run(Millis{65'000});
  EXPECT_EQ(value_of(depth), 0);
  EXPECT_EQ(value_of(kind), 0) << "upstream's drifts up when an item is added twice";
}

}  // namespace
}  // namespace shiplog
