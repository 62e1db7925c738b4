#include "services/roles/collector/role.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/state/condition.h"
#include "events/state/work.h"
#include "services/interpreter/customizations.h"
#include "services/roles/dispatcher/role.h"
#include "services/roles/lifecycle/role.h"
#include "tests/support/fake_task.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

/// The collector beside the services that it works with: lifecycle takes clusters in, the dispatcher acts upon what the
/// collector reports.
class Collector : public ::testing::Test {
 protected:
  Collector() {
    stage.add(make_lifecycle_role());
    stage.add(make_dispatcher_role(stage.members()));
    stage.add(make_collector_role(
        stage.members(), nullptr,
        [this](const ObjectKey& work, interpreter::InterpreterOperation operation, const Error& error) {
          unread.push_back(to_string(work) + ": " + error.message);
          unread_operations.push_back(operation);
        }));
  }

  void join(const std::string& name) {
    FakeMember& member = stage.members().member(name);
    member.ready_after = Millis{50};
    member.put({"nodes", "", "n1"},
               Value::object({{"status", Value::object({{"allocatable", Value::object({{"cpu", "8"}})}})}}));
    stage.put(cluster_key(name), cluster_object(name));
    stage.run(Millis{500});
  }
  void place(const std::string& type, const Value& object, const std::vector<Target>& targets) {
    stage.put({type, object["metadata"]["namespace"].str(), object["metadata"]["name"].str()}, object);
    const Value made = binding(object, targets);
    stage.put(testing::binding_key(made), made);
    stage.run(Millis{3000});
  }
  /// How Deployments are interpreted: {"statusReflection": SCRIPT, ...}.
  void customize(const std::map<std::string, std::string>& scripts) {
    Value customizations = Value::object();
    for (const auto& [operation, script] : scripts) customizations.edit(operation).set("luaScript", script);
    const Value target = Value::object({{"apiVersion", "apps/v1"}, {"kind", "Deployment"}});
    stage.put({interpreter::kCustomizationType, "", "c"},
              Value::object({{"spec", Value::object({{"target", target}, {"customizations", customizations}})}}));
    stage.run(Millis{8000});
  }
  const Value& cluster(const std::string& name) { return stage.state().value_of(cluster_key(name)); }
  const Value& status_on(const std::string& name, const Value& object) {
    return stage.state().value_of(work_key(name, object))["status"]["manifestStatuses"][0];
  }
  FakeMember& member(const std::string& name) { return stage.members().member(name); }

  Stage stage;
  std::vector<std::string> unread;
  std::vector<interpreter::InterpreterOperation> unread_operations;
  const Value web = deployment("default", "web", 3);
  const ObjectKey web_key{"deployments.apps", "default", "web"};
  const Value map = config_map("default", "settings", "x");
  const ObjectKey map_key{"configmaps", "default", "settings"};
};

TEST_F(Collector, TakesAReadyMemberIn_CL_15) {  // CL-11, 1.1.2
  join("m1");
  EXPECT_EQ(condition_of(cluster("m1"), "Ready")["reason"], "ClusterReady");
  EXPECT_EQ(condition_of(cluster("m1"), "CompleteAPIEnablements")["status"], "True");
  EXPECT_EQ(cluster("m1")["status"]["kubernetesVersion"], "v1.34.0");
  EXPECT_EQ(cluster("m1")["status"]["nodeSummary"]["totalNum"], Value{1});
  EXPECT_EQ(cluster("m1")["status"]["resourceSummary"]["allocatable"]["cpu"], "8");
  const auto& enabled = stage.state().cluster("m1")->api_enablements;
  EXPECT_NE(std::find(enabled.begin(), enabled.end(), "apps/v1, Kind=Deployment"), enabled.end());
  EXPECT_EQ(cluster("m1")["spec"]["id"], member("m1").find({"namespaces", "", "kube-system"})["metadata"]["uid"]);
  EXPECT_EQ(stage.count<ClusterJoined>(), 1U);
}

TEST_F(Collector, ProbesEvery10SecondsAndWhenTheSpecChanges_CL_16_1_14_2) {
  join("m1");
  const auto probes = [&] { return member("m1").probed; };
  const int joined = probes();
  stage.run(Millis{9'000});
  EXPECT_EQ(probes() - joined, 0);
  stage.run(Millis{51'000});
  EXPECT_EQ(probes() - joined, 6);
  stage.run(Millis{1'000});
  Value changed = cluster("m1");
  changed.edit("spec").set("region", "elsewhere");
  stage.put(cluster_key("m1"), changed);
  stage.run(Millis{1'000});
  EXPECT_EQ(probes() - joined, 7);
}

TEST_F(Collector, APushClusterKeepsItsConditionWhileNothingProbesIt_1_13_2) {
  join("m1");
  const Value ready = condition_of(cluster("m1"), "Ready");
  ASSERT_EQ(ready["status"], "True");
  stage.stop("collector");
  stage.members().set_down("m1", true);
  stage.run(Millis{3'600'000});
  EXPECT_EQ(condition_of(cluster("m1"), "Ready"), ready);
}

TEST_F(Collector, ApiEnablementsThatAreNotCompleteAreACondition_CL_19_1_14_5) {
  join("m1");
  const auto complete = [&] {
    stage.run(Millis{10'000});
    const Value condition = condition_of(cluster("m1"), "CompleteAPIEnablements");
    return condition["status"].str() + " " + condition["reason"].str() + ": " + condition["message"].str();
  };
  EXPECT_EQ(complete(), "True Complete: collected complete APIEnablements from the cluster");
  const Value enabled = cluster("m1")["status"]["apiEnablements"];
  member("m1").undiscovered = {"/apis/apps/v1"};
  EXPECT_EQ(complete(), "False Partial: might collect partial APIEnablements(" + std::to_string(enabled.size() - 1) +
                            ") from the cluster");
  EXPECT_EQ(cluster("m1")["status"]["apiEnablements"].size(), enabled.size() - 1);
  member("m1").undiscovered = {"/apis", "/api/v1"};
  EXPECT_EQ(complete(), "False Empty: collected empty APIEnablements from the cluster");
  EXPECT_EQ(cluster("m1")["status"]["apiEnablements"].size(), enabled.size() - 1) << "the last ones are kept";
  member("m1").undiscovered = {};
  EXPECT_EQ(complete(), "True Complete: collected complete APIEnablements from the cluster");
  EXPECT_EQ(cluster("m1")["status"]["apiEnablements"], enabled);
}

TEST_F(Collector, SummariesAreLeftOutWithoutResourceModeling_CL_21_1_14_7) {
  join("m1");
  ASSERT_FALSE(cluster("m1")["status"]["nodeSummary"].is_null());
  stage.stop("collector");
  stage.add(make_collector_role(stage.members(), nullptr, {}, false));
  stage.run(Millis{11'000});
  EXPECT_TRUE(cluster("m1")["status"]["nodeSummary"].is_null());
  EXPECT_TRUE(cluster("m1")["status"]["resourceSummary"].is_null());
  const auto reads = [&] {
    return stage.members().count("m1 GET /api/v1/nodes") + stage.members().count("m1 GET /api/v1/pods");
  };
  const size_t before = reads();
  stage.run(Millis{60'000});
  EXPECT_EQ(reads(), before);
  EXPECT_EQ(condition_of(cluster("m1"), "Ready")["status"], "True");
}

TEST_F(Collector, EditsWithoutEndInAMemberAreRevertedMoreAndMoreRarely) {
  join("m1");
  place("configmaps", map, {{"m1", 0}});
  const auto edit = [&](int number) {
    Value edited = member("m1").find(map_key);
    edited.edit("data").set("text", "edit " + std::to_string(number));
    member("m1").put(map_key, edited);
  };
  const auto minute_of_edits = [&] {
    const size_t before = stage.history().size();
    for (int number = 0; number < 60 * 24; ++number) {
      edit(number);
      stage.run(Millis{41});
    }
    return stage.history().size() - before;
  };
  EXPECT_LE(minute_of_edits(), 30U) << "entries in the first minute";
  EXPECT_LE(minute_of_edits(), 10U);
  EXPECT_LE(minute_of_edits(), 10U);
  const auto limited = [&] { return condition_of(stage.state().value_of(work_key("m1", map)), "RevertsLimited"); };
  EXPECT_EQ(limited()["status"], "True");
  EXPECT_EQ(limited()["reason"], "ChangedRepeatedly");

  // Without further changes, it is reverted once more, and then reported healthy.
  stage.run(Millis{300'000});
  EXPECT_EQ(member("m1").find(map_key)["data"]["text"], "x");
  EXPECT_EQ(limited()["status"], "True");
  stage.run(Millis{600'000});
  EXPECT_EQ(limited()["status"], "False");
  edit(0);
  stage.run(Millis{1000});
  EXPECT_EQ(member("m1").find(map_key)["data"]["text"], "x") << "at once again";
}

TEST_F(Collector, ATemplatesChangeDoesNotWaitForTheEndOfEdits) {
  join("m1");
  place("configmaps", map, {{"m1", 0}});
  for (int number = 0; number < 100; ++number) {
    Value edited = member("m1").find(map_key);
    edited.edit("data").set("text", "edit " + std::to_string(number));
    member("m1").put(map_key, edited);
    stage.run(Millis{500});
  }
  EXPECT_NE(member("m1").find(map_key)["data"]["text"], "x");
  const Value newer = config_map("default", "settings", "newer");
  stage.put(map_key, newer);
  Value touched = binding(newer, {{"m1", 0}});
  touched.edit("spec").edit("resource").set("resourceVersion", "2");
  stage.put(testing::binding_key(touched), touched);
  stage.run(Millis{1000});
  EXPECT_EQ(member("m1").find(map_key)["data"]["text"], "newer");
}

TEST_F(Collector, ReportsNothingWhenNothingChanges) {
  join("m1");
  const Revision before = stage.state().revision();
  stage.run(Millis{60'000});
  EXPECT_EQ(stage.state().revision(), before);
}

TEST_F(Collector, LostMemberBecomesNotReadyAfterTheThreshold_CL_26) {  // CL-27
  join("m1");
  stage.members().set_down("m1", true);
  stage.run(Millis{25'000});
  EXPECT_EQ(condition_of(cluster("m1"), "Ready")["status"], "True");
  stage.run(Millis{25'000});
  EXPECT_EQ(condition_of(cluster("m1"), "Ready")["reason"], "ClusterNotReachable");
  EXPECT_EQ(cluster("m1")["status"]["kubernetesVersion"], "v1.34.0") << "all else keeps its last value (1.14.4)";
  stage.members().set_down("m1", false);
  stage.run(Millis{60'000});
  EXPECT_EQ(condition_of(cluster("m1"), "Ready")["status"], "True");
}

TEST_F(Collector, ABindingNamesWhatHoldsBackAGenerationRenderedWhileTheClusterIsNotReady_T_7) {
  join("m1");
  place("configmaps", map, {{"m1", 0}});
  stage.members().set_down("m1", true);
  stage.run(Millis{50'000});
  ASSERT_EQ(condition_of(cluster("m1"), "Ready")["status"], "False");
  const ObjectKey bound = testing::binding_key(binding(map, {{"m1", 0}}));
  const auto item = [&] { return stage.state().value_of(bound)["status"]["aggregatedStatus"][0]; };
  EXPECT_TRUE(item()["appliedMessage"].is_null()) << "the member has what it should have";
  Value next = stage.state().value_of(work_key("m1", map));
  next.edit("spec").set("preserveResourcesOnDeletion", true);
  stage.stop("dispatcher");
  stage.put(work_key("m1", map), next);
  stage.run(Millis{1'000});
  EXPECT_EQ(item()["applied"], Value{true});
  EXPECT_EQ(item()["appliedMessage"], "cluster(m1) not ready");
}

TEST_F(Collector, StatusTravelsBack_T_2_T_11) {  // T-1, T-6
  join("m1");
  join("m2");
  place("deployments.apps", web, {{"m1", 1}, {"m2", 2}});
  EXPECT_EQ(status_on("m1", web)["health"], "Healthy");
  EXPECT_EQ(status_on("m2", web)["status"]["readyReplicas"], Value{2});
  EXPECT_EQ(status_on("m2", web)["identifier"], Value::object({{"ordinal", 0},
                                                               {"group", "apps"},
                                                               {"version", "v1"},
                                                               {"kind", "Deployment"},
                                                               {"namespace", "default"},
                                                               {"name", "web"},
                                                               {"resource", ""}}));
  const Value& status = stage.state().value_of(web_key)["status"];
  EXPECT_EQ(status["readyReplicas"], Value{3});
  EXPECT_EQ(status["observedGeneration"], Value{1});
  const Value& bound = stage.state().value_of({type::kResourceBinding, "default", "web-deployment"});
  EXPECT_EQ(condition_of(bound, "FullyApplied")["status"], "True");
}

TEST_F(Collector, AMemberWithAStatusOfWrongTypesKeepsItsLastOneAndStopsNoOtherMember_T_3) {
  join("m1");
  join("m2");
  place("deployments.apps", web, {{"m1", 1}, {"m2", 2}});
  const Value before = status_on("m1", web);
  Value wrong = before["status"];
  wrong.set("readyReplicas", "many");
  member("m1").set_status(web_key, wrong);
  Value less = status_on("m2", web)["status"];
  less.set("readyReplicas", 1);
  member("m2").set_status(web_key, less);
  stage.run(Millis{5000});
  ASSERT_FALSE(unread.empty());
  EXPECT_NE(unread.back().find("status.readyReplicas is \"many\", not a whole number of 32 bits"), std::string::npos)
      << unread.back();
  EXPECT_EQ(status_on("m1", web), before);
  EXPECT_EQ(stage.state().value_of(web_key)["status"]["readyReplicas"], Value{2});
}

TEST_F(Collector, ARemovedWorkDropsOutOfTheStatusOfItsBinding_T_6_T_7_T_9) {
  join("m1");
  join("m2");
  place("deployments.apps", web, {{"m1", 1}, {"m2", 2}});
  const ObjectKey key{type::kResourceBinding, "default", "web-deployment"};
  ASSERT_EQ(stage.state().value_of(key)["status"]["aggregatedStatus"].size(), 2U);
  Value moved = stage.state().value_of(key);
  moved.edit("spec").set("clusters", binding(web, {{"m1", 1}})["spec"]["clusters"]);
  stage.put(key, moved);
  stage.run(Millis{3000});
  const Value& status = stage.state().value_of(key)["status"];
  ASSERT_EQ(status["aggregatedStatus"].size(), 1U);
  EXPECT_EQ(status["aggregatedStatus"][0]["clusterName"], Value{"m1"});
  EXPECT_EQ(condition_of(stage.state().value_of(key), "FullyApplied")["status"], "True");
  EXPECT_EQ(stage.state().value_of(web_key)["status"]["readyReplicas"], Value{1});
}

TEST_F(Collector, ThatWorksAreUnderWayIsNotSummedUpUnlessItTakesLong_T_6) {
  join("m1");
  join("m2");
  for (const char* name : {"m1", "m2"}) member(name).latency = Millis{20'000};
  place("deployments.apps", web, {{"m1", 3}, {"m2", 2}});
  EXPECT_EQ(stage.count<WorkRendered>(), 2U);
  EXPECT_EQ(stage.count<StatusAggregated>(), 0U) << "nobody has said anything";
  stage.run(Millis{8000});
  EXPECT_EQ(stage.count<StatusAggregated>(), 1U) << "that nobody says anything is worth telling";
}

TEST_F(Collector, StatusIsAggregatedThoughSomeClustersHaveNotReported_T_6) {
  join("m1");
  join("m2");
  member("m2").latency = Millis{20'000};
  const Value made = binding(web, {{"m1", 3}, {"m2", 2}});
  stage.put(web_key, web);
  stage.put(testing::binding_key(made), made);
  stage.run(Millis{500});
  EXPECT_EQ(stage.count<StatusAggregated>(), 0U) << "the other one is probably about to";
  stage.run(Millis{1500});
  EXPECT_GE(stage.count<StatusAggregated>(), 1U);
}

TEST_F(Collector, WhatIsHeldBackOrRefusedIsSummedUpAtOnce_T_6) {
  join("m1");
  Value suspended = binding(map, {{"m1", 0}});
  suspended.edit("spec").edit("suspension").set("dispatching", true);
  stage.put(map_key, map);
  stage.put(testing::binding_key(suspended), suspended);
  stage.run(Millis{500});
  EXPECT_EQ(stage.count<StatusAggregated>(), 1U) << "held back";
  member("m1").refuse = 403;
  const Value refused = binding(web, {{"m1", 3}});
  stage.put(web_key, web);
  stage.put(testing::binding_key(refused), refused);
  stage.run(Millis{500});
  EXPECT_EQ(condition_of(stage.state().value_of(work_key("m1", web)), "Applied")["status"], "False");
  EXPECT_EQ(stage.count<StatusAggregated>(), 2U) << "refused";
}

TEST_F(Collector, BecomesIdle) {  // E-14
  join("m1");
  place("deployments.apps", web, {{"m1", 3}});
  place("configmaps", map, {{"m1", 0}});
  const Revision before = stage.state().revision();
  stage.members().log.clear();
  stage.run(Millis{8000});
  EXPECT_EQ(stage.state().revision(), before);
  EXPECT_EQ(stage.members().count("PUT"), 0U);
}

TEST_F(Collector, DeletedObjectIsMadeAnew_E_15) {  // E-1, T-2, T-4, TRAP-14
  join("m1");
  place("configmaps", map, {{"m1", 0}});
  member("m1").erase(map_key);
  stage.run(Millis{1000});
  EXPECT_EQ(member("m1").find(map_key)["data"]["text"], "x");
  EXPECT_EQ(status_on("m1", map)["health"], "Healthy");
}

TEST_F(Collector, EditedObjectIsPutRight_E_15) {  // E-1
  join("m1");
  place("configmaps", map, {{"m1", 0}});
  Value edited = member("m1").find(map_key);
  edited.edit("data").set("text", "somebody else's");
  member("m1").put(map_key, edited);
  stage.run(Millis{1000});
  EXPECT_EQ(member("m1").find(map_key)["data"]["text"], "x");
  EXPECT_EQ(status_on("m1", map)["health"], "Healthy") << "and it is not in doubt for ever";
}

// What the dispatcher wrote before, by a request that was held up on its way: its manifest is another one.
TEST_F(Collector, AnOlderWriteThatArrivesLateIsReplaced_E_15) {
  join("m1");
  place("configmaps", map, {{"m1", 0}});
  Value late = member("m1").find(map_key);
  late.edit("data").set("text", "what it was");
  late.edit("metadata").edit("annotations").set("shiplog.io/manifest-hash", "0123456789abcdef0123456789abcdef");
  member("m1").put(map_key, late);
  stage.run(Millis{1000});
  EXPECT_EQ(member("m1").find(map_key)["data"]["text"], "x");
  EXPECT_EQ(status_on("m1", map)["health"], "Healthy");
}

TEST_F(Collector, LabelsOfOursThatAreTakenOffAreSetAgain_E_15) {
  join("m1");
  Value labelled = map;
  labelled.edit("metadata").edit("labels").set("colour", "blue");
  place("configmaps", labelled, {{"m1", 0}});
  ASSERT_EQ(label_of(member("m1").find(map_key), "colour"), "blue");
  Value there = member("m1").find(map_key);
  there.edit("metadata").edit("labels").set("colour", "red");
  member("m1").put(map_key, there);
  stage.run(Millis{1000});
  EXPECT_EQ(label_of(member("m1").find(map_key), "colour"), "blue");
  there = member("m1").find(map_key);
  there.edit("metadata").edit("labels").erase("colour");
  member("m1").put(map_key, there);
  stage.run(Millis{1000});
  EXPECT_EQ(label_of(member("m1").find(map_key), "colour"), "blue");
}

TEST_F(Collector, SuspensionStopsNeitherStatusNorItsWatch_E_4_T_1) {
  join("m1");
  place("deployments.apps", web, {{"m1", 3}});
  Value suspended = stage.state().value_of({type::kResourceBinding, "default", "web-deployment"});
  suspended.edit("spec").edit("suspension").set("dispatching", true);
  stage.put({type::kResourceBinding, "default", "web-deployment"}, suspended);
  stage.run(Millis{1000});
  Value there = member("m1").find(web_key);
  there.edit("spec").set("replicas", 1);
  member("m1").put(web_key, there);
  stage.run(Millis{3000});
  EXPECT_EQ(member("m1").find(web_key)["spec"]["replicas"], Value{1}) << "not put right";
  EXPECT_EQ(status_on("m1", web)["status"]["readyReplicas"], Value{1}) << "but told";
}

TEST_F(Collector, MembersOwnAdditionsAreNoDrift) {  // E-15
  join("m1");
  place("configmaps", map, {{"m1", 0}});
  stage.members().log.clear();
  Value extended = member("m1").find(map_key);
  extended.edit("metadata").edit("labels").set("members-own", "yes");
  member("m1").put(map_key, extended);
  stage.run(Millis{3000});
  EXPECT_EQ(stage.members().count("PUT"), 0U);
}

TEST_F(Collector, ServerThatSpellsThingsDifferentlyIsNotFoughtWith) {  // E-14
  join("m1");
  member("m1").on_write = [](Value& object) {
    if (object["kind"].as_string() == "ConfigMap") object.edit("data").set("text", "X");
  };
  place("configmaps", map, {{"m1", 0}});
  stage.run(Millis{10'000});
  EXPECT_LE(stage.members().count("PUT"), 1U);
  EXPECT_EQ(status_on("m1", map)["health"], "Healthy");
}

TEST_F(Collector, ObjectsThatVanishedWithoutAWatchAreCreatedAgain) {  // E-16
  join("m1");
  place("configmaps", map, {{"m1", 0}});
  stage.stop("collector");
  member("m1").erase(map_key);
  stage.run(Millis{1000});
  EXPECT_TRUE(member("m1").find(map_key).is_null());
  stage.add(make_collector_role(stage.members()));
  stage.run(Millis{5000});
  EXPECT_FALSE(member("m1").find(map_key).is_null());
}

// What was applied under the lease of a process with such a clock is as old as anything.
TEST_F(Collector, ObjectsThatVanishedAreCreatedAgainThoughTheClockOfAnotherProcessIsAhead) {
  join("m1");
  stage.stop("collector");
  place("configmaps", map, {{"m1", 0}});
  Value work = stage.state().value_of(work_key("m1", map));
  edit_condition(work.edit("status"), "Applied").set("lastTransitionTime", rfc3339(stage.now() + Millis{3'600'000}));
  ASSERT_FALSE(stage.write({StatusUpdated{work_key("m1", map), work}}).refusal);
  member("m1").erase(map_key);
  stage.add(make_collector_role(stage.members()));
  stage.run(Millis{15'000});
  EXPECT_FALSE(member("m1").find(map_key).is_null());
}

// Of a namespace that is deleted with what was just written there, for example.
TEST_F(Collector, AnObjectThatVanishesBetweenItsWriteAndTheListIsCreatedAgain) {  // E-16
  join("m1");
  member("m1").refuse = 403;
  place("configmaps", map, {{"m1", 0}});
  ASSERT_EQ(condition_of(stage.state().value_of(work_key("m1", map)), "Applied")["status"], "False");
  stage.stop("dispatcher");
  stage.stop("collector");
  member("m1").refuse = 0;
  stage.add(make_collector_role(stage.members()));
  stage.run(Millis{3000});
  // Written by another process before this one listed the member; recorded only now.
  const int64_t generation = stage.state().value_of(work_key("m1", map))["metadata"]["generation"].as_int();
  ASSERT_FALSE(stage.write({WorkApplied{work_key("m1", map), generation, "applied"}}).refusal);
  stage.add(make_dispatcher_role(stage.members()));
  stage.run(Millis{15'000});
  EXPECT_FALSE(member("m1").find(map_key).is_null());
}

// Left in a cluster that had left the fleet, for example.
TEST_F(Collector, AnObjectThatIsAlreadyThereAsItIsWantedIsReported) {  // E-14, T-2
  join("m1");
  place("configmaps", map, {{"m1", 0}});
  stage.stop("dispatcher");
  const ObjectKey work = work_key("m1", map);
  ASSERT_FALSE(stage.write({DeletionRequested{.object = work}, WorkRemoved{work}}).refusal);
  ASSERT_EQ(stage.state().find(work), nullptr);
  stage.run(Millis{3000});
  const size_t writes = stage.members().count("PUT");
  stage.add(make_dispatcher_role(stage.members()));
  stage.run(Millis{15'000});
  EXPECT_EQ(stage.members().count("PUT"), writes) << "nothing was written, so the watch shows nothing";
  EXPECT_EQ(status_on("m1", map)["health"], "Healthy");
}

TEST_F(Collector, WatchCutOffIsTakenUpAgain) {  // T-1
  join("m1");
  place("deployments.apps", web, {{"m1", 3}});
  stage.members().break_watches("m1");
  stage.run(Millis{10});
  Value status = member("m1").find(web_key)["status"];
  status.set("readyReplicas", 1);
  status.set("availableReplicas", 1);
  member("m1").set_status(web_key, status);
  stage.run(Millis{5000});
  EXPECT_EQ(status_on("m1", web)["status"]["readyReplicas"], Value{1});
  EXPECT_EQ(status_on("m1", web)["health"], "Unhealthy");
}

TEST_F(Collector, LongListsComeInPages) {
  join("m1");
  FakeMember& one = member("m1");
  for (int i = 0; i < 1200; ++i) {
    Value noise = config_map("default", "noise-" + std::to_string(i), "x");
    noise.edit("metadata").edit("labels").set(label::kManaged, "true");
    one.put({"configmaps", "default", "noise-" + std::to_string(i)}, noise);
  }
  place("configmaps", map, {{"m1", 0}});
  EXPECT_EQ(status_on("m1", map)["health"], "Healthy");
  EXPECT_GE(stage.members().count("continue="), 2U);
}

TEST_F(Collector, LeavingClusterIsForgotten) {  // 1.14.12
  join("m1");
  place("configmaps", map, {{"m1", 0}});
  EXPECT_GT(stage.members().watch_count("m1"), 0U);
  stage.put({type::kResourceBinding, "default", "settings-configmap"}, binding(map, {}));
  stage.write({DeletionRequested{.object = cluster_key("m1")}});
  stage.run(Millis{5000});
  EXPECT_EQ(stage.state().find(cluster_key("m1")), nullptr);
  EXPECT_TRUE(member("m1").find(map_key).is_null());
  const size_t requests = stage.members().log.size();
  stage.run(Millis{30'000});
  EXPECT_EQ(stage.members().log.size(), requests);
}

TEST_F(Collector, ChangedCustomizationIsReadIntoWhatIsThere_L_2) {  // T-3
  join("m1");
  place("deployments.apps", web, {{"m1", 1}});
  ASSERT_EQ(status_on("m1", web)["health"], "Healthy");
  customize({{"healthInterpretation", "function InterpretHealth(o) return o.spec.replicas > 5 end"},
             {"statusReflection", "function ReflectStatus(o) return {seen = o.status.readyReplicas} end"}});
  EXPECT_EQ(status_on("m1", web)["health"], "Unhealthy");
  EXPECT_EQ(status_on("m1", web)["status"], Value::object({{"seen", 1}}));
  customize({{"healthInterpretation", "function InterpretHealth(o) return o.not_there.x end"},
             {"statusReflection", "function ReflectStatus(o) return {seen = 2} end"}});
  EXPECT_EQ(status_on("m1", web)["health"], "Unknown") << "T-4: its rule fails";
  EXPECT_EQ(status_on("m1", web)["status"], Value::object({{"seen", 2}}));
}

TEST_F(Collector, AStatusThatCannotBeReadIsNotStored_T_3) {
  join("m1");
  place("deployments.apps", web, {{"m1", 1}});
  ASSERT_EQ(status_on("m1", web)["status"]["readyReplicas"], Value{1});
  customize({{"statusReflection", "function ReflectStatus(o) return o.not_there.x end"}});
  EXPECT_EQ(status_on("m1", web)["status"]["readyReplicas"], Value{1}) << "the last one stays";
  ASSERT_FALSE(unread.empty());
  EXPECT_TRUE(unread.front().starts_with(to_string(work_key("m1", web)) +
                                         ": Reflect status for object(Deployment/default/web) failed, err: "))
      << unread.front();
  EXPECT_EQ(unread_operations.front(), interpreter::InterpreterOperation::kStatus);
}

TEST_F(Collector, WhyTheHealthIsUnknownIsReported_T_4) {
  customize({{"healthInterpretation", "function InterpretHealth(o) return o.not_there.x end"}});
  join("m1");
  place("deployments.apps", web, {{"m1", 1}});
  EXPECT_EQ(status_on("m1", web)["health"], "Unknown");
  ASSERT_FALSE(unread.empty());
  EXPECT_TRUE(unread.front().starts_with(to_string(work_key("m1", web)) +
                                         ": Interpret health of object(Deployment/default/web) failed, err: "))
      << unread.front();
  EXPECT_EQ(unread_operations.front(), interpreter::InterpreterOperation::kHealth);
}

TEST_F(Collector, AFailingAggregationDoesNotKeepBackTheBindingsStatus_T_11) {
  customize({{"statusAggregation", "function AggregateStatus(o) error('no') end"}});
  join("m1");
  place("deployments.apps", web, {{"m1", 1}});
  const Value& bound = stage.state().value_of({type::kResourceBinding, "default", "web-deployment"});
  EXPECT_EQ(bound["status"]["aggregatedStatus"][0]["health"], "Healthy");
  EXPECT_TRUE(stage.state().value_of(web_key)["status"]["readyReplicas"].is_null());
}

}  // namespace
}  // namespace shiplog
