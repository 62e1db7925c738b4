// ResourceQuotas in members from the static assignments of a FederatedResourceQuota (4.2.1, Q-23).
#include "events/state/static_quota.h"

#include "services/roles/collector/role.h"
#include "services/roles/quota/role.h"
#include "tests/support/dispatcher_fixture.h"
#include "tests/support/literals.h"

namespace shiplog::testing {
namespace {

using test::json;

class StaticQuota : public Dispatcher {
 protected:
  StaticQuota() {
    stage.write({FoldVersionActivated{7}});
    stage.add(make_quota_role());
    stage.add(make_collector_role(stage.members()));
    for (const char* cluster : {"m1", "m2"}) {
      stage.members().member(cluster).put({type::kNamespace, "", "default"}, namespace_object("default"));
    }
  }

  void assign(const std::string& assignments) {
    Value quota = json(R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"FederatedResourceQuota",
        "metadata":{"name":"q","namespace":"default","uid":"u-1"},"spec":{"overall":{"cpu":"9"}}})");
    quota.edit("spec").set("staticAssignments", json(assignments));
    ASSERT_FALSE(stage.put(key, quota).refusal);
    stage.run(Millis{5000});
  }
  const Value& in(const std::string& cluster) { return on_member(cluster, {"resourcequotas", "default", "q"}); }
  const Value& work(const std::string& cluster) { return stage.state().value_of(work_of_quota(key, cluster)); }

  const ObjectKey key{type::kFederatedResourceQuota, "default", "q"};
};

TEST_F(StaticQuota, EachAssignmentBecomesAResourceQuotaInItsCluster_4_2_1) {
  assign(R"([{"clusterName":"m1","hard":{"cpu":3}},{"clusterName":"nowhere","hard":{"cpu":"1"}}])");
  EXPECT_EQ(in("m1")["spec"], json(R"({"hard":{"cpu":"3"}})"));
  EXPECT_EQ(in("m1")["kind"], "ResourceQuota");
  EXPECT_TRUE(in("m2").is_null()) << "a cluster without an assignment gets none";
  EXPECT_EQ(label_of(work("m1"), "federatedresourcequota.karmada.io/namespace"), "default");
  EXPECT_EQ(label_of(work("m1"), "federatedresourcequota.karmada.io/name"), "q");
  EXPECT_EQ(work("m1")["metadata"]["name"].as_string(), work_name("ResourceQuota", "default", "q"));
  EXPECT_TRUE(has_finalizer(work("m1"), "karmada.io/execution-controller"));
}

TEST_F(StaticQuota, AChangedAssignmentIsCorrectedAndADroppedOneRemoved_4_2_1) {
  assign(R"([{"clusterName":"m1","hard":{"cpu":"3"}},{"clusterName":"m2","hard":{"cpu":"3"}}])");
  assign(R"([{"clusterName":"m2","hard":{"cpu":"5"}}])");
  EXPECT_TRUE(in("m1").is_null());
  EXPECT_TRUE(work("m1").is_null());
  EXPECT_EQ(in("m2")["spec"], json(R"({"hard":{"cpu":"5"}})"));
}

TEST_F(StaticQuota, WhatAMembersUserChangesOrDeletesIsRestored) {
  assign(R"([{"clusterName":"m1","hard":{"cpu":"3"}},{"clusterName":"m2","hard":{"cpu":"3"}}])");
  Value loosened = in("m1");
  loosened.edit("spec").edit("hard").set("cpu", "300");
  stage.members().member("m1").put({"resourcequotas", "default", "q"}, loosened);
  stage.members().member("m2").erase({"resourcequotas", "default", "q"});
  stage.run(Millis{60'000});
  EXPECT_EQ(in("m1")["spec"], json(R"({"hard":{"cpu":"3"}})"));
  EXPECT_EQ(in("m2")["spec"], json(R"({"hard":{"cpu":"3"}})"));
}

TEST_F(StaticQuota, WithTheQuotaTheyGo) {
  assign(R"([{"clusterName":"m1","hard":{"cpu":"3"}}])");
  ASSERT_FALSE(in("m1").is_null());
  stage.write({DeletionRequested{.object = key}});
  stage.run(Millis{5000});
  EXPECT_TRUE(in("m1").is_null());
  EXPECT_TRUE(work("m1").is_null());
}

TEST_F(StaticQuota, AlsoWhenItWasDeletedWhileNoDispatcherLed) {
  assign(R"([{"clusterName":"m1","hard":{"cpu":"3"}}])");
  stage.stop("dispatcher");
  stage.write({DeletionRequested{.object = key}});
  stage.run(Millis{5000});
  ASSERT_FALSE(in("m1").is_null());
  stage.add(make_dispatcher_role(stage.members()));
  stage.run(Millis{5000});
  EXPECT_TRUE(in("m1").is_null());
}

TEST_F(StaticQuota, AClusterThatJoinsLaterGetsIts) {
  assign(R"([{"clusterName":"m3","hard":{"cpu":"3"}}])");
  stage.members().member("m3").put({type::kNamespace, "", "default"}, namespace_object("default"));
  stage.put(cluster_key("m3"), cluster_object("m3"));
  stage.put({type::kNamespace, "", execution_space("m3")}, namespace_object(execution_space("m3")));
  ready("m3", "True");
  stage.run(Millis{5000});
  EXPECT_EQ(in("m3")["spec"], json(R"({"hard":{"cpu":"3"}})"));
}

TEST_F(StaticQuota, TheStatusOfMembersIsCollectedSortedByCluster_4_2_2_4_2_3) {
  assign(R"([{"clusterName":"m2","hard":{"cpu":"3"}},{"clusterName":"m1","hard":{"cpu":"4"}}])");
  for (const auto& [cluster, status] : {std::pair{"m1", R"({"hard":{"cpu":"4"},"used":{"cpu":"250m"}})"},
                                        std::pair{"m2", R"({"hard":{"cpu":"3"},"used":{"cpu":"1"}})"}}) {
    stage.members().member(cluster).set_status({"resourcequotas", "default", "q"}, json(status));
  }
  stage.run(Millis{5000});
  const Value& status = stage.state().value_of(key)["status"];
  EXPECT_EQ(status["aggregatedStatus"], json(R"([{"clusterName":"m1","hard":{"cpu":"4"},"used":{"cpu":"250m"}},
                     {"clusterName":"m2","hard":{"cpu":"3"},"used":{"cpu":"1"}}])"));
  EXPECT_EQ(status["overallUsed"], json(R"({"cpu":"1250m"})"));
  const size_t recorded = stage.count<QuotaUsageChanged>();
  stage.run(Millis{120'000});
  EXPECT_EQ(stage.count<QuotaUsageChanged>(), recorded) << "nothing is recorded twice";
}

// A tenant may propagate ResourceQuotas, also one of this name.
TEST_F(StaticQuota, ATenantsResourceQuotaOfTheSameNameDoesNotReplaceIt) {
  assign(R"([{"clusterName":"m1","hard":{"cpu":"3"}}])");
  Value loose = json(R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q","namespace":"default"},
      "spec":{"hard":{"cpu":"1000"}}})");
  place("resourcequotas", loose, {{"m1", 0}, {"m2", 0}});
  EXPECT_EQ(in("m1")["spec"], json(R"({"hard":{"cpu":"3"}})"));
  EXPECT_EQ(in("m2")["spec"], json(R"({"hard":{"cpu":"1000"}})"));
  const Value& synced = condition_of(stage.state().value_of({type::kResourceBinding, "default", "q-resourcequota"}),
                                     kWorksSyncedCondition);
  EXPECT_EQ(synced["status"], "False");
  EXPECT_NE(synced["message"].as_string().find("belongs to another"), std::string_view::npos)
      << synced["message"].str();
  assign(R"([{"clusterName":"m1","hard":{"cpu":"2"}},{"clusterName":"m2","hard":{"cpu":"3"}}])");
  EXPECT_EQ(in("m1")["spec"], json(R"({"hard":{"cpu":"2"}})")) << "a cluster where it cannot be put holds up no other";
  EXPECT_EQ(in("m2")["spec"], json(R"({"hard":{"cpu":"1000"}})"));
}

TEST_F(StaticQuota, BeforeFoldVersion7TheyHadNoEffect) {
  Stage old;
  old.put(cluster_key("m1"), cluster_object("m1"));
  old.put({type::kNamespace, "", execution_space("m1")}, namespace_object(execution_space("m1")));
  old.put(key, json(R"({"metadata":{"name":"q","namespace":"default"},"spec":{"overall":{"cpu":"1"},
      "staticAssignments":[{"clusterName":"m1","hard":{"cpu":"1"}}]}})"));
  old.add(make_dispatcher_role(old.members()));
  old.run(Millis{1000});
  EXPECT_EQ(old.count<WorkRendered>(), 0U);
}

}  // namespace
}  // namespace shiplog::testing
