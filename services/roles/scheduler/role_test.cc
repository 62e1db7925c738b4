#include "services/roles/scheduler/role.h"

#include <gtest/gtest.h>

#include "events/state/binding.h"
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

TEST(SchedulerRole, AClusterTriggersTheBindingsItMayServe) {  // S-3, S-4
  History history = fleet(R"({"clusterAffinity": {"clusterNames": ["m1"]}})");
  history.object(kOther, binding_text(R"({"clusterAffinity": {"clusterNames": ["m2"]}})"));
  const auto service = make_scheduler_role();
  EXPECT_EQ(woken(*service, history, {TaintAdded{kCluster, {"k", "", "NoSchedule"}, ""}}), Keys{kBinding});
  EXPECT_EQ(woken(*service, history, {ClusterConditionChanged{kCluster, "Ready", "False", "X", ""}}), Keys{});
  Value member = History::named({type::kCluster, "", "m2"}, json(kMember));
  EXPECT_EQ(woken(*service, history, {ObjectCreated{{type::kCluster, "", "m2"}, member}}), Keys{kOther});
}

TEST(SchedulerRole, OfSeveralTermsTheOneInForceDecidesWhatIsTriggered_S_4) {
  History history = fleet(R"({"clusterAffinities": [
      {"affinityName": "one", "clusterNames": ["m1"],
       "overflowAffinities": [{"affinityName": "more", "clusterNames": ["m4"]}]},
      {"affinityName": "two", "clusterNames": ["m2"]}]})");
  for (const char* name : {"m2", "m3", "m4"}) history.object({type::kCluster, "", name}, kMember);
  const auto service = make_scheduler_role();
  const auto taint = [&](const char* name) {
    return woken(*service, history, {TaintAdded{{type::kCluster, "", name}, {"k", "", "PreferNoSchedule"}, ""}});
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
  const auto service = make_scheduler_role();
  EXPECT_EQ(woken(*service, history, {label("gold")}), Keys{kBinding});
  reconcile(*service, history);
  ASSERT_EQ(reason_of(history), "Success");
  EXPECT_EQ(woken(*service, history, {label("silver")}), Keys{kBinding});
  reconcile(*service, history);
  EXPECT_EQ(history.state().value_of(kBinding)["spec"]["clusters"].size(), 1U);
  EXPECT_EQ(woken(*service, history, {DeletionRequested{kCluster}}), Keys{kBinding});
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
