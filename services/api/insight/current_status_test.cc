#include "services/api/insight/current_status.h"

#include <gtest/gtest.h>

#include "tests/support/literals.h"

namespace shiplog::api {
namespace {

using test::json;

const Value kReady = json(R"({"status": {"conditions": [{"type": "Ready", "status": "True"}]}})");

std::string words(const Value& work, const Value& source = {}, const Value& cluster = kReady) {
  std::string text;
  for (const std::string& one : member_now({"m1", cluster, work, source, "T1", ""})) text += one + "\n";
  return text;
}

TEST(InsightPresent, TellsADeletedWorkFromOneThatWasNeverRendered) {
  EXPECT_EQ(words({}), "its Work, rendered at T1, has been deleted\n");
  EXPECT_EQ(member_now({"m1", kReady, {}, {}, "", ""}),
            std::vector<std::string>{"no Work has been rendered for it yet"});
}

TEST(InsightPresent, ReportsWhatSuspendedDispatching) {
  const Value work = json(R"({"metadata": {"generation": 2}, "spec": {"suspendDispatching": true}, "status": {
    "conditions": [{"type": "Dispatching", "status": "False", "lastTransitionTime": "T2"},
                   {"type": "Applied", "status": "True", "observedGeneration": 1}]}})");
  const std::string pending =
      "generation 2 of the Work, rendered at T1, has not been applied yet; the member has generation 1\n"
      "the member has not reported on it yet\n";
  EXPECT_EQ(words(work, json(R"({"spec": {"suspension": {"dispatching": true}}})")),
            "dispatching is suspended for all clusters (spec.suspension.dispatching of the binding, from its policy) "
            "since T2\n" +
                pending);
  EXPECT_EQ(words(work, json(R"({"spec": {"suspension": {"dispatchingOnClusters": {"clusterNames": ["m2", "m1"]}}}})")),
            "dispatching is suspended for this cluster (spec.suspension.dispatchingOnClusters of the binding, from its "
            "policy) since T2\n" +
                pending);
  EXPECT_EQ(words(work), "dispatching is suspended in the Work (spec.suspendDispatching) since T2\n" + pending);
}

TEST(InsightPresent, ShowsWhatTheMemberReportsOfUnhealthyObjects) {
  EXPECT_EQ(words(json(
                R"({"metadata": {"generation": 1}, "spec": {"workload": {"manifests": [{"spec": {"replicas": 3}}, {}]}},
    "status": {"conditions": [{"type": "Applied", "status": "True", "observedGeneration": 1}], "manifestStatuses": [
      {"identifier": {"ordinal": 0, "kind": "Deployment", "name": "web"}, "health": "Unhealthy", "status": {
        "replicas": 3, "readyReplicas": 1, "conditions": [
          {"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable", "message": "not enough"},
          {"type": "Progressing", "status": "True"},
          {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "quota"}]}},
      {"identifier": {"ordinal": 1, "kind": "Pod", "name": "one"}, "health": "Unhealthy", "status": {
        "containerStatuses": [{"name": "main", "state": {"waiting": {
          "reason": "ImagePullBackOff", "message": "Back-off pulling image \"fail/x\""}}}],
        "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}]}}]}})")),
            "generation 1 of the Work is applied\n"
            "Deployment web has 1 of 3 replicas ready\n"
            "Deployment web is Unhealthy\n"
            "Deployment web reports Available=False (MinimumReplicasUnavailable: not enough)\n"
            "Deployment web reports ReplicaFailure=True (FailedCreate: quota)\n"
            "Pod one: container main waits (ImagePullBackOff: Back-off pulling image \"fail/x\")\n"
            "Pod one is Unhealthy\n"
            "Pod one reports Ready=False (ContainersNotReady)\n");
}

TEST(InsightPresent, ReportsMissingTerminatingAndUnreadyClusters) {
  const Value work = json(R"({"metadata": {"generation": 1}})");
  const std::string applied =
      "generation 1 of the Work, rendered at T1, has not been applied yet; nothing has been applied "
      "there before\n";
  EXPECT_EQ(words(work, {}, {}), "cluster m1 is not in the fleet\n" + applied);
  EXPECT_EQ(words(work, {}, json(R"({"metadata": {"deletionTimestamp": "T3"}, "status": {"conditions": [
    {"type": "Ready", "status": "True"}]}})")),
            "cluster m1 is leaving the fleet since T3\n" + applied);
  EXPECT_EQ(
      words(work, {}, json(R"({"status": {"conditions": [{"type": "Ready", "status": "False",
    "reason": "ClusterNotReady", "message": "503", "lastTransitionTime": "T4"}]}})")),
      "cluster m1 is not ready since T4 (ClusterNotReady: 503): what it reported last is shown, and nothing is applied "
      "there\n" +
          applied);
}

TEST(InsightPresent, NamesTheTolerationThatKeepsAnEvictionAway_TN_18_TN_19) {
  const Value work = json(R"({"metadata": {"generation": 1}})");
  const Value cluster = json(R"({"spec": {"taints": [
      {"key": "lost", "effect": "NoExecute", "timeAdded": "2026-01-02T12:00:00Z"},
      {"key": "full", "effect": "NoSchedule"}]}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}})");
  const auto placed = [](const std::string& tolerations) {
    Value binding = json(R"({"metadata": {"annotations": {}}})");
    binding.edit("metadata")
        .edit("annotations")
        .set("policy.karmada.io/applied-placement", R"({"clusterTolerations": )" + tolerations + "}");
    return binding;
  };
  const std::string rest =
      "generation 1 of the Work, rendered at T1, has not been applied yet; nothing has been applied there before\n";
  const std::string taint = "taint lost:NoExecute since 2026-01-02T12:00:00Z";
  EXPECT_EQ(words(work, placed("[]"), cluster), "the placement does not tolerate " + taint + "\n" + rest);
  EXPECT_EQ(words(work, placed(R"([{"key": "full", "operator": "Exists"}, {"operator": "Exists"}])"), cluster),
            taint +
                R"( is tolerated because of {"operator":"Exists"} in clusterTolerations of the placement: it never )" +
                "evicts\n" + rest);
  EXPECT_EQ(words(work, placed(R"([{"key": "lost", "operator": "Exists", "tolerationSeconds": 90}])"), cluster),
            taint + R"( is tolerated because of {"key":"lost","operator":"Exists","tolerationSeconds":90} in )" +
                "clusterTolerations of the placement: it evicts at 2026-01-02T12:01:30Z\n" + rest);
}

TEST(InsightPresent, ShowsTimersOfApplicationFailovers_3_2_3) {
  Value binding = json(R"({"spec": {"clusters": [{"name": "m1"}], "failover": {"application": {"purgeMode": "Directly",
      "decisionConditions": {"tolerationSeconds": 60},
      "statePreservation": {"rules": [{"aliasLabelName": "id", "jsonPath": "{.id}"}]}}}},
      "status": {"aggregatedStatus": [{"clusterName": "m1", "health": "Unhealthy", "status": {"x": 1}}]}})");
  const Value record = json(R"({"timers": {"m1": 1767355200000}})");
  const std::string waits =
      "in m1 the workload is Unhealthy since 2026-01-02T12:00:00Z; it is moved away after 2026-01-02T12:01:00Z, unless "
      "it "
      "recovers (spec.failover.application, purgeMode Directly)";
  EXPECT_EQ(failovers_now(binding, record, false), std::vector<std::string>{waits});
  EXPECT_EQ(failovers_now(binding, record, true),
            std::vector<std::string>{waits + "; as it is now it could not be moved: statePreservation.rules[0] (label "
                                             "id): id is not found"});
  EXPECT_TRUE(failovers_now(binding, {}, true).empty());
}

}  // namespace
}  // namespace shiplog::api
