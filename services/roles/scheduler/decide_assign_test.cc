// How replicas are divided among clusters, and what room there is for them.
#include <algorithm>

#include <gtest/gtest.h>

#include "services/roles/scheduler/estimate/resource_summary.h"
#include "tests/support/decided.h"
#include "tests/support/scheduling.h"

namespace shiplog::scheduler {
namespace {

TEST(SchedulerDecide, StaticWeightExamples) {  // S-50, X-1 to X-14, S-46, TRAP-4
  const std::vector<std::pair<std::string, int64_t>> ab = {{"a", 0}, {"b", 0}};
  const std::vector<std::pair<std::string, int64_t>> abc = {{"a", 0}, {"b", 0}, {"c", 0}};
  EXPECT_EQ(answer({9, static_weights({{"a", 1}, {"b", 2}}), ab}), "a:3 b:6");                              // X-1
  EXPECT_EQ(answer({9, static_weights({{"a", 1}, {"b", 3}}), ab}), "a:2 b:7");                              // X-2
  EXPECT_EQ(answer({10, kEqualWeights, abc}), "a:4 b:3 c:3");                                               // X-3
  EXPECT_EQ(answer({10, kEqualWeights, abc, {}, "uid-2"}), "a:4 b:3 c:3");                                  // X-3
  EXPECT_EQ(answer({10, kEqualWeights, abc, {}, "uid-1"}), "a:3 b:3 c:4");                                  // X-4
  EXPECT_EQ(answer({5, static_weights({{"a", 1}, {"b", 1}, {"c", 10}}), abc}), "c:5");                      // X-5
  EXPECT_EQ(answer({2, static_weights({{"a", 3}, {"b", 1}}), ab}), "a:1 b:1");                              // X-6
  EXPECT_EQ(answer({7, static_weights({{"a", 5}, {"b", 3}, {"c", 1}}), abc}), "a:4 b:2 c:1");               // X-7
  EXPECT_EQ(answer({12, static_weights({{"a", 6}, {"b", 2}, {"c", 1}}), abc}), "a:8 b:3 c:1");              // X-8
  EXPECT_EQ(answer({2, kEqualWeights, abc}), "a:1 b:1");                                                    // X-9
  EXPECT_EQ(answer({6, static_weights({{"a", 2}, {"b", 1}}), {{"a", 0}, {"b", 0}, {"d", 0}}}), "a:4 b:2");  // X-10
  EXPECT_EQ(answer({5, static_weights({{"x", 3}}), ab}), "a:3 b:2");                                        // X-11
  EXPECT_EQ(answer({9, static_weights({{"a", 1}, {"b", 2}}), ab, {{"a", 9}}, "", true}), "a:3 b:6");        // X-12
  EXPECT_EQ(answer({10, static_weights({{"a", 1}, {"b", 2}}), ab, {{"a", 3}, {"b", 6}}}), "a:3 b:7");       // X-13
  EXPECT_EQ(answer({100, kEqualWeights, abc, {}, "uid-1"}), "a:33 b:33 c:34");                              // X-14
}

TEST(SchedulerDecide, DynamicWeightExamples) {  // S-51 to S-55, X-15 to X-27, S-10, S-12, S-58, TRAP-4
  const std::vector<Target> prev = {{"a", 2}, {"b", 4}, {"c", 6}};
  const auto ask = [](int64_t replicas, std::vector<std::pair<std::string, int64_t>> room, std::vector<Target> before,
                      bool fresh = false, const char* uid = "") {
    return answer({replicas, kDynamic, std::move(room), std::move(before), uid, fresh});
  };
  EXPECT_EQ(ask(12, {{"a", 6}, {"b", 12}, {"c", 18}}, {}), "a:2 b:4 c:6");   // X-15
  EXPECT_EQ(ask(15, {{"a", 4}, {"b", 8}, {"c", 12}}, prev), "a:3 b:5 c:7");  // X-16
  EXPECT_EQ(ask(16, {{"a", 10}, {"b", 0}, {"c", 2}}, prev), "a:5 b:4 c:7");  // X-17
  EXPECT_EQ(ask(6, {{"a", 0}, {"b", 0}, {"c", 0}}, prev), "a:1 b:2 c:3");    // X-18
  EXPECT_EQ(ask(7, {{"a", 0}, {"b", 0}, {"c", 0}}, prev), "a:1 b:2 c:4");    // X-19
  EXPECT_EQ(ask(1, {{"a", 0}, {"b", 0}, {"c", 0}}, prev), "c:1");            // X-20
  EXPECT_EQ(ask(12, {{"a", 100}, {"b", 0}, {"c", 0}}, prev), "stands");      // X-21, S-14
  EXPECT_EQ(ask(12, {{"a", 3}, {"b", 4}, {"c", 4}}, {}),
            "Unschedulable: failed to assign replicas: failed to scale up: Clusters available replicas 11 are not "
            "enough to schedule.");                                                // X-22
  EXPECT_EQ(ask(12, {{"a", 10}, {"b", 2}, {"c", 0}}, prev, true), "a:6 b:3 c:3");  // X-23
  EXPECT_EQ(ask(10, {{"a", 5}, {"c", 15}}, {{"a", 6}}), "a:7 c:3");                // X-25
  EXPECT_EQ(ask(3, {{"a", 0}, {"b", 0}}, {{"a", 2}, {"b", 2}}), "a:2 b:1");        // X-26
  EXPECT_EQ(ask(3, {{"a", 0}, {"b", 0}}, {{"a", 2}, {"b", 2}}, false, "uid-1"), "a:1 b:2");
  EXPECT_EQ(ask(4, {{"a", 2}, {"b", 1}, {"c", 1}, {"d", 1}}, {}), "a:1 b:1 c:1 d:1");  // X-27
}

TEST(SchedulerDecide, DropsATargetThatIsNoLongerFeasible) {  // X-24, S-51, TRAP-6
  History history = history_of({12, kDynamic, {{"a", 4}, {"b", 8}, {"c", 0}}, {{"a", 2}, {"b", 4}, {"c", 6}}});
  history.edit(kBinding, [](Value& binding) {
    binding.edit("spec").edit("placement").set("clusterAffinity", json(R"({"clusterNames": ["a", "b"]})"));
  });
  EXPECT_EQ(answer(history), "a:4 b:8");
}

TEST(SchedulerDecide, AggregatedExamples) {  // S-56, X-28 to X-37, S-57, TRAP-2
  const auto ask = [](int64_t replicas, std::vector<std::pair<std::string, int64_t>> room, std::vector<Target> before,
                      bool fresh = false) {
    return answer({replicas, kAggregated, std::move(room), std::move(before), "", fresh});
  };
  EXPECT_EQ(ask(7, {{"a", 5}, {"b", 3}, {"c", 2}}, {}), "a:4 b:3");                        // X-28
  EXPECT_EQ(ask(4, {{"a", 5}, {"b", 3}, {"c", 2}}, {}), "a:4");                            // X-29
  EXPECT_EQ(ask(10, {{"a", 4}, {"b", 4}, {"c", 4}}, {}), "a:4 b:3 c:3");                   // X-30
  EXPECT_EQ(ask(6, {{"a", 10}, {"b", 1}}, {{"b", 4}}), "a:2 b:4");                         // X-31
  EXPECT_EQ(ask(6, {{"a", 10}, {"b", 3}}, {{"b", 4}}), "b:6");                             // X-32
  EXPECT_EQ(ask(9, {{"a", 1}, {"b", 0}, {"c", 6}}, {{"a", 4}, {"b", 3}}), "a:4 b:3 c:2");  // X-33
  EXPECT_EQ(ask(4, {{"a", 0}, {"b", 0}}, {{"a", 4}, {"b", 3}}), "a:4");                    // X-34
  EXPECT_EQ(ask(5, {{"a", 0}, {"b", 0}}, {{"a", 4}, {"b", 3}}), "a:3 b:2");                // X-35
  EXPECT_EQ(ask(7, {{"a", 1}, {"c", 6}}, {{"a", 4}, {"b", 3}}), "a:4 c:3");                // X-36
  EXPECT_EQ(ask(7, {{"a", 1}, {"b", 0}, {"c", 9}}, {{"a", 4}, {"b", 3}}, true), "c:7");    // X-37
}

// S-13, S-43, S-45, S-46.
TEST(SchedulerDecide, DuplicatedAndZeroReplicas) {                       // X-38, X-39
  EXPECT_EQ(answer({5, kDuplicated, {{"a", 1}, {"b", 1}}}), "a:5 b:5");  // X-38
  EXPECT_EQ(answer({5, "", {{"a", 1}, {"b", 1}}}), "a:5 b:5");
  EXPECT_EQ(answer({0, kDuplicated, {{"a", 1}, {"b", 1}}}), "a:0 b:0");  // X-39
  History history = history_of({0, kDuplicated, {{"a", 1}, {"b", 1}}});
  history.edit(kBinding, [](Value& binding) {
    binding.edit("spec").edit("replicaRequirements").edit("resourceRequest").set("cpu", "1");
  });
  EXPECT_EQ(answer(history), "nothing");
}

TEST(SchedulerDecide, SelectedClustersWithoutReplicasAreAddedWithTheOption_S_46) {
  History history = history_of({2, kEqualWeights, {{"a", 9}, {"b", 9}, {"c", 9}}});
  EXPECT_EQ(answer(history), "a:1 b:1");
  history.accept({OptionsSet{{{"enable-empty-workload-propagation", {"true"}}}}});
  EXPECT_EQ(answer(history), "a:1 b:1 c:0");
  History none = history_of({0, kDuplicated, {{"a", 1}, {"b", 1}}});
  none.edit(kBinding, [](Value& binding) {
    binding.edit("spec").edit("replicaRequirements").edit("resourceRequest").set("cpu", "1");
  });
  none.accept({OptionsSet{{{"enable-empty-workload-propagation", {"true"}}}}});
  EXPECT_EQ(answer(none), "a:0 b:0");
}

TEST(SchedulerEstimate, IsTheScarcestResource) {  // S-64, X-57 to X-59, S-63
  Binding binding;
  binding.replicas = 1;
  binding.requires_room = true;
  const auto list = [](const char* text) { return resource_list_from(json(text)); };
  binding.request = list(R"({"cpu": "700m", "memory": "2Gi"})");
  Cluster cluster;
  cluster.room =
      room_of(list(R"({"cpu": "16", "memory": "64Gi", "pods": "110"})"),
              list(R"({"cpu": "9500m", "memory": "20Gi", "pods": "30"})"), list(R"({"cpu": "500m", "pods": "1"})"));
  EXPECT_EQ(room_for(binding, cluster), 8);  // X-57
  binding.request = list(R"({"nvidia.com/gpu": "1"})");
  EXPECT_EQ(room_for(binding, cluster), 0);  // X-59
  binding.request = {};
  EXPECT_EQ(room_for(binding, cluster), 79);
  cluster.room = room_of(list(R"({"cpu": "50m", "pods": "10"})"), {}, {});
  binding.request = list(R"({"cpu": "100m"})");
  EXPECT_EQ(room_for(binding, cluster), 0);  // X-58
  EXPECT_EQ(room_for(binding, Cluster{}), 0);
  cluster.room = room_of(list(R"({"cpu": "16"})"), {}, {});  // no pods fit where their number is not given
  EXPECT_EQ(room_for(binding, cluster), 0);
}

TEST(SchedulerEstimate, CountsNodesByTheirGrades) {  // S-66, S-70, X-60, X-61
  Value object = cluster("a", 50);
  object.edit("spec").set("resourceModels", json(R"([
    {"grade": 0, "ranges": [{"name": "cpu", "min": "0"}, {"name": "memory", "min": "0"}]},
    {"grade": 2, "ranges": [{"name": "cpu", "min": "2"}, {"name": "memory", "min": "16Gi"}]},
    {"grade": 3, "ranges": [{"name": "cpu", "min": "4"}, {"name": "memory", "min": "32Gi"}]}])"));
  object.edit("status").edit("resourceSummary").set("allocatableModelings", json(R"([
    {"grade": 0, "count": 3}, {"grade": 2, "count": 2}, {"grade": 3, "count": 1}])"));
  Binding binding;
  binding.replicas = 1;
  binding.requires_room = true;
  binding.request = resource_list_from(json(R"({"cpu": "1", "memory": "2Gi"})"));
  EXPECT_EQ(room_for(binding, cluster_from(object)), 8) << "0 + 2 * 2 + 4";
  binding.request = resource_list_from(json(R"({"nvidia.com/gpu": "1"})"));
  EXPECT_EQ(room_for(binding, cluster_from(object)), 0) << "not modelled";
  binding.requires_room = false;
  EXPECT_EQ(room_for(binding, cluster_from(object)), 50) << "only pods count where nothing is required";
  binding.requires_room = true;
  binding.request = resource_list_from(json(R"({"cpu": "1", "memory": "2Gi"})"));
  object.edit("status").edit("resourceSummary").edit("allocatable").set("pods", 5);
  EXPECT_EQ(room_for(binding, cluster_from(object)), 5);
}

/// Whatever fleet and history: totals and bounds hold, the same question has the same answer, and a placement once made
/// stands.
TEST(SchedulerAssignProperty, HoldsForRandomFleets) {  // S-46, S-59, S-60
  uint64_t seed = 7;
  const auto next = [&seed](uint64_t below) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int64_t>((seed >> 33U) % below);
  };
  for (int round = 0; round < 400; ++round) {
    const std::string strategy = round % 4 == 0   ? kDuplicated
                                 : round % 4 == 1 ? kEqualWeights
                                 : round % 4 == 2 ? kDynamic
                                                  : kAggregated;
    Case from{1 + next(40), strategy, {}, {}, "uid-" + std::to_string(round)};
    const int64_t fleet = 1 + next(5);
    int64_t room = 0;
    for (int64_t at = 0; at < fleet; ++at) {
      const std::string name(1, static_cast<char>('a' + at));
      from.clusters.emplace_back(name, next(20));
      room += from.clusters.back().second;
      if (next(2) == 0) from.previous.push_back({name, 1 + next(6)});
    }
    int64_t before = 0;
    for (const Target& target : from.previous) before += target.replicas;
    History history = history_of(from);
    const Event event = decided(history);
    EXPECT_EQ(event, decided(history));
    if (const auto* placed = std::get_if<PlacementDecided>(&event)) {
      EXPECT_TRUE(std::is_sorted(placed->targets.begin(), placed->targets.end()));
      int64_t sum = 0;
      for (const Target& target : placed->targets) {
        sum += target.replicas;
        EXPECT_GT(target.replicas, 0);
        if (strategy != kDynamic && strategy != kAggregated) continue;
        const auto had = std::find_if(from.previous.begin(), from.previous.end(),
                                      [&](const Target& one) { return one.cluster == target.cluster; });
        const int64_t kept = had == from.previous.end() ? 0 : had->replicas;
        const auto pods = from.clusters[static_cast<size_t>(target.cluster[0] - 'a')].second;
        EXPECT_LE(target.replicas, pods + kept) << "round " << round;
      }
      EXPECT_EQ(sum, strategy == kDuplicated ? from.replicas * fleet : from.replicas) << "round " << round;
    } else if (std::holds_alternative<PlacementRefused>(event)) {
      EXPECT_LT(before + room, from.replicas) << "round " << round;
    }
    history.settle(decide, kBinding);
    EXPECT_FALSE(decision_of(decide(history.state(), kBinding, history.now())));
  }
}

}  // namespace
}  // namespace shiplog::scheduler
