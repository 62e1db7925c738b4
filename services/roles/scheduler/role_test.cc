#include "services/roles/scheduler/role.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "events/state/binding.h"
#include "services/roles/scheduler/cycles.h"
#include "tests/support/fake_task.h"

namespace shiplog {
namespace {

using given::FakeTask;
using given::History;
using given::json;
using given::woken;

const ObjectKey kBinding{type::kResourceBinding, "default", "web-deployment"};
const ObjectKey kOther{type::kResourceBinding, "default", "other-deployment"};
const ObjectKey kCluster{type::kCluster, "", "m1"};
const ObjectKey kQuota{type::kFederatedResourceQuota, "default", "q"};
using Keys = std::vector<ObjectKey>;

constexpr const char* kMember = R"({"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "spec": {},
    "status": {"apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"kind": "Deployment"}]}],
               "resourceSummary": {"allocatable": {"pods": 9}}}})";

std::string binding_text(const std::string& placement) {
  return R"({"metadata": {"labels": {"propagationpolicy.karmada.io/permanent-id": "id"}},
    "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "web"},
             "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}, "placement": )" +
         placement + "}}";
}

History fleet(const std::string& placement = "{}") {
  History history;
  history.object(kCluster, kMember).object(kBinding, binding_text(placement));
  return history;
}

std::string reason_of(const History& history, const ObjectKey& key = kBinding) {
  return binding_from(key, history.state().value_of(key)).scheduled_reason;
}

void reconcile(Role& service, History& history, const ObjectKey& key = kBinding) {
  auto task = std::make_shared<FakeTask>(history, key);
  service.reconcile(task);
  EXPECT_EQ(task->finished, 1);
  EXPECT_FALSE(task->failure);
}

TEST(SchedulerRole, PlacesABindingAndThenLeavesItAlone) {  // S-77
  History history = fleet();
  const auto service = make_scheduler_role();
  reconcile(*service, history);
  EXPECT_EQ(reason_of(history), "Success");
  auto again = std::make_shared<FakeTask>(history, kBinding);
  service->reconcile(again);
  EXPECT_TRUE(again->folded.empty());
}

TEST(SchedulerRole, AMemberOfAGroupThatMovesTriggersThoseThatWereRefused_M_10) {  // M-13
  for (const char* side : {"affinityGroup", "antiAffinityGroup"}) {
    History history = fleet();
    history.object(kOther, binding_text("{}"));
    for (const ObjectKey& key : {kBinding, kOther}) {
      history.edit(key, [&](Value& binding) {
        binding.edit("spec").edit("workloadAffinityGroups").set(side, "app=shop");
        binding.edit("spec").erase("replicaRequirements");
      });
    }
    // One holds the only cluster, or is where the other cannot go: the other is refused.
    history.object({type::kCluster, "", "m2"}, R"({"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}})");
    const char* first = std::string_view{side} == "affinityGroup" ? "m2" : "m1";
    history.edit(kOther, [&](Value& other) {
      other.edit("spec").set("clusters", Value::array({Value::object({{"name", first}, {"replicas", 2}})}));
    });
    const auto service = make_scheduler_role();
    std::vector<ObjectKey> started;
    reconcile(*service, history);
    EXPECT_EQ(reason_of(history), "NoClusterFit") << side;
    service->on_start(history.state(), started);
    const Keys keys = woken(*service, history, {DeletionRequested{kOther}});
    EXPECT_TRUE(std::ranges::find(keys, kBinding) != keys.end()) << side;
    reconcile(*service, history);
    EXPECT_EQ(reason_of(history), "Success") << side;
  }
}

TEST(SchedulerRole, ARefusedBindingIsDecidedAgainOnceReservationsEnd_M_8_S_7) {
  History history = fleet(R"({"clusterAffinity": {"clusterNames": ["none"]}})");
  const auto service = make_scheduler_role();
  reconcile(*service, history);
  ASSERT_EQ(reason_of(history), "NoClusterFit");
  const auto looks_again = [&] {
    auto task = std::make_shared<FakeTask>(history, kBinding);
    service->reconcile(task);
    EXPECT_TRUE(task->folded.empty());
    return task->looks_again;
  };
  EXPECT_FALSE(looks_again()) << "whatever lets it in will wake it";
  history.accept({FeatureGatesSet{{"SchedulingOvercommitProtection"}}});
  EXPECT_TRUE(looks_again());
}

/// Room for three replicas of the two that are wanted of each binding.
History crowded() {
  const std::string aggregated =
      R"({"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}})";
  History history = fleet(aggregated);
  history.object(kOther, binding_text(aggregated));
  history.edit(kCluster, [](Value& cluster) {
    cluster.edit("status").set("resourceSummary", json(R"({"allocatable": {"pods": "9", "cpu": "3"}})"));
  });
  return history;
}

TEST(SchedulerRole, TwoPlacementsAtATimeDoNotTakeTheSameRoom_M_8_M_9) {
  for (const bool on : {false, true}) {
    History history = crowded();
    if (on) history.accept({FeatureGatesSet{{"SchedulingOvercommitProtection"}}});
    const auto service = make_scheduler_role();
    const auto task = std::make_shared<FakeTask>(history, kBinding);
    const auto other = std::make_shared<FakeTask>(history, kOther);
    task->before_append = [&] { service->reconcile(other); };
    service->reconcile(task);
    EXPECT_EQ(task->finished, 1);
    EXPECT_EQ(other->finished, 1) << "its turn comes when the first one is folded";
    EXPECT_EQ(reason_of(history, kOther), on ? "Unschedulable" : "Success");
    EXPECT_EQ(reason_of(history), "Success");
  }
}

TEST(SchedulerRole, OfThoseThatWaitForTheirTurnThoseOfHigherPriorityGoFirst_M_8_S_6) {
  History history = crowded();
  history.accept({FeatureGatesSet{{"SchedulingOvercommitProtection"}}});
  const ObjectKey urgent{type::kResourceBinding, "default", "urgent-deployment"};
  history.put(urgent, History::named(urgent, history.state().value_of(kOther)));
  history.edit(urgent, [](Value& binding) { binding.edit("spec").edit("schedulePriority").set("priority", 7); });
  history.edit(kBinding, [](Value& binding) { binding.edit("spec").set("replicas", 1); });
  const auto service = make_scheduler_role();
  const auto task = std::make_shared<FakeTask>(history, kBinding);
  task->before_append = [&] {
    for (const ObjectKey& key : {kOther, urgent}) service->reconcile(std::make_shared<FakeTask>(history, key));
  };
  service->reconcile(task);
  EXPECT_EQ(reason_of(history), "Success");
  EXPECT_EQ(reason_of(history, urgent), "Success");
  EXPECT_EQ(reason_of(history, kOther), "Unschedulable");
}

TEST(SchedulerRole, WhatALostLeaseLeftBehindHoldsUpNothing_M_8) {
  History history = crowded();
  history.accept({FeatureGatesSet{{"SchedulingOvercommitProtection"}}});
  const auto service = make_scheduler_role();
  auto task = std::make_shared<FakeTask>(history, kBinding);
  const auto waiting = std::make_shared<FakeTask>(history, kOther);
  task->before_append = [&] {
    service->reconcile(waiting);
    service->on_stop();
  };
  service->reconcile(task);
  EXPECT_EQ(waiting->finished, 0) << "void: another process decides";
  reconcile(*service, history, kOther);
}

TEST(SchedulerRole, LessOfAComponentFreesRoomInAQuota_Q_8_4_6_1) {
  History history = fleet();
  history.accept({FoldVersionActivated{7}});
  history.accept({FeatureGatesSet{{"FederatedQuotaEnforcement", "MultiplePodTemplatesScheduling"}}});
  history.object(kQuota, R"({"spec": {"overall": {"cpu": "2"}}})");
  history.object(kOther, R"({"spec": {"clusters": [{"name": "m1"}], "components": [{"name": "main", "replicas": 2,
      "replicaRequirements": {"resourceRequest": {"cpu": "1"}}}]}})");
  const auto service = make_scheduler_role();
  reconcile(*service, history);
  ASSERT_EQ(reason_of(history), "QuotaExceeded");
  Keys keys;
  service->on_start(history.state(), keys);
  Value smaller = history.state().value_of(kOther);
  smaller.edit("spec").edit("components").edit_items()[0].set("replicas", 0);
  const Keys triggered = woken(*service, history, {ObjectUpdated{kOther, smaller}});
  EXPECT_NE(std::ranges::find(triggered, kBinding), triggered.end());
}

/// When the binding was scheduled for the last time.
std::string scheduled(const History& history, const ObjectKey& key = kBinding) {
  return history.state().value_of(key)["status"]["lastScheduledTime"].str();
}

/// Edits the cluster and reconciles what that triggers, in order; the entries that were observations.
int change_cluster(Role& service, History& history, const std::function<void(Value&)>& change) {
  Value cluster = history.state().value_of(kCluster);
  change(cluster);
  int observed = 0;
  for (const ObjectKey& key : woken(service, history, {ObjectUpdated{kCluster, cluster}})) {
    auto task = std::make_shared<FakeTask>(history, key);
    service.reconcile(task);
    EXPECT_EQ(task->finished, 1);
    observed += task->observed;
  }
  return observed;
}

TEST(SchedulerRole, ACycleThatChangesNothingIsACycleAllTheSame_S_76) {
  History history = fleet(R"({"replicaScheduling": {"replicaSchedulingType": "Duplicated"}})");
  history.object(kOther, binding_text(R"({"replicaScheduling": {"replicaSchedulingType": "Divided"}})"));
  const auto service = make_scheduler_role();
  std::vector<ObjectKey> started;
  service->on_start(history.state(), started);
  reconcile(*service, history);
  reconcile(*service, history, kOther);
  const std::string first = scheduled(history);
  const std::string other = scheduled(history, kOther);
  const auto generation = history.state().value_of(kBinding)["metadata"]["generation"];

  const auto label = [](Value& cluster) { cluster.edit("metadata").edit("labels").set("zone", "b"); };
  EXPECT_EQ(change_cluster(*service, history, label), 1);
  EXPECT_GT(scheduled(history), first);
  EXPECT_EQ(history.state().value_of(kBinding)["metadata"]["generation"], generation);
  EXPECT_EQ(scheduled(history, kOther), other) << "what is divided has no cycle then (S-14)";

  const std::string second = scheduled(history);
  const auto status = [](Value& cluster) {
    cluster.edit("status").edit("resourceSummary").edit("allocatable").set("pods", 8);
  };
  EXPECT_EQ(change_cluster(*service, history, status), 0) << "a status begins no cycle (S-3)";
  reconcile(*service, history);
  EXPECT_EQ(scheduled(history), second) << "nor does another look at the same state";

  // A cycle that moves it is recorded by its placement alone.
  history.object({type::kCluster, "", "m2"}, kMember);
  EXPECT_EQ(change_cluster(*service, history, [](Value& cluster) { cluster.edit("spec").set("region", "r"); }), 0);
  EXPECT_EQ(history.state().value_of(kBinding)["spec"]["clusters"].size(), 2U);
  EXPECT_GT(scheduled(history), second);
}

TEST(SchedulerRole, CyclesOfManyBindingsAreRecordedTogether_S_76) {
  History history = fleet(R"({"replicaScheduling": {"replicaSchedulingType": "Duplicated"}})");
  const auto service = make_scheduler_role();
  reconcile(*service, history);
  for (int i = 0; i < 300; ++i) {
    const ObjectKey key{type::kResourceBinding, "default", "b" + std::to_string(i)};
    history.object(key, binding_text(R"({"replicaScheduling": {"replicaSchedulingType": "Duplicated"}})"));
    reconcile(*service, history, key);
  }
  std::vector<ObjectKey> started;
  service->on_start(history.state(), started);
  Value cluster = history.state().value_of(kCluster);
  cluster.edit("metadata").edit("labels").set("zone", "b");
  const Keys keys = woken(*service, history, {ObjectUpdated{kCluster, cluster}});
  ASSERT_EQ(keys.size(), 302U);
  int steps = 0;
  for (bool again = true; again && steps < 20; ++steps) {
    auto task = std::make_shared<FakeTask>(history, keys.back());
    // Another role writes one of them while the first entry is under way: it is refused as a whole, and tried again.
    if (steps == 0) {
      task->before_append = [&] {
        history.edit(kBinding, [](Value& binding) { binding.edit("metadata").edit("labels").set("x", "y"); });
      };
    }
    service->reconcile(task);
    EXPECT_EQ(task->finished, 1);
    again = task->looks_again;
  }
  EXPECT_LE(steps, 6);
  for (size_t i = 0; i + 1 < keys.size(); ++i) {
    EXPECT_GE(scheduled(history, keys[i]), rfc3339(UtcMillis{history.now().value - 8'000})) << to_string(keys[i]);
  }
  service->on_stop();
  cluster.edit("metadata").edit("labels").set("zone", "c");
  EXPECT_EQ(woken(*service, history, {ObjectUpdated{kCluster, cluster}}).size(), 301U) << "a standby records nothing";
}

TEST(SchedulerRole, OtherOptionsTriggerEveryBinding_S_23) {
  History history = fleet();
  const auto service = make_scheduler_role();
  EXPECT_EQ(woken(*service, history, {OptionsSet{{{"plugins", {"*", "-TaintToleration"}}}}}), Keys{kBinding});
}

TEST(SchedulerRole, ABindingsPriorityIsItsPlaceInTheQueue) {  // S-6
  History history = fleet();
  history.object(kOther, binding_text("{}")).edit(kOther, [](Value& other) {
    other.edit("spec").edit("schedulePriority").set("priority", 7);
  });
  const auto service = make_scheduler_role();
  EXPECT_EQ(service->priority(history.state(), kBinding), 0);
  EXPECT_EQ(service->priority(history.state(), kOther), 7);
}

TEST(SchedulerRole, DecidesAgainWhenTheBindingHasMovedOn) {  // S-5
  History history = fleet();
  const auto service = make_scheduler_role();
  auto task = std::make_shared<FakeTask>(history, kBinding);
  task->before_append = [&] {
    history.edit(kBinding, [](Value& binding) { binding.edit("spec").set("replicas", 3); });
  };
  service->reconcile(task);
  ASSERT_EQ(task->folded.size(), 2U);
  EXPECT_EQ(task->folded[0].refusal->code, ErrorCode::kConflict);
  EXPECT_EQ(history.state().value_of(kBinding)["spec"]["clusters"], json(R"([{"name": "m1", "replicas": 3}])"));
}

// S-5, Q-19.
TEST(SchedulerRole, ReportsQuotaExceededWhenTheFoldRefusesAPlacement) {  // two placements race for the last room
  History history = fleet();
  history.object(kQuota, R"({"spec": {"overall": {"cpu": "2"}}})").object(kOther, binding_text("{}"));
  const auto service = make_scheduler_role();
  auto task = std::make_shared<FakeTask>(history, kBinding);
  task->before_append = [&] { reconcile(*service, history, kOther); };
  service->reconcile(task);
  ASSERT_EQ(task->folded.size(), 2U);
  EXPECT_EQ(task->folded[0].refusal->code, ErrorCode::kForbidden);
  EXPECT_FALSE(task->folded[1].refusal);
  EXPECT_EQ(task->finished, 1);
  EXPECT_EQ(reason_of(history), "QuotaExceeded");
  EXPECT_EQ(reason_of(history, kOther), "Success");

  auto again = std::make_shared<FakeTask>(history, kBinding);
  service->reconcile(again);
  EXPECT_TRUE(again->folded.empty());  // no second word on it
}

TEST(SchedulerRole, DecidesAgainWhenTheQuotaGrowsOrRoomIsFreed) {  // Q-20
  History history = fleet();
  history.object(kQuota, R"({"spec": {"overall": {"cpu": "2"}}})").object(kOther, binding_text("{}"));
  const auto service = make_scheduler_role();
  reconcile(*service, history, kOther);
  reconcile(*service, history);
  Keys keys;
  service->on_start(history.state(), keys);
  EXPECT_EQ(keys, (Keys{kOther, kBinding}));

  Value quota = history.state().value_of(kQuota);
  quota.edit("spec").edit("overall").set("cpu", "3");
  EXPECT_EQ(woken(*service, history, {ObjectUpdated{kQuota, quota}}), Keys{kBinding});
  EXPECT_EQ(woken(*service, history, {DeletionRequested{kOther}}), Keys{kBinding});
}

TEST(SchedulerRole, DecidesAgainWhatItHasRefused) {  // the quota grew before it was known who waits for it
  History history = fleet();
  history.object(kQuota, R"({"spec": {"overall": {"cpu": "1"}}})");
  const auto service = make_scheduler_role();
  Keys keys;
  service->on_start(history.state(), keys);
  auto task = std::make_shared<FakeTask>(history, kBinding);
  task->before_append = [&] {
    Value quota = history.state().value_of(kQuota);
    quota.edit("spec").edit("overall").set("cpu", "3");
    EXPECT_EQ(woken(*service, history, {ObjectUpdated{kQuota, quota}}), Keys{});
  };
  service->reconcile(task);
  EXPECT_EQ(reason_of(history), "QuotaExceeded");
  EXPECT_TRUE(task->looks_again);
  auto next = std::make_shared<FakeTask>(history, kBinding);
  service->reconcile(next);
  EXPECT_EQ(reason_of(history), "Success");
  EXPECT_FALSE(next->looks_again);
}

TEST(SchedulerRole, ABindingsStatusTriggersNothing) {  // S-2
  History history = fleet();
  const auto service = make_scheduler_role();
  Value binding = history.state().value_of(kBinding);
  binding.edit("status").set("aggregatedStatus", json(R"([{"clusterName": "m1"}])"));
  EXPECT_EQ(woken(*service, history, {StatusUpdated{kBinding, binding}}), Keys{});
  binding.edit("spec").edit("suspension").set("scheduling", true);
  EXPECT_EQ(woken(*service, history, {ObjectUpdated{kBinding, binding}}), Keys{kBinding});
}

/// The role with what it keeps of the bindings.
/// The bindings among what was triggered.
Keys bindings_of(Keys keys) {
  std::erase_if(keys, scheduler::ClusterCycles::is_key);
  return keys;
}

std::unique_ptr<Role> started(const History& history) {
  auto role = make_scheduler_role();
  Keys all;
  role->on_start(history.state(), all);
  return role;
}

TEST(SchedulerRole, AClusterTriggersTheBindingsItMayServe) {  // S-3, S-4
  History history = fleet(R"({"clusterAffinity": {"clusterNames": ["m1"]}})");
  history.object(kOther, binding_text(R"({"clusterAffinity": {"clusterNames": ["m2"]}})"));
  const auto service = started(history);
  EXPECT_EQ(bindings_of(woken(*service, history, {TaintAdded{kCluster, {"k", "", "NoSchedule"}, ""}})), Keys{kBinding});
  EXPECT_EQ(bindings_of(woken(*service, history, {ClusterConditionChanged{kCluster, "Ready", "False", "X", ""}})),
            Keys{});
  Value member = History::named({type::kCluster, "", "m2"}, json(kMember));
  EXPECT_EQ(bindings_of(woken(*service, history, {ObjectCreated{{type::kCluster, "", "m2"}, member}})), Keys{kOther});
}

TEST(SchedulerRole, OfSeveralTermsTheOneInForceDecidesWhatIsTriggered_S_4) {
  History history = fleet(R"({"clusterAffinities": [
      {"affinityName": "one", "clusterNames": ["m1"],
       "overflowAffinities": [{"affinityName": "more", "clusterNames": ["m4"]}]},
      {"affinityName": "two", "clusterNames": ["m2"]}]})");
  for (const char* name : {"m2", "m3", "m4"}) history.object({type::kCluster, "", name}, kMember);
  const auto service = started(history);
  const auto taint = [&](const char* name) {
    return bindings_of(
        woken(*service, history, {TaintAdded{{type::kCluster, "", name}, {"k", "", "PreferNoSchedule"}, ""}}));
  };
  EXPECT_EQ(taint("m3"), Keys{kBinding}) << "its observed generation lags";
  reconcile(*service, history);
  ASSERT_EQ(history.state().value_of(kBinding)["status"]["schedulerObservingAffinityName"], Value{"one"});
  reconcile(*service, history);
  history.edit({type::kCluster, "", "m3"}, [](Value& m3) { m3.edit("spec").erase("taints"); });
  EXPECT_EQ(taint("m3"), Keys{});
  EXPECT_EQ(taint("m2"), Keys{}) << "not in force";
  EXPECT_EQ(taint("m1"), Keys{kBinding});
  EXPECT_EQ(taint("m4"), Keys{kBinding}) << "other than upstream: room in a tier is room";
}

// A divided workload stays where its affinity no longer selects it (S-14), but not on a cluster that leaves (S-10.5).
TEST(SchedulerRole, ATerminatingClusterTriggersWhatIsPlacedOnItThoughItNoLongerMatches) {  // S-3
  History history = fleet(R"({"clusterAffinity": {"labelSelector": {"matchLabels": {"tier": "gold"}}},
                              "replicaScheduling": {"replicaSchedulingType": "Divided"}})");
  history.object(kOther, binding_text(R"({"clusterAffinity": {"clusterNames": ["m2"]}})"));
  const auto label = [&](const char* tier) {
    Value cluster = history.state().value_of(kCluster);
    cluster.edit("metadata").edit("labels").set("tier", tier);
    cluster.edit("metadata").set("finalizers", json(R"(["x"])"));
    return ObjectUpdated{kCluster, std::move(cluster)};
  };
  const auto service = started(history);
  EXPECT_EQ(bindings_of(woken(*service, history, {label("gold")})), Keys{kBinding});
  reconcile(*service, history);
  ASSERT_EQ(reason_of(history), "Success");
  EXPECT_EQ(bindings_of(woken(*service, history, {label("silver")})), Keys{kBinding});
  reconcile(*service, history);
  EXPECT_EQ(history.state().value_of(kBinding)["spec"]["clusters"].size(), 1U);
  EXPECT_EQ(bindings_of(woken(*service, history, {DeletionRequested{kCluster}})), Keys{kBinding});
  reconcile(*service, history);
  EXPECT_EQ(history.state().value_of(kBinding)["spec"]["clusters"].size(), 0U);
}

TEST(SchedulerRole, RoomOnAClusterTriggersOnlyWhatFoundNone) {  // S-3, S-7, TRAP-3
  History history = fleet(R"({"replicaScheduling": {"replicaSchedulingType": "Divided",
                                                    "weightPreference": {"dynamicWeight": "AvailableReplicas"}}})");
  const auto service = make_scheduler_role();
  Value status = history.state().value_of(kCluster)["status"];
  status.edit("resourceSummary").edit("allocatable").set("pods", 5);
  EXPECT_EQ(woken(*service, history, {ClusterObserved{kCluster, status}}), Keys{});
  reconcile(*service, history);
  EXPECT_EQ(reason_of(history), "Unschedulable");  // no CPU on m1
  Keys keys;
  service->on_start(history.state(), keys);
  status.edit("resourceSummary").edit("allocatable").set("cpu", "8");
  EXPECT_EQ(woken(*service, history, {ClusterObserved{kCluster, status}}), Keys{kBinding});
  reconcile(*service, history);
  EXPECT_EQ(reason_of(history), "Success");
}

}  // namespace
}  // namespace shiplog
