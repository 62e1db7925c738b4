// Which clusters are selected: spread constraints, affinity terms and their overflow.
#include <gtest/gtest.h>

#include "events/explain/text.h"
#include "services/roles/scheduler/select/select.h"
#include "tests/support/scheduling.h"

namespace shiplog::scheduler {
namespace {

std::string selected_names(const Placed<std::vector<Candidate>>& selected) {
  if (!selected) return text_of(selected.error().cause);
  std::string names;
  for (const Candidate& candidate : selected.value()) names += (names.empty() ? "" : " ") + candidate.cluster->name;
  return names;
}

std::string select_two(const char* scheduling, int64_t replicas, std::vector<std::pair<int64_t, int64_t>> rooms) {
  const Case from{replicas,
                  scheduling,
                  {},
                  {},
                  "",
                  false,
                  R"({"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2}]})"};
  const Binding binding = binding_from(kBinding, binding_of(from));
  const Placement placement = placement_from(binding.placement).value();
  std::vector<Cluster> clusters(rooms.size());
  std::vector<Candidate> candidates;
  for (size_t at = 0; at < rooms.size(); ++at) {
    clusters[at].name = "m" + std::to_string(at + 1);
    candidates.push_back({&clusters[at], 0, rooms[at].second, rooms[at].first, rooms[at].first});
  }
  Explanation why;
  return selected_names(select(candidates, {binding, placement}, why));
}

// S-28, S-29.
TEST(SchedulerSelect, ByClusterTradesForRoom) {                                  // S-33 to S-35, X-40 to X-44
  EXPECT_EQ(select_two(kDynamic, 80, {{40, 60}, {30, 50}, {60, 40}}), "m1 m3");  // X-40
  EXPECT_EQ(select_two(kAggregated, 8, {{4, 0}, {3, 0}, {6, 0}}), "m3 m1");      // X-41
  EXPECT_EQ(select_two(kDynamic, 80, {{40, 0}, {30, 0}, {10, 0}}),
            "failed to select clusters: no enough resource when selecting 2 clusters");                 // X-42
  EXPECT_EQ(select_two(static_weights({{"m1", 1}}).c_str(), 6, {{1, 0}, {1, 0}, {1, 0}}), "m1 m2 m3");  // X-43
  EXPECT_EQ(select_two(kDuplicated, 5, {{4, 0}, {30, 0}, {10, 0}}), "m2 m3");                           // X-44
}

constexpr const char* kTwoClusters =
    R"({"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2}]})";

// S-22, S-29, S-30, S-31, S-32, S-33, S-34, S-35, S-41, TRAP-9.
TEST(SchedulerDecide, SpreadsByCluster) {  // X-40, X-41, X-44 to X-46, S-42
  const auto ask = [](int64_t replicas, const std::string& scheduling, int64_t m1, int64_t m2, int64_t m3) {
    return answer({replicas, scheduling, {{"m1", m1}, {"m2", m2}, {"m3", m3}}, {}, "", false, kTwoClusters});
  };
  EXPECT_EQ(ask(80, kDynamic, 40, 30, 60), "m1:32 m3:48");  // X-40
  EXPECT_EQ(ask(8, kAggregated, 4, 3, 6), "m1:3 m3:5");     // X-41
  EXPECT_EQ(ask(80, kDynamic, 40, 30, 10),
            "SchedulerError: failed to select clusters: no enough resource when selecting 2 clusters");  // X-42
  EXPECT_EQ(ask(6, static_weights({{"m1", 1}, {"m2", 1}, {"m3", 1}}), 9, 9, 9), "m1:2 m2:2 m3:2");       // X-43
  EXPECT_EQ(ask(5, kDuplicated, 4, 30, 10), "m2:5 m3:5");                                                // X-44
  EXPECT_EQ(answer({5, kDuplicated, {{"m1", 0}, {"m2", 30}, {"m3", 10}}, {{"m1", 5}}, "", false, kTwoClusters}),
            "m1:5 m2:5");  // X-45
  const char* three = R"({"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 3, "maxGroups": 3}]})";
  EXPECT_EQ(answer({5, kDuplicated, {{"m1", 9}, {"m2", 9}}, {}, "", false, three}),
            "SchedulerError: failed to select clusters: the number of feasible clusters is less than "
            "spreadConstraint.MinGroups");  // X-46
  const char* no_most = R"({"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1}]})";
  EXPECT_EQ(answer({5, kDynamic, {{"m1", 9}}, {}, "", false, no_most}),
            "SchedulerError: failed to select clusters: no enough resource when selecting 0 clusters");
}

std::string by_region(const char* scheduling, int64_t replicas, int region_min, int region_max) {
  const std::string placement = R"({"spreadConstraints": [{"spreadByField": "region", "minGroups": )" +
                                std::to_string(region_min) + R"(, "maxGroups": )" + std::to_string(region_max) +
                                R"(}, {"spreadByField": "cluster", "minGroups": 3, "maxGroups": 3}]})";
  return answer({replicas,
                 scheduling,
                 {{"m1", 10}, {"m2", 20}, {"m3", 40}, {"m4", 5}, {"m5", 5}, {"m6", 5}},
                 {},
                 "",
                 false,
                 placement,
                 {"r1", "r1", "r2", "r3", "r3", "r3"}});
}

// S-31, S-41.
TEST(SchedulerDecide, SpreadsByRegion) {                             // S-36 to S-40, X-47 to X-50
  EXPECT_EQ(by_region(kDuplicated, 10, 2, 2), "m1:10 m2:10 m3:10");  // X-47
  EXPECT_EQ(by_region(kDynamic, 30, 2, 2), "m1:9 m2:17 m4:4");       // X-48
  EXPECT_EQ(by_region(kAggregated, 30, 2, 3), "m1:10 m2:20");        // X-49
  EXPECT_EQ(by_region(kDynamic, 30, 4, 4),
            "SchedulerError: failed to select clusters: the number of feasible region is less than "
            "spreadConstraint.MinGroups");  // X-50
}

constexpr const char* kTiers = R"({"clusterAffinities": [{"affinityName": "own", "clusterNames": ["a"],
    "overflowAffinities": [{"affinityName": "o1", "clusterNames": ["b"]}, {"affinityName": "o2",
                                                                          "clusterNames": ["c"]}]}]})";

TEST(SchedulerDecide, OverflowsTierByTier) {  // S-61, X-51 to X-54, S-28, S-29
  EXPECT_EQ(answer({10, kDynamic, {{"a", 6}, {"b", 3}, {"c", 9}}, {}, "", false, kTiers}), "a:6 b:3 c:1");  // X-51
  EXPECT_EQ(answer({5, kDynamic, {{"a", 0}, {"b", 0}, {"c", 8}}, {{"a", 6}, {"b", 3}, {"c", 1}}, "", false, kTiers}),
            "a:5");  // X-52
  EXPECT_EQ(answer({10, kAggregated, {{"a", 1}, {"b", 3}, {"c", 9}}, {{"a", 5}}, "", false, kTiers}),
            "a:6 b:3 c:1");  // X-53
  EXPECT_EQ(
      answer({30, kDynamic, {{"a", 6}, {"b", 3}, {"c", 9}}, {}, "", false, kTiers}),
      "Unschedulable: failed to assign replicas: Clusters available replicas are not enough to schedule.");  // X-54
}

TEST(SchedulerDecide, TriesAffinityTermsInOrderAndNeverGoesBack) {  // S-24 to S-27, TRAP-10
  const char* terms = R"({"clusterAffinities": [{"affinityName": "first", "clusterNames": ["gone"]},
                                                {"affinityName": "second", "clusterNames": ["b"]}]})";
  History history = history_of({2, kDuplicated, {{"a", 9}, {"b", 9}}, {}, "", false, terms});
  const auto placed = std::get<PlacementDecided>(decided(history));
  EXPECT_EQ(in_words(placed.targets), "b:2");
  EXPECT_EQ(placed.affinity_name, "second");
  history.settle(decide, kBinding);
  history.put(cluster_key("gone"), cluster("gone"));
  EXPECT_EQ(answer(history), "nothing new");
  history.accept({ReschedulingTriggered{kBinding, "test"}});
  EXPECT_EQ(std::get<PlacementDecided>(decided(history)).affinity_name, "first");
}

}  // namespace
}  // namespace shiplog::scheduler
