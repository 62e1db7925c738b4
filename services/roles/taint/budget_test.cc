// When evictions begin: the rate, the budget, and what pauses them.
#include <algorithm>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/state/binding.h"
#include "events/state/condition.h"
#include "events/state/eviction.h"
#include "events/state/eviction_record.h"
#include "events/state/fleet_options.h"
#include "services/roles/taint/decide.h"
#include "services/roles/taint/role.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

class EvictionPacing : public ::testing::Test {
 protected:
  EvictionPacing() {
    stage.write({FoldVersionActivated{kFoldVersion}});
    stage.write({FeatureGatesSet{{"Failover"}}});
    options({});
    stage.add(make_taint_role());
    for (const char* name : {"m1", "m2", "m3", "m4", "m5"}) {
      stage.put(cluster_key(name), cluster_object(name));
      ready(name, "True", "ClusterReady");
    }
  }

  void options(std::vector<OptionSetting> more) {
    more.push_back({"enable-no-execute-taint-eviction", {"true"}});
    ASSERT_FALSE(stage.write({OptionsSet{std::move(more)}}).refusal);
  }
  void ready(const std::string& cluster, const char* status, const char* reason) {
    stage.write({ClusterConditionChanged{cluster_key(cluster), "Ready", status, reason, ""}});
    stage.run(Millis{100});
  }
  void place(const std::string& cluster, int count, int64_t priority = 0) {
    for (int i = 0; i < count; ++i) {
      const std::string name = cluster + "-" + std::to_string(priority) + "-" + std::to_string(i);
      Value made = binding(deployment("default", name, 1), {{cluster, 1}});
      made.edit("metadata").edit("annotations").set(kAppliedPlacementAnnotation, "{}");
      if (priority != 0) made.edit("spec").edit("schedulePriority").set("priority", priority);
      stage.put(testing::binding_key(made), made);
    }
    stage.run(Millis{100});
  }
  void taint(const std::string& cluster) {
    stage.write({TaintAdded{cluster_key(cluster), {"fire", "", "NoExecute"}, "by hand"}});
    stage.run(Millis{100});
  }
  void annotate(const std::string& cluster, const char* value) {
    Value changed = stage.state().value_of(cluster_key(cluster));
    changed.edit("metadata").edit("annotations").set(taint::kEvictionsReleasedAnnotation, value);
    stage.put(cluster_key(cluster), changed);
    stage.run(Millis{100});
  }
  size_t evicted() { return stage.count<EvictionStarted>(); }
  /// "True Reason" of the condition.
  std::string paused(const std::string& cluster) {
    const Value& condition = condition_of(stage.state().value_of(cluster_key(cluster)), kEvictionsPausedCondition);
    return condition.is_null() ? "" : condition["status"].str() + " " + condition["reason"].str();
  }

  Stage stage;
};

TEST_F(EvictionPacing, TheRateIsThatOfTheWholeFleet_2_5_7) {
  place("m1", 6);
  place("m2", 6);
  taint("m1");
  taint("m2");
  EXPECT_EQ(evicted(), 1U) << "the first one is not delayed";
  stage.run(Millis{11'000});
  EXPECT_EQ(evicted(), 6U) << "0.5 a second";
  stage.run(Millis{13'000});
  EXPECT_EQ(evicted(), 12U) << "the guide's 12 workloads in about 24 seconds";
  EXPECT_EQ(paused("m1"), "") << "what waits for its turn is not paused";
}

TEST_F(EvictionPacing, RateZeroIsOneInHalfAnHour_2_5_7) {
  options({{"resource-eviction-rate", {"0"}}});
  place("m1", 3);
  taint("m1");
  EXPECT_EQ(evicted(), 1U);
  stage.run(Millis{1'790'000});
  EXPECT_EQ(evicted(), 1U);
  stage.run(Millis{20'000});
  EXPECT_EQ(evicted(), 2U);
  options({{"resource-eviction-rate", {"10"}}});
  stage.run(Millis{1000});
  EXPECT_EQ(evicted(), 3U) << "another rate counts at once, also for what was evicted before";
}

TEST_F(EvictionPacing, AHighRateNeedsFewEntries) {
  options({{"resource-eviction-rate", {"100000"}}});
  place("m1", 1200);
  const size_t before = stage.history().size();
  taint("m1");
  EXPECT_EQ(evicted(), 1200U);
  EXPECT_LE(stage.history().size(), before + 10);
}

TEST_F(EvictionPacing, ATakeOverNeitherLosesNorRepeatsTheTurn) {
  place("m1", 4);
  taint("m1");
  stage.run(Millis{2000});
  const size_t before = evicted();
  stage.stop("taint");
  stage.add(make_taint_role());
  stage.run(Millis{1000});
  EXPECT_EQ(evicted(), before) << "the time of the last one is in the journal";
  stage.run(Millis{1000});
  EXPECT_EQ(evicted(), before + 1);
}

TEST_F(EvictionPacing, ATaintThatIsRemovedInTimeKeepsTheRest_2_5_5) {
  place("m1", 10);
  taint("m1");
  stage.run(Millis{3000});
  const size_t before = evicted();
  stage.write({TaintRemoved{cluster_key("m1"), {"fire", "", "NoExecute"}, "out"}});
  stage.run(Millis{60'000});
  EXPECT_EQ(evicted(), before);
}

class EvictionBudgets : public EvictionPacing {
 protected:
  void budget(std::vector<std::string> words) {
    options({{"resource-eviction-rate", {"1000"}}, {"eviction-budget", std::move(words)}});
  }
};

TEST_F(EvictionBudgets, PauseWhenTheWindowIsUsedUpAndResume) {
  budget({"evictions=5", "window=1m"});
  place("m1", 12);
  taint("m1");
  EXPECT_EQ(evicted(), 5U);
  EXPECT_EQ(paused("m1"), "True EvictionBudgetExhausted");
  EXPECT_EQ(stage.count<EvictionsPaused>(), 1U);
  stage.run(Millis{58'000});
  EXPECT_EQ(evicted(), 5U);
  stage.run(Millis{5000});
  EXPECT_EQ(evicted(), 10U);
  EXPECT_EQ(paused("m1"), "True EvictionBudgetExhausted") << "two still wait";
  stage.run(Millis{65'000});
  EXPECT_EQ(evicted(), 12U);
  EXPECT_EQ(paused("m1"), "False BudgetAvailable");
  EXPECT_EQ(stage.count<EvictionsPaused>(), 1U) << "once, not with each that is evicted";
  EXPECT_EQ(stage.count<EvictionsResumed>(), 1U);
}

TEST_F(EvictionBudgets, NeverMoreThanTheLimitWithinAnyWindow) {
  budget({"evictions=7", "window=1m"});
  options({{"resource-eviction-rate", {"0.9"}}, {"eviction-budget", {"evictions=7", "window=1m"}}});
  place("m1", 60);
  taint("m1");
  stage.run(Millis{400'000});
  std::vector<UtcMillis> times;
  for (const Stage::Folding& one : stage.history()) {
    for (const Event& event : one.entry.events) {
      if (std::holds_alternative<EvictionStarted>(event) && !one.folded.refusal) times.push_back(one.entry.time);
    }
  }
  ASSERT_GT(times.size(), 35U);
  for (size_t i = 7; i < times.size(); ++i) EXPECT_GE((times[i] - times[i - 7]).value, 60'000) << i;
}

TEST_F(EvictionBudgets, APriorityHasALimitOfItsOwnAndGoesFirst) {
  budget({"evictions=2", "priority>=1000:evictions=4"});
  place("m1", 3);
  place("m1", 3, 1000);
  taint("m1");
  EXPECT_EQ(evicted(), 3U);
  for (const auto& [name, object] : stage.state().objects(type::kResourceBinding)) {
    const bool high = object.value["spec"]["schedulePriority"]["priority"].as_int() == 1000;
    EXPECT_EQ(object.value["spec"]["gracefulEvictionTasks"].size(), high ? 1U : 0U) << name.name;
  }
  EXPECT_EQ(paused("m1"), "True EvictionBudgetExhausted");
}

TEST_F(EvictionBudgets, OnlyAPartOfTheFleetIsEvacuatedAtATime) {
  budget({"fraction=0.2", "window=1m"});
  place("m1", 3);
  place("m2", 3);
  taint("m1");
  taint("m2");
  EXPECT_EQ(evicted(), 3U) << "one cluster of five";
  EXPECT_EQ(paused("m1"), "");
  EXPECT_EQ(paused("m2"), "True FleetFractionReached");
  stage.run(Millis{65'000});
  EXPECT_EQ(evicted(), 6U);
  EXPECT_EQ(paused("m2"), "False BudgetAvailable");
}

TEST_F(EvictionBudgets, AnOperatorReleasesThem) {
  budget({"evictions=1", "window=24h"});
  place("m1", 5);
  place("m2", 5);
  taint("m1");
  taint("m2");
  EXPECT_EQ(evicted(), 1U);
  annotate("m2", "no");
  EXPECT_EQ(evicted(), 1U);
  annotate("m2", "true");
  EXPECT_EQ(evicted(), 6U) << "those of m2 alone";
  EXPECT_EQ(paused("m1"), "True EvictionBudgetExhausted");
  EXPECT_EQ(paused("m2"), "False Released");
  budget({"evictions=100"});
  stage.run(Millis{1000});
  EXPECT_EQ(evicted(), 10U) << "a larger budget does, too";
}

TEST_F(EvictionBudgets, AnAnnotationOfAWorkloadReleasesNothing) {
  budget({"evictions=1", "window=24h"});
  place("m1", 3);
  taint("m1");
  for (int i = 0; i < 3; ++i) {
    const ObjectKey key{type::kResourceBinding, "default", "m1-0-" + std::to_string(i) + "-deployment"};
    Value changed = stage.state().value_of(key);
    changed.edit("metadata").edit("annotations").set(taint::kEvictionsReleasedAnnotation, "true");
    stage.put(key, changed);
  }
  stage.run(Millis{60'000});
  EXPECT_EQ(evicted(), 1U);
}

TEST_F(EvictionBudgets, TheRecordStaysSmall) {
  options({{"resource-eviction-rate", {"20"}}, {"eviction-budget", {"window=1m"}}});
  place("m1", 3000);
  taint("m1");
  stage.run(Millis{180'000});
  ASSERT_EQ(evicted(), 3000U);
  EXPECT_LE(stage.state().value_of(eviction_record_key())["window"].size(), 62U);
}

TEST_F(EvictionPacing, LossOfObservationEvictsNothing) {
  options({{"resource-eviction-rate", {"1000"}}});
  for (const char* name : {"m1", "m2", "m3"}) place(name, 2);
  for (const char* name : {"m1", "m2"}) ready(name, "False", "ClusterNotReachable");
  ready("m3", "Unknown", "ClusterStatusUnknown");
  for (const char* name : {"m1", "m2", "m3"}) taint(name);
  stage.run(Millis{600'000});
  EXPECT_EQ(evicted(), 0U);
  EXPECT_EQ(paused("m1"), "True ObservationLost");
  place("m4", 2);
  taint("m4");
  EXPECT_EQ(evicted(), 2U) << "of a cluster that is observed";
  ready("m3", "True", "ClusterReady");
  stage.run(Millis{1000});
  EXPECT_EQ(evicted(), 8U) << "two of five are their own failures";
  EXPECT_EQ(paused("m1"), "False BudgetAvailable");
}

TEST_F(EvictionPacing, AnOperatorEvacuatesWhatCannotBeObserved) {
  for (const char* name : {"m1", "m2", "m3"}) ready(name, "False", "ClusterNotReachable");
  place("m1", 1);
  taint("m1");
  EXPECT_EQ(evicted(), 0U);
  annotate("m1", "true");
  EXPECT_EQ(evicted(), 1U);
}

TEST_F(EvictionPacing, ThePurgeModeOfThePolicyPrevails_2_5_6) {
  options({{"resource-eviction-rate", {"1000"}}, {"no-execute-taint-eviction-purge-mode", {"Directly"}}});
  place("m1", 3);
  const auto set = [&](const char* name, const char* failover) {
    const ObjectKey key{type::kResourceBinding, "default", name};
    Value changed = stage.state().value_of(key);
    changed.edit("spec").set("failover", parse_json(failover).value());
    stage.put(key, changed);
  };
  set("m1-0-1-deployment", R"({"cluster":{"purgeMode":"Gracefully"}})");
  set("m1-0-2-deployment", R"({"cluster":{}})");
  taint("m1");
  const auto mode = [&](const char* name) {
    return stage.state()
        .value_of({type::kResourceBinding, "default", name})["spec"]["gracefulEvictionTasks"][0]["purgeMode"]
        .str();
  };
  EXPECT_EQ(mode("m1-0-0-deployment"), "Directly");
  EXPECT_EQ(mode("m1-0-1-deployment"), "Gracefully");
  EXPECT_EQ(mode("m1-0-2-deployment"), "Gracefully") << "a section without a mode";
}

TEST_F(EvictionPacing, TolerationsThatAreScheduledLaterCount_2_5_3) {
  options({{"resource-eviction-rate", {"0"}}});
  place("m1", 2);
  taint("m1");
  ASSERT_EQ(evicted(), 1U);
  const ObjectKey second{type::kResourceBinding, "default", "m1-0-1-deployment"};
  Value tolerating = stage.state().value_of(second);
  tolerating.edit("metadata")
      .edit("annotations")
      .set(kAppliedPlacementAnnotation, R"({"clusterTolerations":[{"key":"fire","operator":"Exists"}]})");
  stage.put(second, tolerating);
  stage.run(Millis{3'700'000});
  EXPECT_EQ(evicted(), 1U);
}

TEST_F(EvictionPacing, ATaskOfAnotherWriterGetsItsTime_2_6_3) {
  place("m1", 1);
  const ObjectKey key{type::kResourceBinding, "default", "m1-0-0-deployment"};
  Value changed = stage.state().value_of(key);
  changed.edit("spec").set("gracefulEvictionTasks", Value::array({Value::object({{"fromCluster", "m2"}})}));
  stage.put(key, changed);
  stage.run(Millis{1000});
  const auto tasks = [&]() -> const Value& { return stage.state().value_of(key)["spec"]["gracefulEvictionTasks"]; };
  EXPECT_FALSE(tasks()[0]["creationTimestamp"].is_empty());
  stage.run(Millis{590'000});
  EXPECT_EQ(tasks().size(), 1U);
  stage.run(Millis{20'000});
  EXPECT_EQ(tasks().size(), 0U);
}

TEST(EvictionOptions, AreParsedOrRefusedWithASentence) {
  EXPECT_EQ(parse_eviction_rate("0.5").value(), 500'000);
  EXPECT_EQ(parse_eviction_rate("0").value(), 555) << "one in 1800 seconds";
  for (const char* wrong : {"-1", "fast", "", ".", "1e3", "0.5s"}) EXPECT_FALSE(parse_eviction_rate(wrong)) << wrong;
  const auto budget =
      parse_eviction_budget({"priority>=5:evictions=9", "evictions=3", "priority>=1000:evictions=90", "fraction=0.25"});
  ASSERT_TRUE(budget);
  EXPECT_EQ(budget.value().evictions_for(4), 3);
  EXPECT_EQ(budget.value().evictions_for(999), 9);
  EXPECT_EQ(budget.value().evictions_for(1000), 90);
  EXPECT_EQ(budget.value().most_clusters(10), 2U);
  EXPECT_EQ(budget.value().most_clusters(3), 1U) << "one always may be";
  EXPECT_EQ(budget.value().window, Millis{600'000});
  for (const char* wrong : {"evictions=", "evictions=-1", "window=0s", "window=soon", "fraction=0", "fraction=1.5",
                            "priority>=x:evictions=1", "priority>=1", "pace=3", ""}) {
    EXPECT_FALSE(parse_eviction_budget({wrong})) << wrong;
  }
  EXPECT_FALSE(parse_eviction_budget({"priority>=1:evictions=1", "priority>=1:evictions=2"}));
}

}  // namespace
}  // namespace shiplog
