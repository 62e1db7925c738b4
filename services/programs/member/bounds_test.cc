// HorizontalPodAutoscalers and PodDisruptionBudgets of trial members.
#include "services/programs/member/bounds.h"

#include <gtest/gtest.h>

#include "events/state/condition.h"
#include "tests/support/simulated_member.h"

namespace shiplog::member::testing {
namespace {

Value autoscaler(const std::string& target, int64_t least, int64_t most, const char* kind = "Deployment") {
  return json(R"({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"},
    "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": ")" +
              std::string{kind} + R"(", "name": ")" + target + R"("}, "minReplicas": )" + std::to_string(least) +
              R"(, "maxReplicas": )" + std::to_string(most) +
              R"(, "metrics": [{"type": "Resource", "resource": {"name": "cpu"}}]}})");
}

Value budget(const std::string& bound) {
  return json(R"({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"},
    "spec": {"selector": {"matchLabels": {"app": "web"}}, )" +
              bound + "}}");
}

TEST(MemberAutoscaler, BringsAWorkloadBetweenItsBounds) {
  SimulatedMember member;
  member.put(kDeployments, workload("Deployment", "web", 1));
  member.put(kAutoscalers, autoscaler("web", 3, 5));
  member.stage.run(Millis{5000});
  EXPECT_EQ(member.find(kDeployments, "web")["spec"]["replicas"].as_int(), 3);
  EXPECT_EQ(member.ready(), 3U);
  const Value& status = member.find(kAutoscalers, "web")["status"];
  EXPECT_EQ(status["currentReplicas"].as_int(), 3);
  EXPECT_EQ(status["desiredReplicas"].as_int(), 3);
  EXPECT_FALSE(status["lastScaleTime"].is_null());
  EXPECT_EQ(condition_of(member.find(kAutoscalers, "web"), "AbleToScale")["status"].str(), "True");
  member.expect_settled();

  member.edit(kDeployments, "web", [](Value& web) { web.edit("spec").set("replicas", 9); });
  member.stage.run(Millis{5000});
  EXPECT_EQ(member.find(kDeployments, "web")["spec"]["replicas"].as_int(), 5);
  member.edit(kDeployments, "web", [](Value& web) { web.edit("spec").set("replicas", 4); });
  member.stage.run(Millis{5000});
  EXPECT_EQ(member.find(kDeployments, "web")["spec"]["replicas"].as_int(), 4) << "there are no metrics";
  const Value& active = condition_of(member.find(kAutoscalers, "web"), "ScalingActive");
  EXPECT_EQ(active["status"].str(), "False");
  EXPECT_EQ(active["reason"].str(), "FailedGetResourceMetric");
  EXPECT_NE(active["message"].str().find("trial members scale by minReplicas and maxReplicas"), std::string::npos)
      << active["message"].str();
  member.edit(kDeployments, "web", [](Value& web) { web.edit("spec").set("replicas", 0); });
  member.stage.run(Millis{5000});
  EXPECT_EQ(member.find(kDeployments, "web")["spec"]["replicas"].as_int(), 0) << "0 switches it off";
  EXPECT_EQ(condition_of(member.find(kAutoscalers, "web"), "ScalingActive")["reason"].str(), "ScalingDisabled");
  member.expect_settled();
}

TEST(MemberAutoscaler, ReportsATargetThatItCannotScale) {
  SimulatedMember member;
  member.put(kAutoscalers, autoscaler("web", 2, 5));
  member.stage.run(Millis{1000});
  EXPECT_EQ(condition_of(member.find(kAutoscalers, "web"), "AbleToScale")["message"].str(),
            "the HPA controller was unable to get the target's current scale: deployments.apps \"web\" not found");
  member.expect_settled();
  member.put(kDeployments, workload("Deployment", "web", 1));
  member.stage.run(Millis{5000});
  EXPECT_EQ(member.find(kDeployments, "web")["spec"]["replicas"].as_int(), 2) << "it appears";
  member.put(kAutoscalers, autoscaler("web", 2, 5, "Sofa"));
  member.stage.run(Millis{1000});
  EXPECT_EQ(condition_of(member.find(kAutoscalers, "web"), "AbleToScale")["reason"].str(), "FailedGetScale");
}

TEST(MemberDisruptionBudget, CountsWhatMayBeEvicted) {
  SimulatedMember member;
  member.put(kDeployments, workload("Deployment", "web", 4));
  const auto allowed = [&](const std::string& bound) {
    member.put(kDisruptionBudgets, budget(bound));
    member.stage.run(Millis{3000});
    return member.find(kDisruptionBudgets, "web")["status"]["disruptionsAllowed"].as_int(-1);
  };
  EXPECT_EQ(allowed(R"("minAvailable": 3)"), 1);
  EXPECT_EQ(allowed(R"("minAvailable": "30%")"), 2) << "of 4, rounded up: 2 stay";
  EXPECT_EQ(allowed(R"("maxUnavailable": "25%")"), 1);
  EXPECT_EQ(allowed(R"("maxUnavailable": 0)"), 0);
  EXPECT_EQ(allowed(R"("minAvailable": 9)"), 0);
  EXPECT_EQ(allowed(R"("maxUnavailable": 2)"), 2);
  const Value& status = member.find(kDisruptionBudgets, "web")["status"];
  EXPECT_EQ(status["currentHealthy"].as_int(), 4);
  EXPECT_EQ(status["desiredHealthy"].as_int(), 2);
  EXPECT_EQ(status["expectedPods"].as_int(), 4);
  const Value& condition = condition_of(member.find(kDisruptionBudgets, "web"), "DisruptionAllowed");
  EXPECT_EQ(condition["status"].str(), "True");
  EXPECT_EQ(condition["reason"].str(), "SufficientPods");
  member.expect_settled();

  member.edit(kDeployments, "web", [](Value& web) { set_image(web, "fail/nginx:2"); });
  member.stage.run(Millis{5000});
  EXPECT_LT(member.find(kDisruptionBudgets, "web")["status"]["currentHealthy"].as_int(), 4) << "a rollout spends it";
}

TEST(MemberDisruptionBudget, AnEvictedPodCountsUntilItIsGoneOrWasNotDeletedAfterAll) {
  SimulatedMember member;
  member.put(kDeployments, workload("Deployment", "web", 2));
  member.put(kDisruptionBudgets, budget(R"("minAvailable": 1)"));
  member.stage.run(Millis{5000});
  const std::string pod = member.pods().at(0)["metadata"]["name"].str();
  Value evicting = member.find(kDisruptionBudgets, "web");
  evicting.edit("status").set("disruptionsAllowed", 0);
  evicting.edit("status").edit("disruptedPods").set(pod, rfc3339(member.stage.state().time()));
  member.stage.write({StatusUpdated{{kDisruptionBudgets, "default", "web"}, evicting}});
  member.stage.run(Millis{1000});
  EXPECT_EQ(member.find(kDisruptionBudgets, "web")["status"]["disruptionsAllowed"].as_int(), 0);
  member.stage.run(Millis{125'000});
  EXPECT_EQ(member.find(kDisruptionBudgets, "web")["status"]["disruptionsAllowed"].as_int(), 1);
  EXPECT_TRUE(member.find(kDisruptionBudgets, "web")["status"]["disruptedPods"].is_null());
  member.expect_settled();
}

TEST(MemberDisruptionBudget, PodsOfWhatHasNoScaleAllowNothingByPercent) {
  SimulatedMember member;
  member.put(kJobs, workload("Job", "web", -1, "fail/x"));
  member.put(kDisruptionBudgets, budget(R"("maxUnavailable": "50%")"));
  member.stage.run(Millis{3000});
  EXPECT_EQ(member.find(kDisruptionBudgets, "web")["status"]["disruptionsAllowed"].as_int(-1), 0);
  EXPECT_EQ(condition_of(member.find(kDisruptionBudgets, "web"), "DisruptionAllowed")["reason"].str(), "SyncFailed");
  member.put(kDisruptionBudgets, json(R"({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
      "metadata": {"name": "none"}, "spec": {"minAvailable": 1}})"));
  member.stage.run(Millis{1000});
  EXPECT_EQ(member.find(kDisruptionBudgets, "none")["status"]["expectedPods"].as_int(-1), 0) << "no selector, no pods";
}

}  // namespace
}  // namespace shiplog::member::testing
