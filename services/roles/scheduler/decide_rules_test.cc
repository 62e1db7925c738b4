// Rules of docs/reference that the other tests of decide() pass by: corners of filtering, selection and assignment.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "services/roles/scheduler/estimate/resource_summary.h"
#include "tests/support/scheduling.h"

namespace shiplog::scheduler {
namespace {

/// Asks with the placement as JSON text, and edits to the clusters.
std::string ask(const Case& from, const std::vector<std::pair<std::string, std::string>>& specs = {}) {
  History history = history_of(from);
  for (const auto& [name, spec] : specs) {
    history.edit(cluster_key(name), [&](Value& value) { value.set("spec", json(spec)); });
  }
  return answer(history);
}

TEST(SchedulerRules, ABindingThatOthersManageIsPlacedToo_S_1) {
  History history = history_of({2, kDuplicated, {{"m1", 1}}});
  history.edit(kBinding, [](Value& binding) {
    binding.edit("metadata").set("labels", json(R"({"binding.karmada.io/managed-by": "me"})"));
  });
  EXPECT_EQ(answer(history), "m1:2");
}

TEST(SchedulerRules, ASuspendedBindingKeepsItsPlacementAndGoesOnLater_S_2) {
  History history = history_of({2, kDuplicated, {{"m1", 1}}});
  history.settle(decide, kBinding);
  history.edit(kBinding, [](Value& binding) {
    binding.edit("spec").edit("suspension").set("scheduling", true);
    binding.edit("spec").set("replicas", 5);
  });
  EXPECT_EQ(answer(history), "nothing new");
  EXPECT_EQ(history.state().value_of(kBinding)["spec"]["clusters"], json(R"([{"name": "m1", "replicas": 2}])"));
  history.edit(kBinding, [](Value& binding) { binding.edit("spec").edit("suspension").set("scheduling", false); });
  EXPECT_EQ(answer(history), "m1:5");
}

TEST(SchedulerRules, ABindingThatGoesIsLeftAloneAndOneWithoutPlacementIsAnError_S_9) {
  History history = history_of({2, kDuplicated, {{"m1", 1}}});
  history.edit(kBinding, [](Value& binding) { binding.edit("metadata").set("finalizers", json(R"(["x"])")); });
  history.remove(kBinding);
  ASSERT_NE(history.state().find(kBinding), nullptr);
  EXPECT_EQ(answer(history), "nothing new");
  History without = history_of({2, kDuplicated, {{"m1", 1}}});
  without.edit(kBinding, [](Value& binding) { binding.edit("spec").erase("placement"); });
  const auto decided = decide(without.state(), kBinding, without.now());
  ASSERT_FALSE(decided);
  EXPECT_NE(decided.error().message.find("spec.placement is missing"), std::string::npos);
}

TEST(SchedulerRules, ClustersThatAreNotReadyAreNotLeftOutAsSuch_S_18) {
  History history = history_of({2, kDuplicated, {{"m1", 1}}});
  history.accept({ClusterConditionChanged{cluster_key("m1"), "Ready", "False", "ClusterNotReachable", ""}});
  EXPECT_EQ(answer(history), "m1:2");
}

TEST(SchedulerRules, EveryRejectionHasItsText_S_19_S_20_S_79) {
  const auto spread = [](const char* field) {
    return std::string{R"({"spreadConstraints": [{"spreadByField": ")"} + field +
           R"(", "maxGroups": 1}, {"spreadByField": "cluster", "maxGroups": 1}]})";
  };
  const auto with = [](const std::string& placement) {
    return Case{2, kDuplicated, {{"m1", 9}}, {}, "", false, placement};
  };
  const std::string head = "NoClusterFit: 0/1 clusters are available: 1 cluster(s) ";
  EXPECT_EQ(ask(with(spread("provider"))), head + "did not have provider property.");
  EXPECT_EQ(ask(with(spread("region"))), head + "did not have region property.");
  EXPECT_EQ(ask(with(spread("zone"))), head + "did not have zones property.");
  const std::string placed = "m1:2";
  EXPECT_EQ(ask(with(spread("provider")), {{"m1", R"({"provider": "p"})"}}), placed) << "a provider only filters";
  EXPECT_EQ(ask(with(spread("zone")), {{"m1", R"({"zones": ["z"]})"}}), placed);
  EXPECT_EQ(ask(with("{}")), placed) << "S-20: no affinity";
  EXPECT_EQ(ask(with(R"({"clusterAffinities": [{"affinityName": "t", "clusterNames": ["m2"]}]})")),
            head + "did not match the placement cluster affinity constraint.");
  History evicting = history_of({2, kDuplicated, {{"m1", 9}}, {{"m1", 2}}});
  evicting.accept({EvictionStarted{kBinding, "m1", "TaintUntolerated", "", "TaintManager", 0}});
  EXPECT_EQ(answer(evicting), head + "is in the process of eviction.") << "S-79: though it is the only one";
}

constexpr const char* kTwoTerms = R"({"clusterAffinities": [{"affinityName": "first", "clusterNames": ["a"]},
                                                            {"affinityName": "second", "clusterNames": ["b"]}]})";

TEST(SchedulerRules, TheTermInForceIsInTheStatus_S_26) {
  History history = history_of({2, kDuplicated, {{"b", 9}}, {}, "", false, kTwoTerms});
  history.settle(decide, kBinding);
  const Value& binding = history.state().value_of(kBinding);
  EXPECT_EQ(binding["status"]["schedulerObservingAffinityName"], Value{"second"});
  EXPECT_EQ(label_of(binding, label::kPolicyId), "id");
  EXPECT_EQ(annotation_of(binding, kAppliedPlacementAnnotation), to_json(binding["spec"]["placement"]));
}

TEST(SchedulerRules, OfTermsThatAllFailTheFirstTriedDecides_S_27) {
  // The first term lacks room, the second fits no cluster: nothing is cleared.
  History history = history_of({9, kDynamic, {{"a", 1}}, {}, "", false, kTwoTerms});
  const auto short_of_room = std::get<PlacementRefused>(decided(history));
  EXPECT_EQ(short_of_room.reason, "Unschedulable");
  EXPECT_FALSE(short_of_room.clear_targets);
  // The other way round: it is, and the name of the term that was in force stays.
  History other = history_of({2, kDynamic, {{"a", 9}, {"b", 9}}, {}, "", false, kTwoTerms});
  other.settle(decide, kBinding);
  ASSERT_EQ(other.state().value_of(kBinding)["status"]["schedulerObservingAffinityName"], Value{"first"});
  other.remove(cluster_key("a"));
  other.edit(kBinding, [](Value& binding) { binding.edit("spec").set("replicas", 100); });
  const auto no_fit = std::get<PlacementRefused>(decided(other));
  EXPECT_EQ(no_fit.reason, "NoClusterFit");
  EXPECT_TRUE(no_fit.clear_targets);
  other.settle(decide, kBinding);
  EXPECT_TRUE(other.state().value_of(kBinding)["spec"]["clusters"].is_null());
  EXPECT_EQ(other.state().value_of(kBinding)["status"]["schedulerObservingAffinityName"], Value{"first"});
}

TEST(SchedulerRules, WhenSpreadConstraintsAreIgnored_S_30) {  // TRAP-9
  const std::string one = R"({"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]})";
  const auto with = [&](const std::string& scheduling) {
    return answer({4, scheduling, {{"a", 9}, {"b", 9}}, {}, "", false, one});
  };
  const std::string weighted = R"({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted")";
  EXPECT_EQ(with(kEqualWeights), "a:2 b:2");
  EXPECT_EQ(with(static_weights({{"a", 1}, {"b", 3}})), "a:1 b:3");
  EXPECT_EQ(with(weighted + R"(, "weightPreference": {}})"), "a:4") << "a preference that says nothing";
  EXPECT_EQ(with(kDynamic), "a:4");
  EXPECT_EQ(with(kDuplicated), "a:4");
}

TEST(SchedulerRules, ZonesAndProvidersAloneCannotSpread_S_31) {  // TRAP-9
  const auto by = [](const char* field) {
    const Case from{4,
                    kDynamic,
                    {{"a", 9}},
                    {},
                    "",
                    false,
                    std::string{R"({"spreadConstraints": [{"spreadByField": ")"} + field + R"(", "maxGroups": 1}]})"};
    return ask(from, {{"a", R"({"zones": ["z"], "provider": "p", "region": "r"})"}});
  };
  const std::string error =
      "SchedulerError: failed to select clusters: just support cluster and region spread constraint";
  EXPECT_EQ(by("zone"), error);
  EXPECT_EQ(by("provider"), error);
  EXPECT_EQ(by("region"), "a:4");
}

std::string spread_by_region(int region_min, int region_max, int cluster_min, int cluster_max) {
  const auto limits = [](const char* field, int least, int most) {
    return std::string{R"({"spreadByField": ")"} + field + R"(", "minGroups": )" + std::to_string(least) +
           (most > 0 ? R"(, "maxGroups": )" + std::to_string(most) : "") + "}";
  };
  return R"({"spreadConstraints": [)" + limits("region", region_min, region_max) + ", " +
         limits("cluster", cluster_min, cluster_max) + "]}";
}

/// Duplicated over regions r1 {m1 m2}, r2 {m3}, r3 {m4 m5 m6}, with room everywhere.
std::string regional(const std::string& placement, std::vector<Target> previous = {}) {
  return answer({5,
                 kDuplicated,
                 {{"m1", 9}, {"m2", 9}, {"m3", 9}, {"m4", 9}, {"m5", 9}, {"m6", 9}},
                 std::move(previous),
                 "",
                 false,
                 placement,
                 {"r1", "r1", "r2", "r3", "r3", "r3"}});
}

TEST(SchedulerRules, SetsOfRegions_S_38_S_39) {
  EXPECT_EQ(regional(spread_by_region(1, 1, 1, 9)), "m4:5 m5:5 m6:5") << "the region with the highest score";
  EXPECT_EQ(regional(spread_by_region(2, 2, 5, 9)), "m1:5 m2:5 m4:5 m5:5 m6:5") << "only r1 and r3 have five";
  EXPECT_EQ(regional(spread_by_region(3, 3, 3, 9)), "m1:5 m2:5 m3:5 m4:5 m5:5 m6:5") << "the path through all";
  EXPECT_EQ(regional(spread_by_region(1, 2, 3, 9)), "m4:5 m5:5 m6:5")
      << "r1 and r3 score more, but r3 alone begins their path and is enough";
  const std::string error =
      "SchedulerError: failed to select clusters: the number of clusters is less than the cluster "
      "spreadConstraint.MinGroups";
  EXPECT_EQ(regional(spread_by_region(1, 2, 6, 9)), error);
  EXPECT_EQ(regional(spread_by_region(3, 3, 7, 9)), error);
}

TEST(SchedulerRules, EachChosenRegionGivesAClusterWhateverTheMost_S_40) {
  EXPECT_EQ(regional(spread_by_region(2, 2, 1, 1)), "m1:5 m4:5");
  EXPECT_EQ(regional(spread_by_region(2, 2, 1, 3), {{"m6", 5}}), "m1:5 m2:5 m6:5")
      << "m6 is the first of its region, and m2 the first of the rest";
}

TEST(SchedulerRules, WithoutMaxGroupsNothingIsSelected_S_42) {  // TRAP-9
  const std::string unbounded = R"({"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1}]})";
  EXPECT_EQ(answer({5, kDuplicated, {{"m1", 9}}, {}, "", false, unbounded}),
            "SchedulerError: failed to assign replicas: no clusters available to schedule");
  EXPECT_EQ(regional(spread_by_region(1, 0, 1, 9)),
            "SchedulerError: failed to select clusters: the number of clusters is less than the cluster "
            "spreadConstraint.MinGroups");
  EXPECT_EQ(regional(spread_by_region(2, 2, 1, 0)), "m1:5 m4:5") << "one of each chosen region";
}

TEST(SchedulerRules, TheLargestWeightOfAClusterCounts_S_50) {
  const char* overlapping = R"({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
      "weightPreference": {"staticWeightList": [{"targetCluster": {"clusterNames": ["a"]}, "weight": 3},
        {"targetCluster": {}, "weight": 1}, {"targetCluster": {"clusterNames": ["a"]}, "weight": 2}]}})";
  EXPECT_EQ(answer({8, overlapping, {{"a", 0}, {"b", 0}}}), "a:6 b:2");
  EXPECT_EQ(answer({4, static_weights({{"a", 0}, {"b", 0}}), {{"a", 0}, {"b", 0}}}), "a:2 b:2") << "all of them 0";
}

TEST(SchedulerRules, ClustersOfEqualWeightKeepTheirOrder_S_57) {
  EXPECT_EQ(answer({2, kAggregated, {{"a", 2}, {"b", 2}, {"c", 2}}}), "a:2");
  EXPECT_EQ(answer({5, kAggregated, {{"a", 2}, {"b", 2}, {"c", 2}}, {{"b", 1}, {"c", 1}}}), "b:3 c:2")
      << "b and c are used already, b is the first of them by its room with what it has";
}

TEST(SchedulerRules, TextOfEachShortage_S_58) {
  const auto shortage = [](std::vector<Target> previous, bool fresh) {
    return answer({9, kDynamic, {{"a", 1}, {"b", 2}}, std::move(previous), "", fresh});
  };
  const std::string tail = " are not enough to schedule.";
  EXPECT_EQ(shortage({{"a", 1}}, false),
            "Unschedulable: failed to assign replicas: failed to scale up: Clusters available replicas 3" + tail);
  EXPECT_EQ(shortage({{"a", 1}}, true),
            "Unschedulable: failed to assign replicas: failed to do fresh scale: Clusters available replicas 4" + tail);
}

TEST(SchedulerRules, OverflowIsForReplicas_S_61) {
  const std::string tiers = R"({"clusterAffinities": [{"affinityName": "own", "clusterNames": ["a"],
      "overflowAffinities": [{"affinityName": "o1", "clusterNames": ["b"]}]}]})";
  EXPECT_EQ(answer({0, "", {{"a", 1}, {"b", 9}}, {}, "", false, tiers}), "a:0") << "what has none stays on its own";
  EXPECT_EQ(answer({3, kDynamic, {{"a", 1}, {"b", 9}}, {}, "", false, tiers}), "a:1 b:2");
}

TEST(SchedulerRules, AnErrorKeepsTargetsAndTheAppliedPlacement_S_75_S_76) {  // TRAP-3
  History history = history_of({5, kDuplicated, {{"a", 9}, {"b", 9}}});
  history.settle(decide, kBinding);
  const std::string applied{annotation_of(history.state().value_of(kBinding), kAppliedPlacementAnnotation)};
  history.edit(kBinding, [](Value& binding) {
    binding.edit("spec").edit("placement").set("spreadConstraints", json(R"([
        {"spreadByField": "cluster", "minGroups": 3, "maxGroups": 3}])"));
  });
  const int64_t before = history.state().value_of(kBinding)["status"]["schedulerObservedGeneration"].as_int();
  history.settle(decide, kBinding);
  const Binding binding = binding_from(kBinding, history.state().value_of(kBinding));
  EXPECT_EQ(binding.scheduled_status, "False");
  EXPECT_EQ(binding.scheduled_reason, "SchedulerError");
  EXPECT_EQ(binding.targets, (std::vector<Target>{{"a", 5}, {"b", 5}}));
  EXPECT_EQ(binding.applied_placement, applied);
  EXPECT_EQ(binding.scheduler_observed_generation, before);
}

TEST(SchedulerRules, GradesAreUsedWhenModelsAndCountsAreThere_S_66) {
  Value object = cluster("a", 50);
  object.edit("status").edit("resourceSummary").edit("allocatable").set("cpu", "9");
  const Value models = json(R"([{"grade": 0, "ranges": [{"name": "cpu", "min": "2"}]}])");
  const Value counts = json(R"([{"grade": 0, "count": 1}])");
  Binding binding;
  binding.replicas = 1;
  binding.requires_room = true;
  binding.request = resource_list_from(json(R"({"cpu": "1"})"));
  EXPECT_EQ(room_for(binding, cluster_from(object)), 9);
  Value without_counts = object;
  without_counts.edit("spec").set("resourceModels", models);
  EXPECT_EQ(room_for(binding, cluster_from(without_counts)), 9);
  Value without_models = object;
  without_models.edit("status").edit("resourceSummary").set("allocatableModelings", counts);
  EXPECT_EQ(room_for(binding, cluster_from(without_models)), 9);
  without_models.edit("spec").set("resourceModels", models);
  EXPECT_EQ(room_for(binding, cluster_from(without_models)), 2) << "one node with at least two";
}

/// Scores weigh in when regions are equal in room: S-36 divides them by the clusters that were counted.
TEST(SchedulerRules, WhatIsThereAlreadyDrawsRegions_S_36) {
  const std::string one = spread_by_region(1, 1, 1, 1);
  const auto ask_two = [&](const std::string& scheduling, std::vector<Target> previous) {
    return answer({4, scheduling, {{"a", 9}, {"b", 9}}, std::move(previous), "", true, one, {"r1", "r2"}});
  };
  EXPECT_EQ(ask_two(kDuplicated, {}), "a:4");
  EXPECT_EQ(ask_two(kDuplicated, {{"b", 4}}), "b:4") << "1100 against 1000";
  EXPECT_EQ(ask_two(kDynamic, {}), "a:4");
  EXPECT_EQ(ask_two(kDynamic, {{"b", 4}}), "b:4") << "4100 against 4000";
}

TEST(SchedulerRules, WithoutReplicasRoomIsNotEstimated_S_62_S_63) {
  Binding binding;
  binding.replicas = 0;
  binding.requires_room = true;
  binding.request = resource_list_from(json(R"({"cpu": "1"})"));
  EXPECT_EQ(room_for(binding, Cluster{}), 2147483647);
  binding.replicas = 7;
  binding.requires_room = false;
  Cluster endless;
  endless.room["pods"] = {int64_t{1} << 40, int64_t{1000} << 40};
  EXPECT_EQ(room_for(binding, endless), 7) << "no bound was found";
}

/// Whatever fleet and constraints: what is placed keeps to them, has room, and is the same when decided again; what is
/// refused could not have been placed for the reason that is given.
TEST(SchedulerRules, SpreadConstraintsHoldForRandomFleets_S_32_S_35_S_38_S_40) {
  uint64_t seed = 5;
  const auto next = [&seed](uint64_t below) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int>((seed >> 33U) % below);
  };
  int placed_at_all = 0;
  int refused_at_all = 0;
  int without_room = 0;
  for (int round = 0; round < 600; ++round) {
    const bool by_region = round % 2 == 0;
    const bool duplicated = round % 3 == 0;
    const int region_min = 1 + next(2);
    const int region_max = region_min + next(2);
    const int cluster_min = 1 + next(3);
    const int cluster_max = cluster_min + next(3);
    Case from{1 + next(30), duplicated ? kDuplicated : round % 3 == 1 ? kDynamic : kAggregated, {}, {}, ""};
    from.placement = by_region
                         ? spread_by_region(region_min, region_max, cluster_min, cluster_max)
                         : R"({"spreadConstraints": [{"spreadByField": "cluster", "minGroups": )" +
                               std::to_string(cluster_min) + R"(, "maxGroups": )" + std::to_string(cluster_max) + "}]}";
    std::map<std::string, std::string> region_of;
    std::map<std::string, int64_t> room_of;
    const int fleet = 1 + next(6);
    for (int at = 0; at < fleet; ++at) {
      const std::string name(1, static_cast<char>('a' + at));
      from.clusters.emplace_back(name, next(15));
      from.regions.push_back("r" + std::to_string(next(3)));
      region_of[name] = from.regions.back();
      room_of[name] = from.clusters.back().second;
    }
    std::set<std::string> regions_there;
    for (const std::string& region : from.regions) regions_there.insert(region);
    SCOPED_TRACE("round " + std::to_string(round) + ": " + from.placement);
    const History history = history_of(from);
    const Event event = decided(history);
    EXPECT_EQ(event, decided(history));
    const auto* placed = std::get_if<PlacementDecided>(&event);
    if (placed == nullptr) {
      ++refused_at_all;
      const std::string message = std::get<PlacementRefused>(event).message;
      if (message.ends_with("feasible clusters is less than spreadConstraint.MinGroups")) {
        EXPECT_LT(fleet, cluster_min);
      } else if (message.ends_with("feasible region is less than spreadConstraint.MinGroups")) {
        EXPECT_LT(static_cast<int>(regions_there.size()), region_min);
      } else if (message.ends_with("less than the cluster spreadConstraint.MinGroups")) {
        EXPECT_TRUE(by_region);
      } else {
        EXPECT_FALSE(duplicated) << "only divided ones ask for room: " << message;
        if (by_region) continue;
        std::vector<int64_t> rooms;
        for (const auto& [name, room] : room_of) rooms.push_back(room);
        std::ranges::sort(rooms, std::greater<>{});
        rooms.resize(static_cast<size_t>(std::min(fleet, cluster_max)));
        EXPECT_TRUE(
            message.ends_with("no enough resource when selecting " + std::to_string(rooms.size()) + " clusters"))
            << message;
        EXPECT_LT(std::accumulate(rooms.begin(), rooms.end(), int64_t{0}), from.replicas) << "others have the room";
        ++without_room;
      }
      continue;
    }
    ++placed_at_all;
    std::set<std::string> regions;
    int64_t sum = 0;
    for (const Target& target : placed->targets) {
      regions.insert(region_of[target.cluster]);
      sum += target.replicas;
      if (!duplicated) {
        EXPECT_LE(target.replicas, room_of[target.cluster]);
      }
    }
    const auto count = static_cast<int>(placed->targets.size());
    EXPECT_EQ(sum, duplicated ? from.replicas * count : from.replicas);
    EXPECT_LE(count, by_region ? std::max(cluster_max, region_max) : cluster_max);
    if (by_region) {
      EXPECT_LE(static_cast<int>(regions.size()), region_max);
    }
    if (!duplicated) continue;  // of divided ones some targets may get nothing
    EXPECT_GE(count, cluster_min);
    if (by_region) {
      EXPECT_GE(static_cast<int>(regions.size()), region_min);
    }
  }
  EXPECT_GT(placed_at_all, 100);
  EXPECT_GT(refused_at_all, 100);
  EXPECT_GT(without_room, 20);
}

/// Whatever fleet: growing takes nothing away, the same stays as it is, shrinking gives nothing new; and there and back
/// again nothing is lost.
TEST(SchedulerRules, ScalingMovesNothingItNeedNot_S_49_S_52_S_53_S_54) {
  uint64_t seed = 11;
  const auto next = [&seed](uint64_t below) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int64_t>((seed >> 33U) % below);
  };
  for (int round = 0; round < 150; ++round) {
    const std::string strategy = round % 3 == 0 ? kEqualWeights : round % 3 == 1 ? kDynamic : kAggregated;
    Case from{1 + next(20), strategy, {}, {}, "uid-" + std::to_string(round)};
    const int64_t fleet = 1 + next(5);
    for (int64_t at = 0; at < fleet; ++at) from.clusters.emplace_back(std::string(1, static_cast<char>('a' + at)), 40);
    History history = history_of(from);
    history.settle(decide, kBinding);
    const auto targets = [&] {
      std::map<std::string, int64_t> placed;
      for (const Target& target : binding_from(kBinding, history.state().value_of(kBinding)).targets) {
        placed[target.cluster] = target.replicas;
      }
      return placed;
    };
    const auto sum = [](const std::map<std::string, int64_t>& placed) {
      int64_t total = 0;
      for (const auto& [cluster, replicas] : placed) total += replicas;
      return total;
    };
    int64_t replicas = from.replicas;
    for (int step = 0; step < 6; ++step) {
      const auto before = targets();
      const int64_t wanted = 1 + next(40);
      history.edit(kBinding, [&](Value& binding) { binding.edit("spec").set("replicas", wanted); });
      history.settle(decide, kBinding);
      const auto after = targets();
      SCOPED_TRACE("round " + std::to_string(round) + ", from " + std::to_string(replicas) + " to " +
                   std::to_string(wanted));
      EXPECT_EQ(sum(after), wanted);
      if (wanted == replicas) {
        EXPECT_EQ(after, before);
      }
      for (const auto& [cluster, had] : before) {
        const auto has = after.find(cluster);
        if (wanted > replicas) {
          EXPECT_GE(has == after.end() ? 0 : has->second, had) << cluster;
        }
      }
      for (const auto& [cluster, has] : after) {
        const auto had = before.find(cluster);
        if (wanted < replicas) {
          EXPECT_LE(has, had == before.end() ? 0 : had->second) << cluster;
        }
      }
      replicas = wanted;
    }
  }
}

}  // namespace
}  // namespace shiplog::scheduler
