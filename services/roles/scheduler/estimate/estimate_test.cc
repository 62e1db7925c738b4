// Room for whole sets of components, and what is promised: S-62 to S-70, M-1 to M-9.
#include <random>

#include <gtest/gtest.h>

#include "services/roles/scheduler/estimate/resource_summary.h"
#include "services/roles/scheduler/estimate/virtual_nodes.h"
#include "tests/support/given.h"

namespace shiplog::scheduler {
namespace {

using given::json;

constexpr const char* kFlink = R"([
  {"name": "jm", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}},
  {"name": "tm", "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "2"}}}])";

/// A cluster with a resource summary, and grades of its nodes.
Cluster cluster_with(const char* summary, const char* models = "[]") {
  Value value = json(R"({"metadata": {"name": "m1"}, "spec": {}, "status": {}})");
  value.edit("spec").set("resourceModels", json(models));
  value.edit("status").set("resourceSummary", json(summary));
  return cluster_from(value);
}

/// For a binding with these components that is for exactly one cluster.
int64_t sets(const char* components, const Cluster& cluster, const UnsettledIndex* unsettled = nullptr,
             UtcMillis now = {}) {
  Binding binding;
  binding.components = components_from(json(components));
  Placement placement;
  placement.spread = {{"cluster", "", 1, 1}};
  const PlacementContext context{.component_sets = true, .unsettled = unsettled, .now = now};
  return Estimate{Demand{binding, placement, nullptr, false, context}}(cluster);
}

int64_t replicas(int64_t wanted, const char* request, const Cluster& cluster, const UnsettledIndex* unsettled = nullptr,
                 UtcMillis now = {}) {
  Binding binding;
  binding.replicas = wanted;
  binding.requires_room = true;
  binding.request = resource_list_from(json(request));
  const Placement placement;
  const PlacementContext context{.unsettled = unsettled, .now = now};
  return Estimate{Demand{binding, placement, nullptr, false, context}}(cluster);
}

constexpr const char* kGrades = R"([
  {"grade": 0, "ranges": [{"name": "cpu", "min": "0", "max": "1"}, {"name": "memory", "min": "0", "max": "4Gi"}]},
  {"grade": 2, "ranges": [{"name": "cpu", "min": "2", "max": "4"}, {"name": "memory", "min": "16Gi", "max": "32Gi"}]},
  {"grade": 3, "ranges": [{"name": "cpu", "min": "4", "max": "8"}, {"name": "memory", "min": "32Gi", "max": "64Gi"}]}])";
std::string graded(int pods) {
  return R"({"allocatable": {"cpu": "1000", "memory": "1000Gi", "pods": )" + std::to_string(pods) +
         R"(}, "allocatableModelings": [{"grade": 0, "count": 3}, {"grade": 2, "count": 2}, {"grade": 3, "count": 1}]})";
}

TEST(Estimate, SetsAreBoundByPodsAndByTheSumOfWhatTheyNeed_X_62_M_3) {  // X-62
  EXPECT_EQ(sets(kFlink, cluster_with(R"({"allocatable": {"cpu": "12", "pods": 10}})")), 2);
  EXPECT_EQ(sets(kFlink, cluster_with(R"({"allocatable": {"cpu": "100", "pods": 10}})")), 3);
  EXPECT_EQ(sets(kFlink, cluster_with(R"({"allocatable": {"cpu": "4", "pods": 10}})")), 0);
  EXPECT_EQ(sets(kFlink, cluster_with(R"({"allocatable": {"cpu": "4"}})")), 0) << "no pods";
  EXPECT_EQ(sets(kFlink, cluster_with(R"({"allocatable": {"memory": "4Gi", "pods": 10}})")), 0) << "no cpu at all";
  EXPECT_EQ(sets(R"([{"name": "a", "replicas": 0}])", cluster_with(R"({"allocatable": {"pods": 7}})")), 7) << "p = 0";
}

TEST(Estimate, DecimalMemoryAgainstABinaryCapacityIsOffByAThousand_M_4) {
  const char* binary =
      R"([{"name": "a", "replicas": 1, "replicaRequirements": {"resourceRequest": {"memory": "1Gi"}}}])";
  const char* decimal =
      R"([{"name": "a", "replicas": 1, "replicaRequirements": {"resourceRequest": {"memory": "1073741824"}}}])";
  const Cluster in_binary = cluster_with(R"({"allocatable": {"memory": "8Gi", "pods": 1000}})");
  const Cluster in_decimal = cluster_with(R"({"allocatable": {"memory": "8589934592", "pods": 10000}})");
  EXPECT_EQ(sets(binary, in_binary), 8);
  EXPECT_EQ(sets(decimal, in_binary), 0) << "thousandths against units";
  EXPECT_EQ(sets(decimal, in_decimal), 8);
  EXPECT_EQ(sets(binary, in_decimal), 8000) << "units against thousandths";
}

TEST(Estimate, SetsArePutOnTheNodesOfTheGradesFirstFit_M_5) {
  // Nodes with 2, 2 and 4 cpu: one set takes 1 of the first node for jm, then the other 2 whole nodes' worth for tm.
  EXPECT_EQ(sets(kFlink, cluster_with(graded(50).c_str(), kGrades)), 1);
  const char* small = R"([{"name": "a", "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}}])";
  EXPECT_EQ(sets(small, cluster_with(graded(50).c_str(), kGrades)), 4);
  EXPECT_EQ(sets(small, cluster_with(graded(6).c_str(), kGrades)), 3) << "pods bound it";
  const char* gpu = R"([{"name": "a", "replicas": 1, "replicaRequirements": {"resourceRequest": {"gpu": "1"}}}])";
  EXPECT_EQ(sets(gpu, cluster_with(graded(50).c_str(), kGrades)), 0);
}

// The runs of equal nodes are an abbreviation: one node after the other gives the same.
TEST(VirtualNodes, RunsOfEqualNodesAreLikeSingleNodes_M_5) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random{seed};
    std::vector<Cluster::Grade> grades;
    std::vector<std::pair<int64_t, int64_t>> nodes;  // cpu and pods left
    for (int grade = 0; grade < 3; ++grade) {
      const int64_t cpu = random() % 5;
      const int64_t count = random() % 4;
      grades.push_back({count, {{"cpu", {cpu, 1000 * cpu, 1000 * cpu}}}});
      for (int64_t at = 0; at < count; ++at) nodes.emplace_back(cpu, 110);
    }
    std::vector<Component> components;
    for (int at = 0; at < 2; ++at) {
      const auto cpu = static_cast<int64_t>(random() % 3);
      components.push_back({"c", static_cast<int64_t>(random() % 4), {{"cpu", Quantity::from_units(cpu)}}, {}});
    }
    int64_t expected = 0;
    const int64_t most = 30;
    const auto one_set = [&] {
      for (const Component& one : components) {
        const int64_t cpu = one.request.at("cpu").units();
        for (int64_t left = one.replicas; left > 0; --left) {
          const auto node =
              std::ranges::find_if(nodes, [&](const auto& each) { return each.first >= cpu && each.second > 0; });
          if (node == nodes.end()) return false;
          node->first -= cpu;
          --node->second;
        }
      }
      return true;
    };
    while (expected < most && one_set()) ++expected;
    VirtualNodes virtual_nodes{grades};
    ASSERT_EQ(virtual_nodes.sets(components, most), expected) << "seed " << seed;
  }
}

// Set after set these would take minutes of the thread that decides.
TEST(VirtualNodes, MillionsOfNodesTakeNoLonger_M_5) {
  const Cluster::Room cpu{2000, 2'000'000, 2'000'000};
  const std::vector<Component> set = {{"c", 1, {{"cpu", Quantity::from_units(1)}}, {}}};
  VirtualNodes nodes{{{10'000'000, {{"cpu", cpu}}}}};
  EXPECT_EQ(nodes.sets(set, 2'147'483'647), 1'100'000'000);
}

const UtcMillis kNoon{1'767'355'200'000};
Value placed(const char* at, const char* more = "") {
  return json(std::string{R"({"spec": {"resource": {"name": "web"}, "replicas": 3, "clusters": [{"name": "m1",
      "replicas": 3}], "replicaRequirements": {"resourceRequest": {"cpu": "1", "memory": "1Gi"}}},
      "status": {"lastScheduledTime": ")"} +
              at + "\"" + more + "}}");
}

TEST(Estimate, ReservedRoomIsNotFree_M_8_M_9) {
  const Cluster one = cluster_with(R"({"allocatable": {"cpu": "8", "memory": "64Gi", "pods": 10}})");
  UnsettledIndex unsettled;
  EXPECT_EQ(replicas(20, R"({"cpu": "1"})", one, &unsettled, kNoon), 8);
  unsettled.move({type::kResourceBinding, "other", "web"}, {}, placed("2026-01-02T11:58:00Z"));
  EXPECT_EQ(replicas(20, R"({"cpu": "1"})", one, &unsettled, kNoon), 5) << "three cpus";
  EXPECT_EQ(replicas(20, R"({"cpu": "10m"})", one, &unsettled, kNoon), 7) << "three pods";
  EXPECT_EQ(replicas(20, R"({"memory": "8Gi"})", one, &unsettled, kNoon), 7) << "61Gi";
  EXPECT_EQ(sets(kFlink, one, &unsettled, kNoon), 1);
  EXPECT_EQ(replicas(20, R"({"cpu": "1"})", one, nullptr, kNoon), 8) << "the gate is off";
}

TEST(Estimate, AReservationHoldsForFiveMinutes_M_8) {
  const Cluster one = cluster_with(R"({"allocatable": {"cpu": "8", "pods": 10}})");
  UnsettledIndex unsettled;
  unsettled.move({type::kResourceBinding, "other", "web"}, {}, placed("2026-01-02T11:55:00Z"));
  EXPECT_EQ(replicas(20, R"({"cpu": "1"})", one, &unsettled, kNoon), 5);
  EXPECT_EQ(replicas(20, R"({"cpu": "1"})", one, &unsettled, kNoon + Millis{1}), 8);
  // Placed anew, it holds again; healthy there, it is over.
  unsettled.move({type::kResourceBinding, "other", "web"}, placed("2026-01-02T11:55:00Z"),
                 placed("2026-01-02T12:00:00Z"));
  EXPECT_EQ(replicas(20, R"({"cpu": "1"})", one, &unsettled, kNoon + Millis{1}), 5);
  unsettled.move(
      {type::kResourceBinding, "other", "web"}, placed("2026-01-02T12:00:00Z"),
      placed("2026-01-02T12:00:00Z", R"(, "aggregatedStatus": [{"clusterName": "m1", "health": "Healthy"}])"));
  EXPECT_EQ(replicas(20, R"({"cpu": "1"})", one, &unsettled, kNoon + Millis{1}), 8);
}

TEST(Estimate, ReservedPodsCountOnTheNodesOfTheGrades_M_9) {
  const Cluster one = cluster_with(graded(50).c_str(), kGrades);  // nodes with 2, 2 and 4 cpu
  UnsettledIndex unsettled;
  unsettled.move({type::kResourceBinding, "other", "web"}, {}, placed("2026-01-02T11:58:00Z"));
  EXPECT_EQ(replicas(20, R"({"cpu": "2"})", one, &unsettled, kNoon), 2) << "two nodes are begun, one is whole";
  EXPECT_EQ(replicas(20, R"({"cpu": "2"})", one), 4);
  EXPECT_EQ(sets(R"([{"name": "a", "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "2"}}}])", one,
                 &unsettled, kNoon),
            1);
}

}  // namespace
}  // namespace shiplog::scheduler
