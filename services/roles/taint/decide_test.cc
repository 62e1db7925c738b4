#include "services/roles/taint/decide.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/state/binding.h"
#include "events/state/work.h"
#include "services/roles/taint/role.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

class Taints : public ::testing::Test {
 protected:
  Taints() {
    stage.add(make_taint_role());
    for (const char* name : {"m1", "m2"}) {
      stage.put(cluster_key(name), cluster_object(name));
      ready(name, "True");
    }
  }

  void ready(const std::string& cluster, const std::string& status) { condition(cluster, "Ready", status); }
  void condition(const std::string& cluster, const std::string& type, const std::string& status) {
    stage.write({ClusterConditionChanged{cluster_key(cluster), type, status, "Because", ""}});
    stage.run(Millis{100});
  }
  std::vector<std::string> taints(const std::string& cluster) {
    std::vector<std::string> keys;
    for (const Value& one : stage.state().value_of(cluster_key(cluster))["spec"]["taints"].items()) {
      keys.push_back(one["key"].str() + ":" + one["effect"].str());
    }
    std::ranges::sort(keys);
    return keys;
  }
  void taint(const std::string& cluster, const std::string& key) {
    stage.write({TaintAdded{cluster_key(cluster), {key, "", "NoExecute"}, "by hand"}});
    stage.run(Millis{100});
  }
  static Value on(const char* type, const char* op, const char* status) {
    return Value::array(
        {Value::object({{"conditionType", type}, {"operator", op}, {"statusValues", Value::array({status})}})});
  }
  void policy(const std::string& name, const Value& add, const Value& remove, const char* key = "broken",
              const Value& targets = {}) {
    Value spec = Value::object({{"addOnConditions", add},
                                {"removeOnConditions", remove},
                                {"taints", Value::array({Value::object({{"key", key}, {"effect", "NoSchedule"}})})}});
    if (!targets.is_null()) spec.set("targetClusters", targets);
    stage.put({type::kClusterTaintPolicy, "", name},
              Value::object({{"metadata", Value::object({{"name", name}})}, {"spec", spec}}));
    stage.run(Millis{1000});
  }
  ObjectKey place(const std::vector<Target>& targets, const Value& tolerations = {}) {
    Value made = binding(web, targets);
    const Value placement = Value::object({{"clusterTolerations", tolerations}});
    made.edit("metadata").edit("annotations").set(kAppliedPlacementAnnotation, to_json(placement));
    stage.put({"deployments.apps", "default", "web"}, web);
    stage.put(testing::binding_key(made), made);
    stage.run(Millis{100});
    return testing::binding_key(made);
  }
  const Value& spec(const ObjectKey& key) { return stage.state().value_of(key)["spec"]; }

  Stage stage;
  const Value web = deployment("default", "web", 2);
};

using Keys = std::vector<std::string>;
const std::string kNotReady = "cluster.karmada.io/not-ready:NoSchedule";
const std::string kUnreachable = "cluster.karmada.io/unreachable:NoSchedule";

TEST_F(Taints, FollowTheReadyCondition_TN_1) {
  EXPECT_EQ(taints("m1"), Keys{});
  ready("m1", "False");
  EXPECT_EQ(taints("m1"), Keys{kNotReady});
  ready("m1", "Unknown");
  EXPECT_EQ(taints("m1"), Keys{kUnreachable});
  ready("m1", "True");
  EXPECT_EQ(taints("m1"), Keys{});
  stage.put(cluster_key("m3"), cluster_object("m3"));
  stage.run(Millis{100});
  EXPECT_EQ(taints("m3"), Keys{kNotReady}) << "no condition yet";
  EXPECT_FALSE(stage.state().value_of(cluster_key("m3"))["spec"]["taints"][0]["timeAdded"].is_empty());  // TN-2
}

TEST_F(Taints, PolicyAddsAndRemovesOnConditions_TN_3) {  // TN-11
  policy("dns", on("Dns", "In", "False"), on("Dns", "In", "True"));
  EXPECT_EQ(taints("m1"), Keys{}) << "a condition that is not there never matches (2.4.7)";
  condition("m1", "Dns", "False");
  EXPECT_EQ(taints("m1"), Keys{"broken:NoSchedule"});
  EXPECT_EQ(taints("m2"), Keys{});
  condition("m1", "Dns", "True");
  EXPECT_EQ(taints("m1"), Keys{});
}

TEST_F(Taints, MissingConditionMatchesNotInNeither_TN_9) {
  policy("dns", on("Dns", "NotIn", "True"), {});
  EXPECT_EQ(taints("m1"), Keys{});
  condition("m1", "Dns", "Unknown");
  EXPECT_EQ(taints("m1"), Keys{"broken:NoSchedule"});
}

TEST_F(Taints, AnUnknownOperatorMakesTheListNotMatch_TN_10) {
  stage.write({ClusterConditionChanged{cluster_key("m1"), "Disk", "True", "", ""}});
  Value list = on("Disk", "In", "True");
  list.push_back(on("Disk", "Exists", "True")[0]);
  policy("p", list, Value::array());
  policy("q", on("Disk", "Is", "True"), Value::array(), "other");
  EXPECT_EQ(taints("m1"), Keys{});
}

TEST_F(Taints, EmptyListNeverMatches_TN_8) {
  policy("dns", Value::array(), Value::array());
  EXPECT_EQ(taints("m1"), Keys{});
}

TEST_F(Taints, PolicyHasItsTargets_TN_3) {
  policy("dns", on("Ready", "In", "True"), {}, "broken", Value::object({{"clusterNames", Value::array({"m2"})}}));
  EXPECT_EQ(taints("m1"), Keys{});
  EXPECT_EQ(taints("m2"), Keys{"broken:NoSchedule"});
}

TEST_F(Taints, LaterCreatedPolicyWins_TN_7) {  // TN-6
  policy("a-younger-by-name-only", on("Ready", "In", "True"), {});
  stage.run(Millis{5000});  // creation times are whole seconds
  policy("a-b", {}, on("Ready", "In", "True"));
  EXPECT_EQ(taints("m1"), Keys{});
  const size_t before = stage.history().size();
  condition("m1", "Other", "True");
  EXPECT_EQ(taints("m1"), Keys{});
  EXPECT_EQ(stage.history().size(), before + 1) << "the outcome does not flap";
}

TEST_F(Taints, TaintTakenOffByHandStaysOffUntilAConditionChanges_TN_5) {
  policy("dns", on("Ready", "In", "True"), {});
  stage.write({TaintRemoved{cluster_key("m1"), {"broken", "", "NoSchedule"}, "by hand"}});
  stage.run(Millis{10'000});
  EXPECT_EQ(taints("m1"), Keys{});
  condition("m1", "Other", "True");
  EXPECT_EQ(taints("m1"), Keys{"broken:NoSchedule"});
}

TEST_F(Taints, DeletedPolicyLeavesItsTaints_TN_12) {  // TN-5
  policy("dns", on("Ready", "In", "True"), {});
  stage.write({DeletionRequested{.object = {type::kClusterTaintPolicy, "", "dns"}}});
  stage.run(Millis{1000});
  EXPECT_EQ(taints("m1"), Keys{"broken:NoSchedule"});
}

TEST_F(Taints, UntoleratedNoExecuteEvicts_TN_19_TN_21) {
  const ObjectKey key = place({{"m1", 1}, {"m2", 1}});
  taint("m1", "fire");
  ASSERT_EQ(spec(key)["clusters"].size(), 1U);
  const Value& task = spec(key)["gracefulEvictionTasks"][0];
  EXPECT_EQ(task["fromCluster"], "m1");
  EXPECT_EQ(task["reason"], "TaintUntolerated");
  EXPECT_EQ(task["producer"], "TaintManager");
  EXPECT_EQ(task["replicas"], Value{1});
  EXPECT_TRUE(task["gracePeriodSeconds"].is_null());
}

TEST_F(Taints, NoScheduleEvictsNoBinding) {
  const ObjectKey key = place({{"m1", 1}});
  ready("m1", "False");
  EXPECT_EQ(spec(key)["clusters"].size(), 1U);
}

TEST_F(Taints, TolerationWithoutSecondsIsForEver_TN_19) {
  const ObjectKey key = place({{"m1", 1}}, Value::array({Value::object({{"key", "fire"}, {"operator", "Exists"}})}));
  taint("m1", "fire");
  stage.run(Millis{3'600'000});
  EXPECT_EQ(spec(key)["clusters"].size(), 1U);
}

TEST_F(Taints, TolerationSecondsRunFromTimeAdded_TN_19_TN_20) {  // TN-17
  const Value toleration = Value::object({{"key", "fire"}, {"operator", "Exists"}, {"tolerationSeconds", 60}});
  const ObjectKey key = place({{"m1", 1}}, Value::array({toleration}));
  taint("m1", "fire");
  stage.run(Millis{50'000});
  EXPECT_EQ(spec(key)["clusters"].size(), 1U);
  stage.write({TaintRemoved{cluster_key("m1"), {"fire", "", "NoExecute"}, "out"}});
  stage.run(Millis{50'000});
  EXPECT_EQ(spec(key)["clusters"].size(), 1U) << "taking the taint off in time cancels it";
  taint("m1", "fire");
  stage.run(Millis{61'000});
  EXPECT_EQ(spec(key)["clusters"].size(), 0U);
}

TEST_F(Taints, TolerationsAreThoseTheSchedulerWentBy_TN_18) {
  const ObjectKey key = place({{"m1", 1}});
  Value promised = stage.state().value_of(key);
  promised.edit("spec")
      .edit("placement")
      .set("clusterTolerations", Value::array({Value::object({{"key", "fire"}, {"operator", "Exists"}})}));
  stage.put(key, promised);
  Value unscheduled = binding(deployment("default", "other", 1), {{"m1", 1}});
  stage.put(testing::binding_key(unscheduled), unscheduled);
  taint("m1", "fire");
  EXPECT_EQ(spec(key)["clusters"].size(), 0U);
  EXPECT_EQ(spec(testing::binding_key(unscheduled))["clusters"].size(), 1U) << "without the annotation never";
}

class EvictionTasks : public Taints {
 protected:
  EvictionTasks() {
    key = place({{"m1", 1}, {"m2", 1}});
    taint("m1", "fire");
  }
  void health(const char* of_m2) {
    StatusAggregated event;
    event.binding = key;
    event.aggregated_status =
        Value::array({Value::object({{"clusterName", "m2"}, {"applied", true}, {"health", of_m2}})});
    stage.write({event});
    stage.run(Millis{100});
  }
  void scheduled() {
    Value seen = stage.state().value_of(key);
    seen.edit("status").set("schedulerObservedGeneration", seen["metadata"]["generation"]);
    stage.write({StatusUpdated{key, seen}});
    stage.run(Millis{100});
  }
  void set(const char* field, const Value& value) {
    Value changed = stage.state().value_of(key);
    changed.edit("spec").edit("gracefulEvictionTasks").edit_items()[0].set(field, value);
    stage.put(key, changed);
    stage.run(Millis{100});
  }
  size_t tasks() { return spec(key)["gracefulEvictionTasks"].size(); }

  ObjectKey key;
};

TEST_F(EvictionTasks, EndWhenTheRestIsHealthyAndScheduled_TN_28) {
  health("Unknown");
  scheduled();
  EXPECT_EQ(tasks(), 1U);
  health("Healthy");
  EXPECT_EQ(tasks(), 0U);
  EXPECT_EQ(stage.count<EvictionFinished>(), 1U);
}

TEST_F(EvictionTasks, WaitForTheScheduler_TN_28) {
  health("Healthy");
  EXPECT_EQ(tasks(), 1U);
  scheduled();
  EXPECT_EQ(tasks(), 0U);
}

TEST_F(EvictionTasks, EndAfterTenMinutesEvenWithoutReplacement_TN_29) {
  stage.run(Millis{590'000});
  EXPECT_EQ(tasks(), 1U);
  stage.run(Millis{20'000});
  EXPECT_EQ(tasks(), 0U);
}

TEST_F(EvictionTasks, OwnGracePeriodHasPrecedence_TN_28) {
  set("gracePeriodSeconds", 30);
  stage.run(Millis{20'000});
  EXPECT_EQ(tasks(), 1U);
  stage.run(Millis{15'000});
  EXPECT_EQ(tasks(), 0U);
}

TEST_F(EvictionTasks, DoNotEndBeforeTheirGracePeriodThoughItsBeginIsInWholeSeconds_TN_28) {
  set("gracePeriodSeconds", 30);
  const Value begin = spec(key)["gracefulEvictionTasks"].items()[0]["creationTimestamp"];
  const UtcMillis recorded_end = parse_rfc3339(begin.as_string()).value() + Millis{30'000};
  stage.run(recorded_end + Millis{900} - stage.now());
  EXPECT_EQ(tasks(), 1U) << "it may have begun almost a second after the recorded time";
  stage.run(Millis{200});
  EXPECT_EQ(tasks(), 0U);
}

TEST_F(EvictionTasks, SuppressedDeletionIsKeptForEver_TN_28) {
  set("suppressDeletion", true);
  stage.run(Millis{3'600'000});
  EXPECT_EQ(tasks(), 1U);
  set("suppressDeletion", false);
  EXPECT_EQ(tasks(), 0U) << "false is not the same as absent";
}

}  // namespace
}  // namespace shiplog
