// Graceful evictions beside the roles that they wait for: what ends one early is health of the present placement.
#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/state/binding.h"
#include "events/state/work.h"
#include "services/roles/collector/role.h"
#include "services/roles/dispatcher/role.h"
#include "services/roles/lifecycle/role.h"
#include "services/roles/taint/decide.h"
#include "services/roles/taint/role.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

class GracefulEviction : public ::testing::Test {
 protected:
  GracefulEviction() {
    stage.write({FoldVersionActivated{kFoldVersion}});
    stage.write({FeatureGatesSet{{"Failover"}}, OptionsSet{{{"enable-no-execute-taint-eviction", {"true"}}}}});
    stage.add(make_lifecycle_role());
    stage.add(make_dispatcher_role(stage.members()));
    stage.add(make_collector_role(stage.members()));
    stage.add(make_taint_role());
    for (const char* name : {"m1", "m2"}) {
      stage.members().member(name).ready_after = Millis{50};
      stage.put(cluster_key(name), cluster_object(name));
    }
    stage.run(Millis{1000});
    Value made = binding(web, {{"m1", 1}, {"m2", 1}});
    made.edit("metadata").edit("annotations").set(kAppliedPlacementAnnotation, "{}");
    stage.put(web_key, web);
    stage.put(key, made);
    stage.run(Millis{3000});
    EXPECT_EQ(health("m2"), "Healthy");
  }

  const Value& bound() { return stage.state().value_of(key); }
  size_t tasks() { return bound()["spec"]["gracefulEvictionTasks"].size(); }
  std::string health(const std::string& cluster) {
    for (const Value& one : bound()["status"]["aggregatedStatus"].items()) {
      if (one["clusterName"].as_string() == cluster) return one["health"].str();
    }
    return "";
  }
  void evict_from_m1() {
    stage.write({TaintAdded{cluster_key("m1"), {"fire", "", "NoExecute"}, "by hand"}});
    stage.run(Millis{10});
    ASSERT_EQ(tasks(), 1U);
  }
  /// What the scheduler does next.
  void schedule(int64_t replicas_on_m2) {
    PlacementDecided placed;
    placed.binding = key;
    placed.targets = {{"m2", replicas_on_m2}};
    placed.observed_generation = bound()["metadata"]["generation"].as_int();
    placed.applied_placement = "{}";
    ASSERT_FALSE(stage.write({placed}).refusal);
  }
  void ready_on_m2(int64_t replicas) {
    const Value& object = stage.members().member("m2").find(web_key);
    Value status = Value::object({{"observedGeneration", object["metadata"]["generation"]}});
    for (const char* field : {"replicas", "readyReplicas", "updatedReplicas", "availableReplicas"}) {
      status.set(field, replicas);
    }
    stage.members().member("m2").set_status(web_key, status);
  }
  int64_t replicas_on_m2() { return stage.members().member("m2").find(web_key)["spec"]["replicas"].as_int(); }

  Stage stage;
  const Value web = deployment("default", "web", 2);
  const ObjectKey web_key{"deployments.apps", "default", "web"};
  const ObjectKey key{type::kResourceBinding, "default", "web-deployment"};
};

TEST_F(GracefulEviction, HealthOfAnEarlierPlacementDoesNotEndIt) {
  stage.members().member("m2").ready_after = std::nullopt;
  evict_from_m1();
  schedule(2);
  stage.run(Millis{60'000});
  EXPECT_EQ(replicas_on_m2(), 2) << "it has been applied, and only one replica is ready";
  EXPECT_EQ(tasks(), 1U);
  ready_on_m2(1);
  stage.run(Millis{5000});
  EXPECT_EQ(tasks(), 1U);
  ready_on_m2(2);
  stage.run(Millis{5000});
  EXPECT_EQ(tasks(), 0U);
  EXPECT_EQ(stage.count<EvictionFinished>(), 1U);
}

TEST_F(GracefulEviction, AnUnreachableReplacementsLastHealthDoesNotEndIt) {
  stage.members().set_down("m2", true);
  evict_from_m1();
  schedule(2);
  stage.run(Millis{120'000});
  EXPECT_EQ(tasks(), 1U);
  stage.members().set_down("m2", false);
  stage.run(Millis{60'000});
  EXPECT_EQ(replicas_on_m2(), 2);
  EXPECT_EQ(tasks(), 0U);
}

TEST_F(GracefulEviction, WaitsForTheDispatcherToRenderThePlacement) {
  stage.stop("dispatcher");
  evict_from_m1();
  schedule(2);
  stage.run(Millis{60'000});
  EXPECT_EQ(tasks(), 1U);
  stage.add(make_dispatcher_role(stage.members()));
  stage.run(Millis{5000});
  EXPECT_EQ(tasks(), 0U);
}

TEST_F(GracefulEviction, EndsAtOnceWhereNothingChangesForTheRest) {
  stage.members().member("m2").ready_after = std::nullopt;
  evict_from_m1();
  schedule(1);
  stage.run(Millis{1000});
  EXPECT_EQ(tasks(), 0U) << "m2 has what it is to have, and was seen healthy with it";
}

TEST_F(GracefulEviction, ACollectorThatStartsAgainObservesAgain) {
  stage.stop("collector");
  evict_from_m1();
  schedule(2);
  stage.run(Millis{10'000});
  EXPECT_EQ(tasks(), 1U);
  stage.add(make_collector_role(stage.members()));
  stage.run(Millis{10'000});
  EXPECT_EQ(tasks(), 0U);
}

TEST_F(GracefulEviction, GracePeriodEndsItWithoutHealth) {
  stage.members().member("m2").ready_after = std::nullopt;
  evict_from_m1();
  schedule(2);
  stage.run(Millis{590'000});
  EXPECT_EQ(tasks(), 1U);
  stage.run(Millis{20'000});
  EXPECT_EQ(tasks(), 0U);
}

TEST_F(GracefulEviction, TheLastCopyThatRunsIsKeptWhileNoClusterFits_2_6_5) {
  evict_from_m1();
  stage.run(Millis{3'600'000});
  EXPECT_EQ(tasks(), 1U) << "the scheduler has found no place, and the copy runs";
  EXPECT_FALSE(stage.members().member("m1").find(web_key).is_null());
  schedule(2);
  stage.run(Millis{5000});
  EXPECT_EQ(tasks(), 0U) << "replaced";
  EXPECT_TRUE(stage.members().member("m1").find(web_key).is_null()) << "2.6.10";
}

TEST_F(GracefulEviction, AKeptCopyIsATargetAgainWhenItsClusterTakesIt_2_6_4) {
  evict_from_m1();
  stage.run(Millis{900'000});
  ASSERT_EQ(tasks(), 1U);
  const Value kept = stage.members().member("m1").find(web_key);
  ASSERT_FALSE(kept.is_null());
  stage.write({TaintRemoved{cluster_key("m1"), {"fire", "", "NoExecute"}, "by hand"}});
  stage.run(Millis{5000});
  EXPECT_EQ(tasks(), 0U);
  EXPECT_EQ(to_json(bound()["spec"]["clusters"]), R"([{"name":"m2","replicas":1},{"name":"m1","replicas":1}])");
  EXPECT_EQ(stage.members().member("m1").find(web_key)["metadata"]["uid"], kept["metadata"]["uid"]) << "it was deleted";
  EXPECT_EQ(stage.count<EvictionFinished>(), 1U);
}

TEST_F(GracefulEviction, AKeptCopyStaysAsItIsWhileOthersUseItsQuota_2_6_4_Q_3) {
  stage.write({FeatureGatesSet{{"Failover", "FederatedQuotaEnforcement"}}});
  Value asking = bound();
  asking.edit("spec").set("replicaRequirements", Value::object({{"resourceRequest", Value::object({{"cpu", "1"}})}}));
  stage.put(key, asking);
  const ObjectKey quota{type::kFederatedResourceQuota, "default", "q"};
  const auto limit = [&](const char* cpu) {
    stage.put(quota, Value::object({{"metadata", Value::object({{"name", "q"}, {"namespace", "default"}})},
                                    {"spec", Value::object({{"overall", Value::object({{"cpu", cpu}})}})}}));
  };
  evict_from_m1();
  limit("1");
  stage.run(Millis{900'000});
  stage.write({TaintRemoved{cluster_key("m1"), {"fire", "", "NoExecute"}, "by hand"}});
  stage.run(Millis{5000});
  EXPECT_EQ(tasks(), 1U);
  const auto decided = taint::decide(stage.state(), key, stage.now());
  ASSERT_TRUE(decided.has_value());
  EXPECT_TRUE(std::holds_alternative<LookAgain>(decided.value())) << "the fold would refuse the entry";
  EXPECT_FALSE(stage.members().member("m1").find(web_key).is_null());
  limit("2");
  stage.run(Millis{61'000});
  EXPECT_EQ(tasks(), 0U);
  EXPECT_EQ(bound()["spec"]["clusters"].size(), 2U);
}

TEST_F(GracefulEviction, WithinItsGracePeriodATaskStaysThoughItsClusterWouldTakeTheCopyAgain_2_6_4) {
  evict_from_m1();
  stage.write({TaintRemoved{cluster_key("m1"), {"fire", "", "NoExecute"}, "by hand"}});
  stage.run(Millis{590'000});
  EXPECT_EQ(tasks(), 1U);
  stage.run(Millis{20'000});
  EXPECT_EQ(tasks(), 0U);
  EXPECT_EQ(bound()["spec"]["clusters"].size(), 2U);
}

TEST_F(GracefulEviction, ACopyThatDoesNotRunIsNotKept_2_6_5) {
  evict_from_m1();
  stage.run(Millis{1000});
  stage.members().member("m1").set_status(
      web_key, Value::object({{"observedGeneration", 1}, {"replicas", 1}, {"unavailableReplicas", 1}}));
  stage.run(Millis{590'000});
  EXPECT_EQ(tasks(), 1U);
  stage.run(Millis{20'000});
  EXPECT_EQ(tasks(), 0U);
}

TEST_F(GracefulEviction, AKeptCopyGoesWhenItsClusterFails_2_6_5) {
  evict_from_m1();
  stage.run(Millis{900'000});
  ASSERT_EQ(tasks(), 1U);
  stage.members().set_down("m1", true);
  stage.run(Millis{120'000});
  EXPECT_EQ(tasks(), 0U);
}

TEST_F(GracefulEviction, AUserEndsItInAnyCase_2_6_4) {
  evict_from_m1();
  stage.run(Millis{900'000});
  ASSERT_EQ(tasks(), 1U);
  Value ended = bound();
  ended.edit("spec").edit("gracefulEvictionTasks").edit_items()[0].set("suppressDeletion", false);
  stage.put(key, ended);
  stage.run(Millis{1000});
  EXPECT_EQ(tasks(), 0U);
}

TEST_F(GracefulEviction, TheTimeoutIsAnOption) {
  stage.write({OptionsSet{{{"enable-no-execute-taint-eviction", {"true"}}, {"graceful-eviction-timeout", {"1m"}}}}});
  stage.members().member("m2").ready_after = std::nullopt;
  evict_from_m1();
  schedule(2);
  stage.run(Millis{50'000});
  EXPECT_EQ(tasks(), 1U);
  stage.run(Millis{20'000});
  EXPECT_EQ(tasks(), 0U);
}

TEST_F(GracefulEviction, AShorterTimeoutEndsWhatIsUnderWay) {
  stage.members().member("m2").ready_after = std::nullopt;
  evict_from_m1();
  schedule(2);
  stage.run(Millis{120'000});
  ASSERT_EQ(tasks(), 1U);
  stage.write({OptionsSet{{{"enable-no-execute-taint-eviction", {"true"}}, {"graceful-eviction-timeout", {"1m"}}}}});
  stage.run(Millis{1000});
  EXPECT_EQ(tasks(), 0U);
}

TEST_F(GracefulEviction, TheTaskHasThePurgeModeOfTheOption) {  // TN-21
  evict_from_m1();
  EXPECT_EQ(bound()["spec"]["gracefulEvictionTasks"][0]["purgeMode"], Value{"Gracefully"});
  stage.write({OptionsSet{
      {{"enable-no-execute-taint-eviction", {"true"}}, {"no-execute-taint-eviction-purge-mode", {"Directly"}}}}});
  stage.write({TaintAdded{cluster_key("m2"), {"fire", "", "NoExecute"}, "by hand"}});
  stage.run(Millis{2500});
  ASSERT_EQ(tasks(), 2U);
  EXPECT_EQ(bound()["spec"]["gracefulEvictionTasks"][1]["purgeMode"], Value{"Directly"});
}

TEST_F(GracefulEviction, NothingIsEvictedUnlessTheGateAndTheOptionAreOn) {  // TN-16
  const auto evicts = [&](const std::vector<std::string>& gates, const std::vector<OptionSetting>& options) {
    stage.write({FeatureGatesSet{gates}, OptionsSet{options}});
    stage.run(Millis{1000});
    return tasks() > 0;
  };
  const OptionSetting on{"enable-no-execute-taint-eviction", {"true"}};
  EXPECT_FALSE(evicts({}, {}));
  stage.write({TaintAdded{cluster_key("m1"), {"fire", "", "NoExecute"}, "by hand"}});
  EXPECT_FALSE(evicts({"Failover"}, {}));
  EXPECT_FALSE(evicts({}, {on}));
  EXPECT_FALSE(evicts({"Failover"}, {on, {"enable-taint-manager", {"false"}}}));
  EXPECT_TRUE(evicts({"Failover"}, {on})) << "the dormant taint acts as soon as both are on";
}

TEST_F(GracefulEviction, PreservesStateOfTheOldStatus_3_4_1_3_4_4) {
  const auto rules = [&](const char* path) {
    Value changed = bound();
    changed.edit("spec")
        .edit("failover")
        .set("cluster",
             Value::object({{"statePreservation", parse_json(R"({"rules":[{"aliasLabelName":"was","jsonPath":")" +
                                                             std::string{path} + "\"}]}")
                                                      .value()}}));
    stage.put(key, changed);
  };
  stage.write({FeatureGatesSet{{"Failover", "StatefulFailoverInjection"}}});
  rules("{.absent}");
  stage.write({TaintAdded{cluster_key("m1"), {"fire", "", "NoExecute"}, "by hand"}});
  stage.run(Millis{60'000});
  EXPECT_EQ(tasks(), 0U) << "3.4.3: it waits, and nothing is lost";
  rules("r{.readyReplicas}");
  stage.run(Millis{60'000});
  ASSERT_EQ(stage.count<EvictionStarted>(), 1U);
  for (const auto& one : stage.history()) {
    for (const Event& event : one.entry.events) {
      const auto* started = std::get_if<EvictionStarted>(&event);
      if (started == nullptr) continue;
      EXPECT_EQ(started->preserved_labels, Value::object({{"was", "r1"}}));
      EXPECT_TRUE(started->clusters_before.empty()) << "of application failovers only";
    }
  }
}

TEST_F(GracefulEviction, WithoutTheGateFailoverTaintPoliciesAreDormant) {  // TN-4
  stage.write({FeatureGatesSet{{}}});
  stage.put({type::kClusterTaintPolicy, "", "p"},
            Value::object({{"spec", parse_json(R"({"taints":[{"key":"sick","effect":"NoSchedule"}],
      "addOnConditions":[{"conditionType":"Ready","operator":"In","statusValues":["True","False","Unknown"]}]})")
                                        .value()}}));
  stage.run(Millis{20'000});
  const auto sick = [&] {
    return to_json(stage.state().value_of(cluster_key("m1"))["spec"]).find("sick") != std::string::npos;
  };
  EXPECT_FALSE(sick());
  stage.write({FeatureGatesSet{{"Failover"}}});
  stage.run(Millis{1000});
  EXPECT_TRUE(sick());
}

TEST_F(GracefulEviction, ATaintThatAClusterRefusesStopsNoOtherPolicy_TN_15) {
  const auto policy = [&](const char* name, const char* taints) {
    stage.put({type::kClusterTaintPolicy, "", name},
              Value::object({{"spec", parse_json(R"({"addOnConditions":[{"conditionType":"Ready","operator":"In",
                      "statusValues":["True","False","Unknown"]}],"taints":)" +
                                                 std::string{taints} + "}")
                                          .value()}}));
  };
  policy("a", R"([{"key":"soft","effect":"PreferNoSchedule"},{"key":"hard","effect":"NoSchedule"}])");
  policy("b", R"([{"key":"sick","effect":"NoSchedule"}])");
  stage.run(Millis{1000});
  const std::string spec = to_json(stage.state().value_of(cluster_key("m1"))["spec"]["taints"]);
  EXPECT_EQ(spec.find("soft"), std::string::npos) << "with it the Cluster could not be written any more";
  EXPECT_NE(spec.find("hard"), std::string::npos);
  EXPECT_NE(spec.find("sick"), std::string::npos);
  const auto again = taint::decide(stage.state(), taint::policies_key("m1"), stage.now());
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().message,
            "Update Cluster(m1) with taints failed: ClusterTaintPolicy a: taint {soft:PreferNoSchedule}: a Cluster has "
            "taints of the effects NoExecute and NoSchedule only");
}

TEST_F(GracefulEviction, ATaintWhoseKeyOrValueAClusterRefusesIsLeftOut_TN_15) {
  const auto refusal = [&](const char* taint) {
    stage.put({type::kClusterTaintPolicy, "", "a"},
              Value::object({{"spec", parse_json(R"({"addOnConditions":[{"conditionType":"Ready","operator":"In",
                      "statusValues":["True","False","Unknown"]}],"taints":[)" +
                                                 std::string{taint} + "]}")
                                          .value()}}));
    stage.run(Millis{1000});
    const auto again = taint::decide(stage.state(), taint::policies_key("m1"), stage.now());
    return again.has_value() ? "" : again.error().message;
  };
  const std::string failed = "Update Cluster(m1) with taints failed: ClusterTaintPolicy a: taint ";
  EXPECT_TRUE(refusal(R"({"key":"node down","effect":"NoSchedule"})")
                  .starts_with(failed + "{node down:NoSchedule}: spec.taints.key: name part must consist of"));
  EXPECT_TRUE(refusal(R"({"key":"down","value":"a b","effect":"NoSchedule"})")
                  .starts_with(failed + "{down=a b:NoSchedule}: spec.taints.value: a valid label must be"));
  EXPECT_TRUE(stage.state().value_of(cluster_key("m1"))["spec"]["taints"].items().empty())
      << "with it the Cluster could not be written any more";
  EXPECT_EQ(refusal(R"({"key":"example.com/down","value":"a","effect":"NoSchedule"})"), "");
  EXPECT_EQ(stage.state().value_of(cluster_key("m1"))["spec"]["taints"][0]["key"], Value{"example.com/down"});
}

TEST_F(GracefulEviction, ADirectlyTaskOutlastsTheWork_TN_33) {
  stage.write({OptionsSet{
      {{"enable-no-execute-taint-eviction", {"true"}}, {"no-execute-taint-eviction-purge-mode", {"Directly"}}}}});
  stage.members().member("m2").ready_after = std::nullopt;
  evict_from_m1();
  schedule(2);
  stage.run(Millis{60'000});
  EXPECT_TRUE(stage.state().value_of(work_key("m1", web)).is_null()) << "its Work is gone";
  EXPECT_TRUE(stage.members().member("m1").find(web_key).is_null());
  EXPECT_EQ(tasks(), 1U) << "and still the cluster is not to be selected";
  ready_on_m2(2);
  stage.run(Millis{5000});
  EXPECT_EQ(tasks(), 0U);
}

TEST_F(GracefulEviction, ThePolicysSectionAboutClustersEvictsNothingByItself_3_1_2) {
  Value made = bound();
  made.edit("spec").edit("failover").set("cluster", Value::object({{"purgeMode", "Directly"}}));
  stage.put(key, made);
  stage.write({FeatureGatesSet{{}}, OptionsSet{{{"enable-no-execute-taint-eviction", {"false"}}}}});
  stage.write({TaintAdded{cluster_key("m1"), {"fire", "", "NoExecute"}, "by hand"}});
  stage.run(Millis{60'000});
  EXPECT_EQ(tasks(), 0U);
  stage.write({FeatureGatesSet{{"Failover"}}, OptionsSet{{{"enable-no-execute-taint-eviction", {"true"}}}}});
  stage.run(Millis{1000});
  ASSERT_EQ(tasks(), 1U);
  EXPECT_EQ(bound()["spec"]["gracefulEvictionTasks"][0]["purgeMode"], Value{"Directly"}) << "of the policy";
}

TEST_F(GracefulEviction, JournalsOfEarlierBuildsDecideAsBefore) {
  Stage old;
  Value made = binding(web, {{"m2", 1}});
  made.edit("spec").set(
      "gracefulEvictionTasks",
      Value::array({Value::object({{"fromCluster", "m1"}, {"creationTimestamp", rfc3339(old.now())}})}));
  made.edit("status").set("schedulerObservedGeneration", 1);
  made.edit("status").set("aggregatedStatus",
                          Value::array({Value::object({{"clusterName", "m2"}, {"health", "Healthy"}})}));
  old.put(key, made);
  old.add(make_taint_role());
  old.run(Millis{100});
  EXPECT_EQ(old.count<EvictionFinished>(), 1U);
}

}  // namespace
}  // namespace shiplog
