#include <gtest/gtest.h>

#include "events/base/random.h"
#include "services/programs/member/condition.h"
#include "services/programs/member/node_fit.h"
#include "tests/support/simulated_member.h"

namespace shiplog::member::testing {
namespace {

MemberOptions small(int nodes, int64_t cpu) {
  MemberOptions options;
  options.nodes = nodes;
  options.node_cpu = Quantity::from_units(cpu);
  return options;
}

TEST(MemberPodScheduler, SpreadsPodsOverNodes) {
  SimulatedMember member;
  member.put(kReplicaSets, workload("ReplicaSet", "web", 6));
  member.stage.run(Millis{2000});
  for (const auto& [node, used] : usage_of_nodes(member.stage.state()).requested) {
    EXPECT_EQ(used.at("pods").units(), 2) << node;
  }
}

TEST(MemberKubelet, EndsAPodThatIsGivenAGracePeriod) {  // DEL-9
  SimulatedMember member;
  member.stage.write({FoldVersionActivated{kFoldVersion}});
  member.put(kReplicaSets, workload("ReplicaSet", "web", 1));
  member.stage.run(Millis{2000});
  const ObjectKey pod{kPods, "default", member.pods().at(0)["metadata"]["name"].str()};
  member.stage.write({DeletionRequested{.object = pod, .grace_seconds = 30}});
  EXPECT_TRUE(deleting(member.stage.state().value_of(pod)));
  member.stage.run(Millis{2000});
  EXPECT_EQ(member.stage.state().find(pod), nullptr);
  EXPECT_EQ(member.ready(), 1U) << "replaced by another pod";
  member.expect_settled();
}

TEST(MemberPodScheduler, ReportsWhyAPodFitsNowhere) {
  SimulatedMember member{small(3, 2)};
  member.put(kReplicaSets, workload("ReplicaSet", "big", 1, "nginx", "2500m"));
  member.stage.run(Millis{2000});
  const Value pod = member.pods().at(0);
  EXPECT_EQ(pod["status"]["phase"].as_string(), "Pending");
  EXPECT_EQ(condition_of(pod, "PodScheduled")["status"].as_string(), "False");
  EXPECT_EQ(condition_of(pod, "PodScheduled")["reason"].as_string(), "Unschedulable");
  EXPECT_EQ(condition_of(pod, "PodScheduled")["message"].as_string(), "0/3 nodes are available: 3 Insufficient cpu.");
  member.expect_settled();
}

TEST(MemberPodScheduler, PlacesWaitingPodsWhenCapacityIsFreed) {
  SimulatedMember member{small(1, 2)};
  member.put(kReplicaSets, workload("ReplicaSet", "first", 2, "nginx", "1"));
  member.stage.run(Millis{2000});
  member.put(kReplicaSets, workload("ReplicaSet", "second", 2, "nginx", "1"));
  member.stage.run(Millis{2000});
  EXPECT_EQ(member.find(kReplicaSets, "second")["status"]["readyReplicas"].as_int(), 0);
  member.edit(kReplicaSets, "first", [](Value& first) { first.edit("spec").set("replicas", 0); });
  member.stage.run(Millis{2000});
  EXPECT_EQ(member.find(kReplicaSets, "second")["status"]["readyReplicas"].as_int(), 2);
  member.expect_within_capacity();
}

TEST(MemberPodScheduler, RespectsTheMaximumNumberOfPodsPerNode) {
  MemberOptions options = small(2, 8);
  options.node_pods = 3;
  SimulatedMember member{options};
  member.put(kReplicaSets, workload("ReplicaSet", "web", 10));
  member.stage.run(Millis{2000});
  EXPECT_EQ(member.ready(), 6U);
  member.expect_within_capacity();
  const auto waiting = member.pods([](const Value& pod) { return pod["spec"]["nodeName"].is_empty(); });
  ASSERT_EQ(waiting.size(), 4U);
  EXPECT_EQ(condition_of(waiting[0], "PodScheduled")["message"].as_string(),
            "0/2 nodes are available: 2 Too many pods.");
}

TEST(MemberPodScheduler, ReconsidersWaitingPodsWhenANodeChanges) {
  SimulatedMember member{small(1, 4)};
  const ObjectKey node{kNodes, "", "member-node-1"};
  Value cordoned = member.stage.state().value_of(node);
  cordoned.edit("spec").set("unschedulable", true);
  member.stage.put(node, cordoned);
  member.put(kReplicaSets, workload("ReplicaSet", "web", 1));
  member.stage.run(Millis{2000});
  EXPECT_EQ(condition_of(member.pods().at(0), "PodScheduled")["message"].as_string(),
            "0/1 nodes are available: 1 node(s) were unschedulable.");
  cordoned.edit("spec").erase("unschedulable");
  member.stage.put(node, cordoned);
  member.stage.run(Millis{2000});
  EXPECT_EQ(member.ready(), 1U);
}

TEST(MemberNodeFit, RespectsSelectorsAffinityAndTaints) {
  const Value node = json(R"({"metadata":{"name":"n1","labels":{"disk":"ssd","zone":"a"}},
      "spec":{"taints":[{"key":"gpu","value":"yes","effect":"NoSchedule"},{"key":"soft","effect":"PreferNoSchedule"}]}})");
  const auto why = [&](std::string_view spec) { return misfit(json(spec), node).value_or("fits"); };
  EXPECT_EQ(why("{}"), "node(s) had untolerated taint {gpu: yes}");
  const std::string tolerant = R"("tolerations":[{"key":"gpu","operator":"Exists"}])";
  EXPECT_EQ(why("{" + tolerant + "}"), "fits");
  EXPECT_EQ(why("{" + tolerant + R"(,"nodeSelector":{"disk":"ssd"}})"), "fits");
  EXPECT_EQ(why("{" + tolerant + R"(,"nodeSelector":{"disk":"hdd"}})"),
            "node(s) didn't match Pod's node affinity/selector");
  const auto affinity = [&](const std::string& term) {
    return why(
        "{" + tolerant +
        R"(,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)" +
        term + "]}}}}");
  };
  EXPECT_EQ(affinity(R"({"matchExpressions":[{"key":"zone","operator":"In","values":["a","b"]}]})"), "fits");
  EXPECT_NE(affinity(R"({"matchExpressions":[{"key":"zone","operator":"NotIn","values":["a"]}]})"), "fits");
  EXPECT_EQ(affinity(R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]})"), "fits");
  EXPECT_NE(affinity(R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["n2"]}]})"), "fits");
  EXPECT_NE(affinity("{}"), "fits");
}

TEST(MemberPod, CountsInitContainersAndLimits) {
  const Value pod = json(R"({"spec":{"containers":[
      {"resources":{"requests":{"cpu":"100m"}}},{"resources":{"limits":{"cpu":"200m","memory":"1Gi"}}}],
      "initContainers":[{"resources":{"requests":{"cpu":"1"}}}]}})");
  EXPECT_EQ(to_string(requests_of(pod)["cpu"]), "1");
  EXPECT_EQ(to_string(requests_of(pod)["memory"], QuantityFormat::kBinary), "1Gi");
}

TEST(MemberKubelet, AnImageUnderFailNeverStarts) {
  SimulatedMember member;
  member.put(kReplicaSets, workload("ReplicaSet", "web", 1, "fail/nginx:1"));
  member.stage.run(Millis{60'000});
  const Value pod = member.pods().at(0);
  EXPECT_EQ(pod["status"]["phase"].as_string(), "Pending");
  EXPECT_EQ(pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"].as_string(), "ImagePullBackOff");
  EXPECT_EQ(condition_of(pod, "Ready")["reason"].as_string(), "ContainersNotReady");
  EXPECT_EQ(condition_of(pod, "Ready")["message"].as_string(), "containers with unready status: [main]");
  EXPECT_FALSE(member.find(kReplicaSets, "web")["status"].contains("readyReplicas"));
  member.expect_settled();
}

TEST(MemberKubelet, AnImageUnderFakeNeverStartsEither) {
  SimulatedMember member;
  member.put(kReplicaSets, workload("ReplicaSet", "web", 1, "fake/nginx:1"));
  member.put(kReplicaSets, workload("ReplicaSet", "real", 1, "fakeries/nginx:1"));
  member.stage.run(Millis{60'000});
  EXPECT_FALSE(member.find(kReplicaSets, "web")["status"].contains("readyReplicas"));
  EXPECT_EQ(member.find(kReplicaSets, "real")["status"]["readyReplicas"].as_int(), 1);
  member.expect_settled();
}

TEST(MemberKubelet, ACorrectedImageStartsThePod) {
  SimulatedMember member;
  member.put(kReplicaSets, workload("ReplicaSet", "web", 1, "fail/nginx:1"));
  member.stage.run(Millis{2000});
  const std::string name = member.pods().at(0)["metadata"]["name"].str();
  member.edit(kPods, name,
              [](Value& pod) { pod.edit("spec").edit("containers").edit_items().front().set("image", "nginx:1"); });
  member.stage.run(Millis{2000});
  EXPECT_TRUE(is_ready(member.find(kPods, name)));
}

TEST(MemberKubelet, PodsOfARemovedNodeAreReplaced) {
  SimulatedMember member{small(2, 8)};
  member.put(kReplicaSets, workload("ReplicaSet", "web", 4));
  member.stage.run(Millis{2000});
  member.stage.write({DeletionRequested{{kNodes, "", "member-node-1"}}});
  member.stage.run(Millis{3000});
  EXPECT_EQ(member.ready(), 4U);
  for (const Value& pod : member.pods()) EXPECT_EQ(pod["spec"]["nodeName"].as_string(), "member-node-2");
}

/// For any sequence of user actions: no node is ever overcommitted, and the controllers become idle.
TEST(MemberProperty, AnyHistoryConvergesWithinCapacity) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SeededRandom random{seed};
    SimulatedMember member{small(static_cast<int>(1 + random_below(random, 4)), 4)};
    std::map<std::string, int64_t> wanted;
    for (int step = 0; step < 40; ++step) {
      const std::string name = "app-" + std::to_string(random_below(random, 4));
      const auto replicas = static_cast<int64_t>(random_below(random, 9));
      const std::string image =
          random_below(random, 5) == 0 ? "fail/x" : "x:" + std::to_string(random_below(random, 3));
      if (!wanted.contains(name)) {
        const char* sizes[] = {"", "100m", "500m", "1500m"};
        member.put(kDeployments, workload("Deployment", name, replicas, image, sizes[random_below(random, 4)]));
        wanted[name] = replicas;
      } else if (random_below(random, 4) == 0 && !member.pods().empty()) {
        const auto pods = member.pods();
        member.remove(kPods, pods[random_below(random, pods.size())]["metadata"]["name"].str());
      } else {
        member.edit(kDeployments, name, [&](Value& edited) {
          edited.edit("spec").set("replicas", replicas);
          if (random_below(random, 2) == 0) set_image(edited, image);
        });
        wanted[name] = replicas;
      }
      for (uint64_t moments = 1 + random_below(random, 30); moments > 0; --moments) {
        member.stage.run(Millis{static_cast<int64_t>(random_below(random, 40))});
        member.expect_within_capacity();
        if (HasFatalFailure()) return;
      }
    }
    // All workloads are valid, and fit together.
    for (const auto& [name, replicas] : wanted) {
      member.edit(kDeployments, name, [](Value& edited) {
        edited.edit("spec").set("replicas", 1);
        set_image(edited, "good:1");
        edited.edit("spec").edit("template").edit("spec").edit("containers").edit_items().front().erase("resources");
      });
    }
    member.stage.run(Millis{30'000});
    member.expect_within_capacity();
    EXPECT_EQ(member.ready(), wanted.size());
    EXPECT_EQ(member.pods().size(), wanted.size());
    member.expect_settled();
  }
}

}  // namespace
}  // namespace shiplog::member::testing
