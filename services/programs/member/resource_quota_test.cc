#include "services/programs/member/resource_quota.h"

#include <gtest/gtest.h>

#include "services/programs/member/condition.h"
#include "tests/support/simulated_member.h"

namespace shiplog::member::testing {
namespace {

Value quota(const std::string& hard, const std::string& more = "") {
  return json(R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q"},"spec":{"hard":)" + hard + more +
              "}}");
}

std::string used(const SimulatedMember& member) {
  return shiplog::to_json(member.find(kResourceQuotas, "q")["status"]["used"]);
}

/// At no revision more is used than the quota permits: `cores` of pods with one core each.
void expect_never_more(const SimulatedMember& member, size_t cores) {
  std::set<std::string> there;
  for (const auto& step : member.stage.history()) {
    for (const Change& change : step.folded.changes) {
      if (change.object.type != kPods) continue;
      change.removed() || has_finished(change.after) ? there.erase(change.object.name.str())
                                                     : there.insert(change.object.name.str()).second;
    }
    ASSERT_LE(there.size(), cores);
  }
}

TEST(MemberResourceQuota, CountsAndRefusesPodsAsAnApiServerDoes) {
  SimulatedMember member;
  member.put(kResourceQuotas, quota(R"({"requests.cpu":"3","pods":"9","count/deployments.apps":"5"})"));
  member.stage.run(Millis{100});
  EXPECT_EQ(used(member), R"({"count/deployments.apps":"0","pods":"0","requests.cpu":"0"})");
  member.put(kDeployments, workload("Deployment", "web", 5, "nginx:1", "1"));
  member.stage.run(Millis{5000});
  EXPECT_EQ(member.ready(), 3U);
  EXPECT_EQ(used(member), R"({"count/deployments.apps":"1","pods":"3","requests.cpu":"3"})");
  EXPECT_EQ(member.find(kDeployments, "web")["status"]["readyReplicas"].as_int(), 3);
  const Value& set = [&]() -> const Value& {
    for (const auto& [name, object] : member.stage.state().objects(kReplicaSets)) return object.value;
    return member.find(kReplicaSets, "none");
  }();
  const Value& failure = condition_of(set, "ReplicaFailure");
  EXPECT_EQ(failure["reason"].as_string(), "FailedCreate");
  EXPECT_NE(failure["message"].as_string().find(
                "is forbidden: exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=3, limited: "
                "requests.cpu=3"),
            std::string_view::npos)
      << failure["message"].str();
  const Value& of_deployment = condition_of(member.find(kDeployments, "web"), "ReplicaFailure");
  EXPECT_EQ(of_deployment["reason"].as_string(), "FailedCreate");
  EXPECT_EQ(of_deployment["message"], failure["message"]);
  member.expect_settled();

  member.edit(kResourceQuotas, "q", [](Value& object) { object.edit("spec").edit("hard").set("requests.cpu", "4"); });
  member.stage.run(Millis{5000});
  EXPECT_EQ(member.ready(), 4U) << "room again";
  member.edit(kDeployments, "web", [](Value& object) { object.edit("spec").set("replicas", 1); });
  member.stage.run(Millis{5000});
  EXPECT_TRUE(condition_of(member.find(kDeployments, "web"), "ReplicaFailure").is_null());
  EXPECT_EQ(used(member), R"({"count/deployments.apps":"1","pods":"1","requests.cpu":"1"})");
  expect_never_more(member, 4);
  member.expect_settled();
}

TEST(MemberResourceQuota, WorkloadsThatStartTogetherShareIt) {
  SimulatedMember member;
  member.put(kResourceQuotas, quota(R"({"cpu":"5"})"));
  member.stage.run(Millis{100});
  for (const char* name : {"a", "b", "c"}) member.put(kDeployments, workload("Deployment", name, 3, "nginx:1", "1"));
  Value db = workload("StatefulSet", "db", 3, "nginx:1", "1");
  db.edit("spec").set("podManagementPolicy", "Parallel");
  member.put(kStatefulSets, db);
  member.put(kJobs, workload("Job", "batch", -1, "nginx:1", "1"));
  member.stage.run(Millis{20'000});
  EXPECT_EQ(used(member), R"({"cpu":"5"})");
  expect_never_more(member, 5);
}

TEST(MemberResourceQuota, APodHasToStateWhatIsLimited) {
  SimulatedMember member;
  member.put(kResourceQuotas, quota(R"({"limits.cpu":"5"})"));
  member.stage.run(Millis{100});
  PodQuotas quotas{member.stage.state(), "default"};
  const Value without = json(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"main","resources":
      {"requests":{"cpu":"1"}}}]}})");
  EXPECT_EQ(quotas.admit(without), "pods \"p\" is forbidden: failed quota: q: must specify limits.cpu for: main");
  const Value with = json(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"main","resources":
      {"limits":{"cpu":"3"}}}]}})");
  EXPECT_EQ(quotas.admit(with), "");
  EXPECT_NE(quotas.admit(with), "") << "the first one is charged";
}

TEST(MemberResourceQuota, ScopesChooseItsPods) {
  SimulatedMember member;
  const auto admitted = [&](const std::string& scopes, const std::string& priority) {
    member.put(kResourceQuotas, quota(R"({"pods":"0"})", scopes));
    member.stage.run(Millis{100});
    PodQuotas quotas{member.stage.state(), "default"};
    return quotas.admit(json(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"main"}])" + priority + "}}"))
        .empty();
  };
  const std::string high = R"(,"priorityClassName":"high")";
  EXPECT_FALSE(admitted("", ""));
  EXPECT_FALSE(admitted(R"(,"scopes":["BestEffort"])", ""));
  EXPECT_TRUE(admitted(R"(,"scopes":["NotBestEffort"])", ""));
  EXPECT_TRUE(admitted(R"(,"scopes":["Terminating"])", ""));
  EXPECT_TRUE(admitted(R"(,"scopes":["BestEffort","PriorityClass"])", ""));
  EXPECT_FALSE(admitted(R"(,"scopes":["PriorityClass"])", high));
  const std::string only_low = R"(,"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In",
      "values":["low"]}]})";
  EXPECT_TRUE(admitted(only_low, high));
}

}  // namespace
}  // namespace shiplog::member::testing
