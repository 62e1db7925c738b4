#include "services/roles/quota/decide.h"

#include <gtest/gtest.h>

#include "events/state/static_quota.h"
#include "services/roles/quota/role.h"
#include "tests/support/fake_task.h"
#include "tests/support/given.h"

namespace shiplog::quota {
namespace {

using given::History;
using given::json;

const ObjectKey kQuota{type::kFederatedResourceQuota, "default", "q"};

ObjectKey binding(const std::string& name, const std::string& ns = "default") {
  return {type::kResourceBinding, ns, name};
}

constexpr const char* kTwoReplicas = R"({"spec": {"clusters": [{"name": "m1", "replicas": 2}],
    "replicaRequirements": {"resourceRequest": {"cpu": "250m", "memory": "1Gi"}}}})";

TEST(QuotaDecide, SumsTheNamespaceAndKeepsToTheQuotasResources) {  // Q-17, Q-1, Q-7, Q-14
  History history;
  history.object(kQuota, R"({"spec": {"overall": {"cpu": "2", "pods": "5"}}})");
  history.object(binding("a"), kTwoReplicas).object(binding("b"), kTwoReplicas);
  history.object(binding("c", "other"), kTwoReplicas);
  EXPECT_EQ(history.settle(decide, kQuota), 1);
  const Value& status = history.state().value_of(kQuota)["status"];
  EXPECT_EQ(status["overall"], json(R"({"cpu": "2", "pods": "5"})"));
  EXPECT_EQ(status["overallUsed"], json(R"({"cpu": "1"})"));
}

/// As a fleet of today, with or without enforcement.
History at_version_7(bool enforced) {
  History history;
  history.accept({FoldVersionActivated{7}});
  if (enforced) history.accept({FeatureGatesSet{{"FederatedQuotaEnforcement"}}});
  return history;
}

/// A member that has applied the quota's ResourceQuota, and reports it.
void report(History& history, const std::string& cluster, const std::string& used, const char* applied = "True") {
  const ObjectKey work = work_of_quota(kQuota, cluster);
  if (history.state().find({type::kNamespace, "", work.ns}) == nullptr) {
    history.object({type::kNamespace, "", work.ns}, "{}").object({type::kCluster, "", cluster}, "{}");
  }
  history.object(work, R"({"metadata": {"labels": {"federatedresourcequota.karmada.io/namespace": "default",
          "federatedresourcequota.karmada.io/name": "q"}},
      "status": {"conditions": [{"type": "Applied", "status": ")" +
                           std::string{applied} + R"("}],
        "manifestStatuses": [{"status": {"hard": {"cpu": "1"}, "used": )" +
                           used + "}}]}}");
}

constexpr const char* kAssigned = R"({"spec": {"overall": {"cpu": "2", "memory": "1Gi"}, "staticAssignments": [
    {"clusterName": "m1", "hard": {"cpu": "1"}}, {"clusterName": "m2", "hard": {"cpu": "1"}}]}})";

TEST(QuotaDecide, SumsWhatMembersReportWithoutEnforcement_4_2_2_4_2_3) {  // 4.1.1
  History history = at_version_7(false);
  history.object(kQuota, kAssigned).object(binding("a"), kTwoReplicas);
  report(history, "m2", R"({"cpu": "300m", "memory": "512Mi"})");
  report(history, "m1", R"({"cpu": "400m", "memory": "1Gi"})");
  report(history, "m3", R"({"cpu": "9"})", "False");
  EXPECT_EQ(history.settle(decide, kQuota), 1);
  const Value& status = history.state().value_of(kQuota)["status"];
  EXPECT_EQ(status["overallUsed"], json(R"({"cpu": "700m", "memory": "1536Mi"})"));
  EXPECT_EQ(status["overall"], json(R"({"cpu": "2", "memory": "1Gi"})"));
  EXPECT_EQ(status["aggregatedStatus"],
            json(R"([{"clusterName": "m1", "hard": {"cpu": "1"}, "used": {"cpu": "400m", "memory": "1Gi"}},
                     {"clusterName": "m2", "hard": {"cpu": "1"}, "used": {"cpu": "300m", "memory": "512Mi"}}])"))
      << "sorted, without the one that has not applied it";
  report(history, "m1", "{}");
  EXPECT_EQ(history.settle(decide, kQuota), 1);
  EXPECT_EQ(history.state().value_of(kQuota)["status"]["overallUsed"], json(R"({"cpu": "300m", "memory": "512Mi"})"));
}

TEST(QuotaDecide, WithEnforcementTheBindingsCountAndMembersAreReportedBeside_4_2_3_4_4_2) {
  History history = at_version_7(true);
  history.object(binding("a"), kTwoReplicas).object(kQuota, kAssigned);
  report(history, "m1", R"({"cpu": "900m"})");
  EXPECT_EQ(history.settle(decide, kQuota), 1);
  const Value& status = history.state().value_of(kQuota)["status"];
  EXPECT_EQ(status["overallUsed"], json(R"({"cpu": "500m", "memory": "2Gi"})"));
  EXPECT_EQ(status["aggregatedStatus"][0]["used"], json(R"({"cpu": "900m"})"));
}

TEST(QuotaDecide, AQuotaThatNoMemberKnowsReportsTheBindings) {  // decision 0061
  History history = at_version_7(false);
  history.object(kQuota, R"({"spec": {"overall": {"cpu": "2"}}})").object(binding("a"), kTwoReplicas);
  EXPECT_EQ(history.settle(decide, kQuota), 1);
  EXPECT_EQ(history.state().value_of(kQuota)["status"]["overallUsed"], json(R"({"cpu": "500m"})"));
}

TEST(QuotaDecide, ReportsOfAnotherQuotaDoNotCount) {
  History history = at_version_7(false);
  history.object(kQuota, kAssigned);
  report(history, "m1", R"({"cpu": "400m"})");
  history.edit(work_of_quota(kQuota, "m1"), [](Value& work) {
    work.edit("metadata").edit("labels").set("federatedresourcequota.karmada.io/namespace", "other");
  });
  EXPECT_EQ(history.settle(decide, kQuota), 1);
  EXPECT_TRUE(history.state().value_of(kQuota)["status"]["aggregatedStatus"].is_null());
}

TEST(QuotaDecide, RecordsNothingTwice) {  // Q-16
  History history;
  history.object(kQuota, R"({"spec": {"overall": {"cpu": "2"}}})");
  EXPECT_EQ(history.settle(decide, kQuota), 1);
  EXPECT_FALSE(decision_of(decide(history.state(), kQuota, history.now())));
  history.object(binding("a"), kTwoReplicas);
  EXPECT_TRUE(decision_of(decide(history.state(), kQuota, history.now())));
}

TEST(QuotaDecide, UsageFallsWhenABindingGoes) {  // Q-16
  History history;
  history.object(kQuota, R"({"spec": {"overall": {"cpu": "2"}}})").object(binding("a"), kTwoReplicas);
  history.settle(decide, kQuota);
  history.remove(binding("a"));
  EXPECT_EQ(history.settle(decide, kQuota), 1);
  EXPECT_EQ(history.state().value_of(kQuota)["status"]["overallUsed"], json("{}"));
}

TEST(QuotaDecide, ADeletedOrTerminatingQuotaIsIgnored) {
  History history;
  EXPECT_FALSE(decision_of(decide(history.state(), kQuota, history.now())));
  history.object(kQuota, R"({"metadata": {"finalizers": ["x"]}, "spec": {"overall": {"cpu": "2"}}})");
  history.remove(kQuota);
  EXPECT_FALSE(decision_of(decide(history.state(), kQuota, history.now())));
}

TEST(QuotaRole, IsTriggeredByWhateverChangesTheStatus) {
  using given::woken;
  using Keys = std::vector<ObjectKey>;
  History history = at_version_7(false);
  history.accept({FeatureGatesSet{{"MultiplePodTemplatesScheduling"}}});
  history.object(kQuota, R"({"spec": {"overall": {"cpu": "9"}}})");
  history.object(binding("flink"), R"({"spec": {"clusters": [{"name": "m1"}], "components": [{"name": "jm",
      "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}}]}})");
  const auto role = make_quota_role();
  Value changed = history.state().value_of(binding("flink"));
  changed.edit("spec").edit("components").edit_items()[0].set("replicas", 2);
  EXPECT_EQ(woken(*role, history, {ObjectUpdated{binding("flink"), changed}}), Keys{kQuota})
      << "4.3.6: spec.clusters is what it was";
  changed = history.state().value_of(binding("flink"));
  changed.edit("metadata").edit("labels").set("a", "b");
  EXPECT_EQ(woken(*role, history, {ObjectUpdated{binding("flink"), changed}}), Keys{});
  report(history, "m1", "{}");
  Value work = history.state().value_of(work_of_quota(kQuota, "m1"));
  work.edit("status").edit("manifestStatuses").edit_items()[0].edit("status").edit("used").set("cpu", "1");
  EXPECT_EQ(woken(*role, history, {StatusUpdated{work_of_quota(kQuota, "m1"), work}}), Keys{kQuota});
  EXPECT_EQ(woken(*role, history, {FeatureGatesSet{{"FederatedQuotaEnforcement"}}}), Keys{kQuota});
}

}  // namespace
}  // namespace shiplog::quota
