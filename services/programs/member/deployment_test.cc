#include <gtest/gtest.h>

#include "services/programs/member/condition.h"
#include "services/programs/member/decide.h"
#include "services/programs/member/ownership.h"
#include "tests/support/simulated_member.h"

namespace shiplog::member::testing {
namespace {

/// The condition that `kubectl rollout status` waits for.
bool rolled_out(const Value& deployment) {
  const Value& status = deployment["status"];
  const int64_t wanted = deployment["spec"]["replicas"].as_int();
  return status["observedGeneration"].as_int() == deployment["metadata"]["generation"].as_int() &&
         status["updatedReplicas"].as_int() == wanted && status["replicas"].as_int() == wanted &&
         status["availableReplicas"].as_int() == wanted;
}

std::vector<Value> replica_sets(const SimulatedMember& member, int64_t at_least = 0) {
  std::vector<Value> sets;
  for (const auto& [name, set] : member.stage.state().objects(kReplicaSets)) {
    if (set.value["spec"]["replicas"].as_int() >= at_least) sets.push_back(set.value);
  }
  return sets;
}

TEST(MemberDeployment, BecomesReadyThroughAReplicaSet) {
  SimulatedMember member;
  member.put(kDeployments, workload("Deployment", "web", 3));
  member.stage.run(Millis{3000});

  const Value& deployment = member.find(kDeployments, "web");
  EXPECT_TRUE(rolled_out(deployment)) << to_pretty_json(deployment["status"]);
  EXPECT_FALSE(deployment["status"].contains("unavailableReplicas"));
  EXPECT_EQ(condition_of(deployment, "Available")["reason"].as_string(), "MinimumReplicasAvailable");
  EXPECT_EQ(condition_of(deployment, "Progressing")["reason"].as_string(), "NewReplicaSetAvailable");
  EXPECT_EQ(annotation_of(deployment, "deployment.kubernetes.io/revision"), "1");
  const auto sets = replica_sets(member);
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets[0]["metadata"]["name"].str(), "web-" + std::string{label_of(sets[0], "pod-template-hash")});
  EXPECT_EQ(uid_of(deployment), controller_of(sets[0])["uid"].as_string());
  for (const Value& pod : member.pods()) {
    EXPECT_EQ(controller_of(pod)["uid"].as_string(), uid_of(sets[0]));
    EXPECT_FALSE(pod["status"]["podIP"].is_empty());
    EXPECT_EQ(label_of(pod, "pod-template-hash"), label_of(sets[0], "pod-template-hash"));
  }
  member.expect_settled();
}

TEST(MemberDeployment, IsNotReadyBeforeTheDelay) {
  MemberOptions options;
  options.ready_delay = Millis{5000};
  SimulatedMember member{options};
  member.put(kDeployments, workload("Deployment", "web", 2));
  member.stage.run(Millis{4000});
  EXPECT_EQ(member.ready(), 0U);
  EXPECT_EQ(condition_of(member.find(kDeployments, "web"), "Available")["reason"].as_string(),
            "MinimumReplicasUnavailable");
  EXPECT_EQ(member.find(kDeployments, "web")["status"]["unavailableReplicas"].as_int(), 2);
  EXPECT_EQ(member.pods()[0]["status"]["containerStatuses"][0]["state"]["waiting"]["reason"].as_string(),
            "ContainerCreating");
  member.stage.run(Millis{2000});
  EXPECT_EQ(member.ready(), 2U);
}

TEST(MemberDeployment, ScalesUpAndDownToZeroWithTheSameReplicaSet) {
  SimulatedMember member;
  member.put(kDeployments, workload("Deployment", "web", 1));
  member.stage.run(Millis{2000});
  for (const int64_t replicas : {7, 2, 0}) {
    member.edit(kDeployments, "web", [&](Value& web) { web.edit("spec").set("replicas", replicas); });
    member.stage.run(Millis{3000});
    EXPECT_EQ(member.pods().size(), static_cast<size_t>(replicas));
    EXPECT_TRUE(rolled_out(member.find(kDeployments, "web")));
    EXPECT_EQ(replica_sets(member).size(), 1U);
  }
  EXPECT_TRUE(usage_of_nodes(member.stage.state()).requested.empty());
  member.expect_settled();
}

TEST(MemberDeployment, RollsOutWithinSurgeAndUnavailability) {
  SimulatedMember member;
  Value web = workload("Deployment", "web", 8);
  web.edit("spec").set("strategy",
                       json(R"({"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":1}})"));
  member.put(kDeployments, web);
  member.stage.run(Millis{3000});
  ASSERT_TRUE(rolled_out(member.find(kDeployments, "web")));

  member.edit(kDeployments, "web", [](Value& edited) { set_image(edited, "nginx:2"); });
  const auto is_old = [](const Value& pod) { return pod["spec"]["containers"][0]["image"].as_string() == "nginx:1"; };
  size_t most = 0;
  size_t fewest = 8;
  for (int step = 0; step < 2000; ++step) {
    member.stage.run(Millis{5});
    most = std::max(most, member.pods().size());
    fewest = std::min(fewest, member.ready());
  }
  EXPECT_EQ(most, 10U);   // 8 and a quarter more
  EXPECT_GE(fewest, 7U);  // one less
  EXPECT_TRUE(member.pods(is_old).empty());
  EXPECT_TRUE(rolled_out(member.find(kDeployments, "web")));
  EXPECT_EQ(annotation_of(member.find(kDeployments, "web"), "deployment.kubernetes.io/revision"), "2");
  EXPECT_EQ(replica_sets(member).size(), 2U);
  EXPECT_EQ(replica_sets(member, 1).size(), 1U);
  member.expect_settled();
}

TEST(MemberDeployment, KeepsOldPodsWhenTheNewImageFails) {
  SimulatedMember member;
  Value web = workload("Deployment", "web", 4);
  web.edit("spec").set("progressDeadlineSeconds", 30);
  member.put(kDeployments, web);
  member.stage.run(Millis{3000});
  member.edit(kDeployments, "web", [](Value& edited) { set_image(edited, "fail/nginx:2"); });
  member.stage.run(Millis{10'000});

  EXPECT_EQ(member.ready(), 3U);  // a quarter may be missing
  EXPECT_FALSE(rolled_out(member.find(kDeployments, "web")));
  EXPECT_EQ(condition_of(member.find(kDeployments, "web"), "Available")["status"].as_string(), "True");
  EXPECT_EQ(condition_of(member.find(kDeployments, "web"), "Progressing")["reason"].as_string(), "ReplicaSetUpdated");
  member.stage.run(Millis{30'000});
  EXPECT_EQ(condition_of(member.find(kDeployments, "web"), "Progressing")["reason"].as_string(),
            "ProgressDeadlineExceeded");
  member.expect_settled();

  // A rollback makes the first ReplicaSet the newest.
  member.edit(kDeployments, "web", [](Value& edited) { set_image(edited, "nginx:1"); });
  member.stage.run(Millis{5000});
  EXPECT_TRUE(rolled_out(member.find(kDeployments, "web")));
  EXPECT_EQ(condition_of(member.find(kDeployments, "web"), "Progressing")["reason"].as_string(),
            "NewReplicaSetAvailable");
  EXPECT_EQ(annotation_of(member.find(kDeployments, "web"), "deployment.kubernetes.io/revision"), "3");
  EXPECT_EQ(replica_sets(member).size(), 2U);
  member.expect_settled();
}

TEST(MemberDeployment, RecreateHasNoTwoVersionsAtOnce) {
  SimulatedMember member;
  Value web = workload("Deployment", "web", 3);
  web.edit("spec").set("strategy", json(R"({"type":"Recreate"})"));
  member.put(kDeployments, web);
  member.stage.run(Millis{3000});
  member.edit(kDeployments, "web", [](Value& edited) { set_image(edited, "nginx:2"); });
  for (int step = 0; step < 1000; ++step) {
    member.stage.run(Millis{5});
    std::set<std::string> images;
    for (const Value& pod : member.pods()) images.insert(pod["spec"]["containers"][0]["image"].str());
    ASSERT_LE(images.size(), 1U);
  }
  EXPECT_TRUE(rolled_out(member.find(kDeployments, "web")));
  EXPECT_EQ(member.pods()[0]["spec"]["containers"][0]["image"].as_string(), "nginx:2");
}

TEST(MemberDeployment, WhilePausedOnlyItsSizeChanges) {
  SimulatedMember member;
  member.put(kDeployments, workload("Deployment", "web", 2));
  member.stage.run(Millis{3000});
  member.edit(kDeployments, "web", [](Value& web) {
    web.edit("spec").set("paused", true);
    web.edit("spec").set("replicas", 4);
    set_image(web, "nginx:2");
  });
  member.stage.run(Millis{3000});
  EXPECT_EQ(replica_sets(member).size(), 1U);
  EXPECT_EQ(member.ready(), 4U);
  EXPECT_EQ(condition_of(member.find(kDeployments, "web"), "Progressing")["reason"].as_string(), "DeploymentPaused");

  member.edit(kDeployments, "web", [](Value& web) { web.edit("spec").erase("paused"); });
  member.stage.run(Millis{5000});
  EXPECT_TRUE(rolled_out(member.find(kDeployments, "web")));
  EXPECT_EQ(condition_of(member.find(kDeployments, "web"), "Progressing")["reason"].as_string(),
            "NewReplicaSetAvailable");
  member.expect_settled();
}

TEST(MemberDeployment, KeepsRevisionHistoryLimitReplicaSets) {
  SimulatedMember member;
  Value web = workload("Deployment", "web", 1);
  web.edit("spec").set("revisionHistoryLimit", 2);
  member.put(kDeployments, web);
  for (int version = 2; version < 7; ++version) {
    member.stage.run(Millis{3000});
    member.edit(kDeployments, "web", [&](Value& edited) { set_image(edited, "nginx:" + std::to_string(version)); });
  }
  member.stage.run(Millis{3000});
  EXPECT_TRUE(rolled_out(member.find(kDeployments, "web")));
  EXPECT_EQ(replica_sets(member).size(), 3U);
}

TEST(MemberDeployment, WaitsForMinReadySeconds) {
  SimulatedMember member;
  Value web = workload("Deployment", "web", 1);
  web.edit("spec").set("minReadySeconds", 10);
  member.put(kDeployments, web);
  member.stage.run(Millis{5000});
  EXPECT_EQ(member.find(kDeployments, "web")["status"]["readyReplicas"].as_int(), 1);
  EXPECT_EQ(member.find(kDeployments, "web")["status"]["availableReplicas"].as_int(), 0);
  member.stage.run(Millis{8000});
  EXPECT_TRUE(rolled_out(member.find(kDeployments, "web")));
}

TEST(MemberReplicaSet, ReplacesPodsThatAreDeleted) {
  SimulatedMember member;
  member.put(kReplicaSets, workload("ReplicaSet", "web", 3));
  member.stage.run(Millis{2000});
  const std::string gone = member.pods()[0]["metadata"]["name"].str();
  member.remove(kPods, gone);
  member.stage.run(Millis{2000});
  EXPECT_TRUE(member.find(kPods, gone).is_null());
  EXPECT_EQ(member.ready(), 3U);
  const Value& status = member.find(kReplicaSets, "web")["status"];
  EXPECT_EQ(status["replicas"].as_int(), 3);
  EXPECT_EQ(status["fullyLabeledReplicas"].as_int(), 3);
  EXPECT_EQ(status["readyReplicas"].as_int(), 3);
}

TEST(MemberReplicaSet, DeletesUnavailablePodsFirst) {
  MemberOptions options;
  options.nodes = 1;
  options.node_cpu = Quantity::from_units(3);
  SimulatedMember member{options};
  member.put(kReplicaSets, workload("ReplicaSet", "web", 5, "nginx:1", "1"));
  member.stage.run(Millis{2000});
  EXPECT_EQ(member.ready(), 3U);
  member.edit(kReplicaSets, "web", [](Value& web) { web.edit("spec").set("replicas", 3); });
  member.stage.run(Millis{20});
  EXPECT_EQ(member.ready(), 3U);
  EXPECT_EQ(member.pods().size(), 3U);
}

TEST(MemberReplicaSet, CreatesManyPodsInSteps) {
  MemberOptions options;
  options.node_pods = 1000;
  SimulatedMember member{options};
  member.put(kReplicaSets, workload("ReplicaSet", "web", 500));
  member.stage.run(Millis{5000});
  EXPECT_EQ(member.ready(), 500U);
}

TEST(MemberOwnership, ReadsIntOrString) {
  EXPECT_EQ(scaled(Value{3}, 10, true, 1), 3);
  EXPECT_EQ(scaled(Value{"25%"}, 10, true, 1), 3);
  EXPECT_EQ(scaled(Value{"25%"}, 10, false, 1), 2);
  EXPECT_EQ(scaled(Value{}, 10, false, 7), 7);
  EXPECT_EQ(scaled(Value{"many"}, 10, false, 7), 7);
}

TEST(MemberOwnership, CutsLongNames) {
  EXPECT_EQ(generated_name("web", "abcde"), "web-abcde");
  EXPECT_EQ(generated_name(std::string(80, 'x'), "abcde"), std::string(57, 'x') + "-abcde");
}

}  // namespace
}  // namespace shiplog::member::testing
