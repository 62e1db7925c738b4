#include "services/scheduler/decide.h"

#include <gtest/gtest.h>

#include "events/state/binding.h"
#include "services/scheduler/assign/words.h"
#include "services/scheduler/estimate/resource_summary.h"
#include "services/scheduler/select/select.h"
#include "tests/support/given.h"

namespace shiplog::scheduler {
namespace {

using given::History;
using given::json;

const ObjectKey kBinding{type::kResourceBinding, "default", "web-deployment"};
constexpr const char* kPlaced = "Binding has been scheduled successfully.";

ObjectKey cluster_key(const std::string& name) { return {type::kCluster, "", name}; }

/// A member with room for `pods`, that serves Deployments.
Value cluster(const std::string& name, int64_t pods = 100, const std::string& region = "") {
  Value value = json(R"({"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "spec": {},
    "status": {"apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"name": "deployments",
                                                                             "kind": "Deployment"}]}]}})");
  if (!region.empty()) value.edit("spec").set("region", region);
  value.edit("status").edit("resourceSummary").edit("allocatable").set("pods", pods);
  return History::named(cluster_key(name), std::move(value));
}

constexpr const char* kAggregated =
    R"({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"})";
constexpr const char* kDynamic = R"({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
                                     "weightPreference": {"dynamicWeight": "AvailableReplicas"}})";
constexpr const char* kDuplicated = R"({"replicaSchedulingType": "Duplicated"})";
constexpr const char* kEqualWeights =
    R"({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"})";

std::string static_weights(const std::vector<std::pair<std::string, int>>& weights) {
  std::string list;
  for (const auto& [name, weight] : weights) {
    list += (list.empty() ? "" : ", ") + std::string{R"({"targetCluster": {"clusterNames": [")"} + name +
            R"("]}, "weight": )" + std::to_string(weight) + "}";
  }
  return R"({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
             "weightPreference": {"staticWeightList": [)" +
         list + "]}}";
}

/// A question to the scheduler: a fleet, a binding, where it is now.
struct Case {
  int64_t replicas = 0;
  std::string scheduling;                                 // replicaScheduling
  std::vector<std::pair<std::string, int64_t>> clusters;  // with room for so many pods more
  std::vector<Target> previous = {};
  std::string uid = "";
  bool fresh = false;
  std::string placement = "{}";
  std::vector<std::string> regions = {};
};

Value placement_of(const Case& from) {
  Value placement = json(from.placement);
  if (!from.scheduling.empty()) placement.set("replicaScheduling", json(from.scheduling));
  return placement;
}

Value binding_of(const Case& from) {
  Value value = json(R"({"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
    "metadata": {"labels": {"propagationpolicy.karmada.io/permanent-id": "id"}},
    "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "web"}}})");
  Value& spec = value.edit("spec");
  spec.edit("resource").set("uid", from.uid);
  spec.set("placement", placement_of(from));
  if (from.replicas != 0) spec.set("replicas", from.replicas);
  for (const Target& target : from.previous) {
    spec.edit("clusters").push_back(Value::object({{"name", target.cluster}, {"replicas", target.replicas}}));
  }
  if (!from.previous.empty()) {
    value.edit("metadata").edit("annotations").set(kAppliedPlacementAnnotation, to_json(placement_of(from)));
  }
  if (from.fresh) {
    spec.set("rescheduleTriggeredAt", "2026-01-02T12:00:00Z");
    value.edit("status").set("lastScheduledTime", "2026-01-02T11:00:00Z");
  }
  return History::named(kBinding, std::move(value));
}

History history_of(const Case& from) {
  History history;
  for (size_t at = 0; at < from.clusters.size(); ++at) {
    const auto& [name, pods] = from.clusters[at];
    history.put(cluster_key(name), cluster(name, pods, at < from.regions.size() ? from.regions[at] : ""));
  }
  history.put(kBinding, binding_of(from));
  return history;
}

Event decided(const History& history) {
  const auto decision = decide(history.state(), kBinding, history.now());
  if (!decision || !decision.value()) return RequestDenied{};
  EXPECT_EQ(decision.value()->events.size(), 1U);
  EXPECT_EQ(decision.value()->expects, (std::vector<Expect>{{kBinding, history.state().revision_of(kBinding)}}));
  return decision.value()->events.front();
}

/// "a:3 b:6", or "reason: message", or "stands", or "nothing new".
std::string answer(const History& history) {
  const Event event = decided(history);
  if (const auto* placed = std::get_if<PlacementDecided>(&event)) return in_words(placed->targets);
  if (const auto* refused = std::get_if<PlacementRefused>(&event)) return refused->reason + ": " + refused->message;
  if (const auto* refused = std::get_if<QuotaRefused>(&event)) return "QuotaExceeded: " + refused->message;
  return std::holds_alternative<StatusUpdated>(event) ? "stands" : "nothing new";
}
std::string answer(const Case& from) { return answer(history_of(from)); }

TEST(SchedulerDecide, StaticWeightExamples) {  // S-50, X-1 to X-14
  const std::vector<std::pair<std::string, int64_t>> ab = {{"a", 0}, {"b", 0}};
  const std::vector<std::pair<std::string, int64_t>> abc = {{"a", 0}, {"b", 0}, {"c", 0}};
  EXPECT_EQ(answer({9, static_weights({{"a", 1}, {"b", 2}}), ab}), "a:3 b:6");
  EXPECT_EQ(answer({9, static_weights({{"a", 1}, {"b", 3}}), ab}), "a:2 b:7");
  EXPECT_EQ(answer({10, kEqualWeights, abc, {}, "uid-2"}), "a:4 b:3 c:3");
  EXPECT_EQ(answer({10, kEqualWeights, abc, {}, "uid-1"}), "a:3 b:3 c:4");
  EXPECT_EQ(answer({5, static_weights({{"a", 1}, {"b", 1}, {"c", 10}}), abc}), "c:5");
  EXPECT_EQ(answer({6, static_weights({{"a", 2}, {"b", 1}}), {{"a", 0}, {"b", 0}, {"d", 0}}}), "a:4 b:2");  // X-10
  EXPECT_EQ(answer({5, static_weights({{"x", 3}}), ab}), "a:3 b:2");                                        // X-11
  EXPECT_EQ(answer({9, static_weights({{"a", 1}, {"b", 2}}), ab, {{"a", 9}}, "", true}), "a:3 b:6");        // X-12
  EXPECT_EQ(answer({10, static_weights({{"a", 1}, {"b", 2}}), ab, {{"a", 3}, {"b", 6}}}), "a:3 b:7");       // X-13
}

TEST(SchedulerDecide, DynamicWeightExamples) {  // S-51 to S-55, X-15 to X-27
  const std::vector<Target> prev = {{"a", 2}, {"b", 4}, {"c", 6}};
  const auto ask = [](int64_t replicas, std::vector<std::pair<std::string, int64_t>> room, std::vector<Target> before,
                      bool fresh = false, const char* uid = "") {
    return answer({replicas, kDynamic, std::move(room), std::move(before), uid, fresh});
  };
  EXPECT_EQ(ask(12, {{"a", 6}, {"b", 12}, {"c", 18}}, {}), "a:2 b:4 c:6");
  EXPECT_EQ(ask(15, {{"a", 4}, {"b", 8}, {"c", 12}}, prev), "a:3 b:5 c:7");
  EXPECT_EQ(ask(16, {{"a", 10}, {"b", 0}, {"c", 2}}, prev), "a:5 b:4 c:7");
  EXPECT_EQ(ask(6, {{"a", 0}, {"b", 0}, {"c", 0}}, prev), "a:1 b:2 c:3");
  EXPECT_EQ(ask(7, {{"a", 0}, {"b", 0}, {"c", 0}}, prev), "a:1 b:2 c:4");
  EXPECT_EQ(ask(1, {{"a", 0}, {"b", 0}, {"c", 0}}, prev), "c:1");
  EXPECT_EQ(ask(12, {{"a", 100}, {"b", 0}, {"c", 0}}, prev), "stands");  // X-21, S-14
  EXPECT_EQ(ask(12, {{"a", 3}, {"b", 4}, {"c", 4}}, {}),
            "Unschedulable: failed to assign replicas: failed to scale up: Clusters available replicas 11 are not "
            "enough to schedule.");
  EXPECT_EQ(ask(12, {{"a", 10}, {"b", 2}, {"c", 0}}, prev, true), "a:6 b:3 c:3");
  EXPECT_EQ(ask(10, {{"a", 5}, {"c", 15}}, {{"a", 6}}), "a:7 c:3");  // X-25
  EXPECT_EQ(ask(3, {{"a", 0}, {"b", 0}}, {{"a", 2}, {"b", 2}}), "a:2 b:1");
  EXPECT_EQ(ask(3, {{"a", 0}, {"b", 0}}, {{"a", 2}, {"b", 2}}, false, "uid-1"), "a:1 b:2");
  EXPECT_EQ(ask(4, {{"a", 2}, {"b", 1}, {"c", 1}, {"d", 1}}, {}), "a:1 b:1 c:1 d:1");
}

TEST(SchedulerDecide, DropsATargetThatIsNoLongerFeasible) {  // X-24
  History history = history_of({12, kDynamic, {{"a", 4}, {"b", 8}, {"c", 0}}, {{"a", 2}, {"b", 4}, {"c", 6}}});
  history.edit(kBinding, [](Value& binding) {
    binding.edit("spec").edit("placement").set("clusterAffinity", json(R"({"clusterNames": ["a", "b"]})"));
  });
  EXPECT_EQ(answer(history), "a:4 b:8");
}

TEST(SchedulerDecide, AggregatedExamples) {  // S-56, X-28 to X-37
  const auto ask = [](int64_t replicas, std::vector<std::pair<std::string, int64_t>> room, std::vector<Target> before,
                      bool fresh = false) {
    return answer({replicas, kAggregated, std::move(room), std::move(before), "", fresh});
  };
  EXPECT_EQ(ask(7, {{"a", 5}, {"b", 3}, {"c", 2}}, {}), "a:4 b:3");
  EXPECT_EQ(ask(4, {{"a", 5}, {"b", 3}, {"c", 2}}, {}), "a:4");
  EXPECT_EQ(ask(10, {{"a", 4}, {"b", 4}, {"c", 4}}, {}), "a:4 b:3 c:3");
  EXPECT_EQ(ask(6, {{"a", 10}, {"b", 1}}, {{"b", 4}}), "a:2 b:4");
  EXPECT_EQ(ask(6, {{"a", 10}, {"b", 3}}, {{"b", 4}}), "b:6");
  EXPECT_EQ(ask(9, {{"a", 1}, {"b", 0}, {"c", 6}}, {{"a", 4}, {"b", 3}}), "a:4 b:3 c:2");
  EXPECT_EQ(ask(4, {{"a", 0}, {"b", 0}}, {{"a", 4}, {"b", 3}}), "a:4");
  EXPECT_EQ(ask(5, {{"a", 0}, {"b", 0}}, {{"a", 4}, {"b", 3}}), "a:3 b:2");
  EXPECT_EQ(ask(7, {{"a", 1}, {"c", 6}}, {{"a", 4}}), "a:4 c:3");  // X-36
  EXPECT_EQ(ask(7, {{"a", 1}, {"b", 0}, {"c", 9}}, {{"a", 4}, {"b", 3}}, true), "c:7");
}

TEST(SchedulerDecide, DuplicatedAndZeroReplicas) {  // X-38, X-39
  EXPECT_EQ(answer({5, kDuplicated, {{"a", 1}, {"b", 1}}}), "a:5 b:5");
  EXPECT_EQ(answer({5, "", {{"a", 1}, {"b", 1}}}), "a:5 b:5");
  EXPECT_EQ(answer({0, kDuplicated, {{"a", 1}, {"b", 1}}}), "a:0 b:0");
  History history = history_of({0, kDuplicated, {{"a", 1}, {"b", 1}}});
  history.edit(kBinding, [](Value& binding) {
    binding.edit("spec").edit("replicaRequirements").edit("resourceRequest").set("cpu", "1");
  });
  EXPECT_EQ(answer(history), "nothing");
}

std::string selected_names(const Placed<std::vector<Candidate>>& selected) {
  if (!selected) return selected.error().message;
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

TEST(SchedulerSelect, ByClusterTradesForRoom) {  // S-33 to S-35, X-40 to X-44
  EXPECT_EQ(select_two(kDynamic, 80, {{40, 60}, {30, 50}, {60, 40}}), "m1 m3");
  EXPECT_EQ(select_two(kAggregated, 8, {{4, 0}, {3, 0}, {6, 0}}), "m3 m1");
  EXPECT_EQ(select_two(kDynamic, 80, {{40, 0}, {30, 0}, {10, 0}}), "no enough resource when selecting 2 clusters");
  EXPECT_EQ(select_two(static_weights({{"m1", 1}}).c_str(), 6, {{1, 0}, {1, 0}, {1, 0}}), "m1 m2 m3");
  EXPECT_EQ(select_two(kDuplicated, 5, {{4, 0}, {30, 0}, {10, 0}}), "m2 m3");
}

constexpr const char* kTwoClusters =
    R"({"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2}]})";

TEST(SchedulerDecide, SpreadsByCluster) {  // X-40, X-41, X-44 to X-46, S-42
  EXPECT_EQ(answer({8, kAggregated, {{"m1", 4}, {"m2", 3}, {"m3", 6}}, {}, "", false, kTwoClusters}), "m1:3 m3:5");
  EXPECT_EQ(answer({5, kDuplicated, {{"m1", 4}, {"m2", 30}, {"m3", 10}}, {}, "", false, kTwoClusters}), "m2:5 m3:5");
  EXPECT_EQ(answer({5, kDuplicated, {{"m1", 0}, {"m2", 30}, {"m3", 10}}, {{"m1", 5}}, "", false, kTwoClusters}),
            "m1:5 m2:5");
  const char* three = R"({"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 3, "maxGroups": 3}]})";
  EXPECT_EQ(answer({5, kDuplicated, {{"m1", 9}, {"m2", 9}}, {}, "", false, three}),
            "SchedulerError: failed to select clusters: the number of feasible clusters is less than "
            "spreadConstraint.MinGroups");
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

TEST(SchedulerDecide, SpreadsByRegion) {  // S-36 to S-40, X-47 to X-50
  EXPECT_EQ(by_region(kDuplicated, 10, 2, 2), "m1:10 m2:10 m3:10");
  EXPECT_EQ(by_region(kDynamic, 30, 2, 2), "m1:9 m2:17 m4:4");
  EXPECT_EQ(by_region(kAggregated, 30, 2, 3), "m1:10 m2:20");
  EXPECT_EQ(by_region(kDynamic, 30, 4, 4),
            "SchedulerError: failed to select clusters: the number of feasible region is less than "
            "spreadConstraint.MinGroups");
}

constexpr const char* kTiers = R"({"clusterAffinities": [{"affinityName": "own", "clusterNames": ["a"],
    "overflowAffinities": [{"affinityName": "o1", "clusterNames": ["b"]}, {"affinityName": "o2",
                                                                          "clusterNames": ["c"]}]}]})";

TEST(SchedulerDecide, OverflowsTierByTier) {  // S-61, X-51 to X-54
  EXPECT_EQ(answer({10, kDynamic, {{"a", 6}, {"b", 3}, {"c", 9}}, {}, "", false, kTiers}), "a:6 b:3 c:1");
  EXPECT_EQ(answer({5, kDynamic, {{"a", 0}, {"b", 0}, {"c", 8}}, {{"a", 6}, {"b", 3}, {"c", 1}}, "", false, kTiers}),
            "a:5");
  EXPECT_EQ(answer({10, kAggregated, {{"a", 1}, {"b", 3}, {"c", 9}}, {{"a", 5}}, "", false, kTiers}), "a:6 b:3 c:1");
  EXPECT_EQ(answer({30, kDynamic, {{"a", 6}, {"b", 3}, {"c", 9}}, {}, "", false, kTiers}),
            "Unschedulable: failed to assign replicas: Clusters available replicas are not enough to schedule.");
}

TEST(SchedulerDecide, TriesAffinityTermsInOrderAndNeverGoesBack) {  // S-24 to S-27
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

std::string fit(const std::function<void(Value&)>& change_cluster, const char* placement = "{}") {
  Case from{2, kDuplicated, {{"m1", 10}}, {}, "", false, placement};
  History history = history_of(from);
  history.edit(cluster_key("m1"), change_cluster);
  return answer(history);
}

TEST(SchedulerFilter, RejectsWithTheRulesOwnWords) {  // S-19, S-21
  const std::string head = "NoClusterFit: 0/1 clusters are available: ";
  const auto nothing = [](Value&) {};
  EXPECT_EQ(fit(nothing, R"({"clusterAffinity": {"clusterNames": ["m2"]}})"),
            head + "1 cluster(s) did not match the placement cluster affinity constraint.");
  EXPECT_EQ(fit([](Value& value) { value.edit("status").erase("apiEnablements"); }),
            head + "1 cluster(s) did not have the API resource.");
  const auto taint = [](Value& value) {
    value.edit("spec").set("taints", json(R"([{"key": "k", "value": "v", "effect": "NoSchedule"}])"));
  };
  EXPECT_EQ(fit(taint), head + "1 cluster(s) had untolerated taint {k=v:NoSchedule}.");
  EXPECT_EQ(fit(taint, R"({"clusterTolerations": [{"key": "k", "operator": "Exists"}]})"), "m1:2");
  EXPECT_EQ(fit([](Value& value) {
              value.edit("spec").set("taints", json(R"([{"key": "k", "effect": "PreferNoSchedule"}])"));
            }),
            "m1:2");
  EXPECT_EQ(fit(nothing, R"({"spreadConstraints": [{"spreadByField": "zone"}, {"spreadByField": "cluster"}]})"),
            head + "1 cluster(s) did not have zones property.");
  EXPECT_EQ(fit([](Value& value) {
              value.edit("metadata").set("deletionTimestamp", "2026-01-02T12:00:00Z");
              value.edit("metadata").edit("finalizers").push_back("x");
            }),
            head + "no cluster exists.");
  EXPECT_EQ(answer({2, kDuplicated, {}}), "NoClusterFit: 0/0 clusters are available: no cluster exists.");
}

TEST(SchedulerFilter, CountsReasonsInOrder) {  // S-21
  History history = history_of({2, kDuplicated, {{"a", 1}, {"b", 1}, {"c", 1}}});
  for (const char* name : {"a", "c"}) {
    history.edit(cluster_key(name), [](Value& value) { value.edit("status").erase("apiEnablements"); });
  }
  history.edit(cluster_key("b"), [](Value& value) {
    value.edit("spec").set("taints", json(R"([{"key": "k", "effect": "NoExecute"}])"));
  });
  EXPECT_EQ(
      answer(history),
      "NoClusterFit: 0/3 clusters are available: 1 cluster(s) had untolerated taint {k:NoExecute}, 2 cluster(s) did "
      "not have the API resource.");
}

TEST(SchedulerFilter, ALimitedTolerationLetsStayButNotCome) {
  const auto taint = [](Value& value) {
    value.edit("spec").set("taints", json(R"([{"key": "k", "effect": "NoExecute"}])"));
  };
  const char* placement = R"({"clusterTolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": 5}]})";
  EXPECT_EQ(fit(taint, placement),
            "NoClusterFit: 0/1 clusters are available: 1 cluster(s) had untolerated taint "
            "{k:NoExecute}.")
      << "it would be evicted after 5 seconds, and come back, and be evicted";
  History history = history_of({2, kDuplicated, {{"m1", 10}}, {{"m1", 2}}, "", false, placement});
  history.edit(cluster_key("m1"), taint);
  EXPECT_EQ(answer(history), "m1:2");
}

TEST(SchedulerFilter, WhatFitsNowhereStaysRefusedAlsoWithoutReplicas) {
  History history =
      history_of({0, kDynamic, {{"m1", 10}}, {}, "", false, R"({"clusterAffinity": {"clusterNames": ["m2"]}})"});
  history.settle(decide, kBinding);
  history.put(cluster_key("m3"), cluster("m3"));
  EXPECT_EQ(answer(history).substr(0, 12), "NoClusterFit");
  history.put(cluster_key("m2"), cluster("m2"));
  EXPECT_EQ(answer(history).find("NoClusterFit"), std::string::npos);
}

TEST(SchedulerFilter, CurrentTargetsPassTaintsAndApisButNotEvictions) {  // S-19, S-79
  History history = history_of({3, kDuplicated, {{"a", 1}, {"b", 1}}, {{"a", 2}, {"b", 2}}});
  history.edit(cluster_key("a"), [](Value& value) {
    value.edit("status").erase("apiEnablements");
    value.edit("spec").set("taints", json(R"([{"key": "k", "effect": "NoExecute"}])"));
  });
  EXPECT_EQ(answer(history), "a:3 b:3");
  history.accept({EvictionStarted{kBinding, "a", "TaintUntolerated", "", "TaintManager", 0}});
  EXPECT_EQ(answer(history), "b:3");
}

TEST(SchedulerDecide, AnEvictedDividedWorkloadMovesItsReplicas) {  // S-15: the eviction trips S-12
  History history = history_of({6, kDynamic, {{"a", 10}, {"b", 10}}, {{"a", 3}, {"b", 3}}});
  history.accept({EvictionStarted{kBinding, "a", "TaintUntolerated", "", "TaintManager", 0}});
  EXPECT_EQ(answer(history), "b:6");
}

TEST(SchedulerDecide, NoFitClearsTheTargetsAndIsSaidOnce) {  // S-75
  History history = history_of({2, kDuplicated, {{"m1", 1}}, {{"m1", 2}}});
  history.edit(kBinding, [](Value& binding) {
    binding.edit("spec").edit("placement").set("clusterAffinity", json(R"({"clusterNames": ["m2"]})"));
  });
  const auto refused = std::get<PlacementRefused>(decided(history));
  EXPECT_TRUE(refused.clear_targets);
  EXPECT_EQ(refused.applied_placement, to_json(history.state().value_of(kBinding)["spec"]["placement"]));
  EXPECT_EQ(history.settle(decide, kBinding), 1);
  EXPECT_TRUE(history.state().value_of(kBinding)["spec"]["clusters"].is_null());
}

TEST(SchedulerDecide, CapacityShortKeepsTheTargetsAndIsSaidOnce) {  // S-75
  History history = history_of({9, kDynamic, {{"a", 1}}, {{"a", 2}}});
  EXPECT_EQ(history.settle(decide, kBinding), 1);
  const Binding binding = binding_from(kBinding, history.state().value_of(kBinding));
  EXPECT_EQ(binding.targets, (std::vector<Target>{{"a", 2}}));
  EXPECT_EQ(binding.scheduled_reason, "Unschedulable");
  EXPECT_EQ(binding.scheduler_observed_generation, 0);  // S-76: only success
}

TEST(SchedulerDecide, ARefusalEndsWhenWhatWasAskedForIsTakenBack) {
  History history = history_of({9, kDynamic, {{"a", 1}}, {{"a", 2}}});
  history.settle(decide, kBinding);
  history.edit(kBinding, [](Value& binding) { binding.edit("spec").set("replicas", 2); });
  history.settle(decide, kBinding);
  EXPECT_EQ(binding_from(kBinding, history.state().value_of(kBinding)).scheduled_status, "True");
}

TEST(SchedulerDecide, SuccessWritesConditionGenerationAndAppliedPlacement) {  // S-75, S-76
  History history = history_of({2, kDuplicated, {{"m1", 1}}});
  EXPECT_EQ(history.settle(decide, kBinding), 1);
  const Value& value = history.state().value_of(kBinding);
  const Binding binding = binding_from(kBinding, value);
  EXPECT_EQ(binding.scheduled_message, kPlaced);
  EXPECT_EQ(binding.scheduler_observed_generation, binding.generation);
  EXPECT_EQ(binding.applied_placement, to_json(value["spec"]["placement"]));
}

TEST(SchedulerDecide, SkipsWhatIsNotItsBusiness) {  // S-1, S-9
  for (const char* change : {R"({"metadata": {"labels": {}}})", R"({"spec": {"schedulerName": "other"}})",
                             R"({"spec": {"suspension": {"scheduling": true}}})"}) {
    History history = history_of({2, kDuplicated, {{"m1", 1}}});
    history.edit(kBinding, [&](Value& binding) {
      const Value edits = json(change);
      for (const auto& part : edits.members()) {
        for (const auto& field : part.value.members()) binding.edit(part.key()).set(field.key(), field.value);
      }
    });
    EXPECT_EQ(answer(history), "nothing new") << change;
  }
  EXPECT_FALSE(decide(History{}.state(), kBinding, {}).value());
}

TEST(SchedulerTrigger, DividedWorkloadsStayWhenClustersJoinOrStopMatching) {  // S-14
  History history = history_of({6, kDynamic, {{"a", 9}, {"b", 9}}});
  history.settle(decide, kBinding);
  history.put(cluster_key("c"), cluster("c", 1000));
  EXPECT_EQ(answer(history), "nothing new");
  history.edit(kBinding, [](Value& binding) { binding.edit("spec").edit("resource").set("resourceVersion", "9"); });
  EXPECT_EQ(answer(history), "stands");
  EXPECT_EQ(history.settle(decide, kBinding), 1);
}

TEST(SchedulerTrigger, DuplicatedFollowsTheClusters) {  // S-10.4
  History history = history_of({6, kDuplicated, {{"a", 9}}});
  history.settle(decide, kBinding);
  EXPECT_EQ(answer(history), "nothing new");
  history.put(cluster_key("b"), cluster("b"));
  EXPECT_EQ(answer(history), "a:6 b:6");
}

TEST(SchedulerTrigger, ALeavingTargetReschedules) {  // S-10.5
  History history = history_of({6, kDynamic, {{"a", 9}, {"b", 9}}});
  history.settle(decide, kBinding);
  history.edit(cluster_key("a"), [](Value& value) { value.edit("metadata").edit("finalizers").push_back("x"); });
  history.remove(cluster_key("a"));
  EXPECT_EQ(answer(history), "b:6");
}

TEST(SchedulerTrigger, ARequestThatLiesInTheFutureWaits) {  // S-10.3
  History history = history_of({6, kDynamic, {{"a", 9}, {"b", 9}}});
  history.settle(decide, kBinding);
  history.edit(kBinding,
               [](Value& binding) { binding.edit("spec").set("rescheduleTriggeredAt", "2030-01-01T00:00:00Z"); });
  EXPECT_EQ(answer(history), "stands");
}

TEST(SchedulerTrigger, OnlyTheTermInForceCounts) {  // S-11
  const char* terms = R"({"clusterAffinities": [{"affinityName": "first", "clusterNames": ["a"]},
                                                {"affinityName": "second", "clusterNames": ["b"]}]})";
  History history = history_of({2, kDynamic, {{"a", 9}, {"b", 9}}, {}, "", false, terms});
  history.settle(decide, kBinding);
  const auto rename = [&](int64_t term, const char* to) {
    history.edit(kBinding, [&](Value& binding) {
      Value& list = binding.edit("spec").edit("placement").edit("clusterAffinities");
      list.edit_items()[static_cast<size_t>(term)].set("clusterNames", Value::array({to}));
    });
  };
  rename(1, "c");
  EXPECT_EQ(answer(history), "stands");
  rename(0, "b");
  EXPECT_EQ(answer(history), "b:2");
}

TEST(SchedulerQuota, RefusesWhatTheFoldWouldRefuseAndSaysItOnce) {  // behaviour-fleet 4.3, 4.5
  History history = history_of({4, kDuplicated, {{"m1", 9}}});
  history.edit(kBinding, [](Value& binding) {
    binding.edit("spec").edit("replicaRequirements").edit("resourceRequest").set("cpu", "500m");
  });
  const ObjectKey quota{type::kFederatedResourceQuota, "default", "q"};
  history.object(quota, R"({"spec": {"overall": {"cpu": "1"}}})");
  EXPECT_EQ(answer(history),
            "QuotaExceeded: FederatedResourceQuota(default/q) exceeded for resource cpu: requested sum "
            "2, limit 1.");
  EXPECT_EQ(history.settle(decide, kBinding), 1);
  const Binding refused = binding_from(kBinding, history.state().value_of(kBinding));
  EXPECT_EQ(refused.scheduled_reason, "QuotaExceeded");
  EXPECT_TRUE(refused.targets.empty());

  // The fold itself says the same of a placement that was decided too early.
  const Folded folded = history.fold({PlacementDecided{kBinding, {{"m1", 4}}, 1, "{}", "", {}}});
  ASSERT_TRUE(folded.refusal);
  EXPECT_EQ(folded.refusal->code, ErrorCode::kForbidden);
  EXPECT_EQ(folded.refusal->reason, refused.scheduled_message);

  history.edit(quota, [](Value& value) { value.edit("spec").edit("overall").set("cpu", "2"); });
  EXPECT_EQ(answer(history), "m1:4");
  EXPECT_EQ(history.settle(decide, kBinding), 1);
}

TEST(SchedulerExplanation, HasALineForEachClusterAndTheArithmetic) {
  History history = history_of({9,
                                static_weights({{"a", 1}, {"b", 2}}),
                                {{"a", 9}, {"b", 9}, {"c", 9}},
                                {},
                                "",
                                false,
                                R"({"clusterAffinity": {"clusterNames": ["a", "b"]}})"});
  const Explanation why = std::get<PlacementDecided>(decided(history)).why;
  EXPECT_EQ(why.summary, "placed on a:3 b:6");
  ASSERT_EQ(why.clusters.size(), 3U);
  EXPECT_EQ(why.clusters[0].replicas, 3);
  EXPECT_EQ(why.clusters[0].verdicts,
            (std::vector<Verdict>{
                {"ClusterAffinity", true, ""}, {"APIEnablement", true, ""}, {"TaintToleration", true, ""}}));
  EXPECT_EQ(why.clusters[2].verdicts,
            (std::vector<Verdict>{
                {"ClusterAffinity", false, "cluster(s) did not match the placement cluster affinity constraint"}}));
  EXPECT_EQ(why.clusters[2].replicas, -1);
  EXPECT_EQ(why.steps.back(), "static weight: 9 replicas by weights a:1 b:2 give a:3 b:6");
  EXPECT_EQ(why.inputs_digest.size(), 32U);
  EXPECT_EQ(decided(history), decided(history));
  history.edit(cluster_key("c"), [](Value& value) { value.edit("spec").set("region", "elsewhere"); });
  EXPECT_NE(std::get<PlacementDecided>(decided(history)).why.inputs_digest, why.inputs_digest);
}

TEST(SchedulerEstimate, IsTheScarcestResource) {  // S-64, X-57 to X-59
  Binding binding;
  binding.replicas = 1;
  const auto list = [](const char* text) { return resource_list_from(json(text)); };
  binding.request = list(R"({"cpu": "700m", "memory": "2Gi"})");
  Cluster cluster;
  cluster.room =
      room_of(list(R"({"cpu": "16", "memory": "64Gi", "pods": "110"})"),
              list(R"({"cpu": "9500m", "memory": "20Gi", "pods": "30"})"), list(R"({"cpu": "500m", "pods": "1"})"));
  EXPECT_EQ(Estimate{binding}(cluster), 8);
  binding.request = list(R"({"nvidia.com/gpu": "1"})");
  EXPECT_EQ(Estimate{binding}(cluster), 0);
  binding.request = {};
  EXPECT_EQ(Estimate{binding}(cluster), 79);
  cluster.room = room_of(list(R"({"cpu": "50m", "pods": "10"})"), {}, {});
  binding.request = list(R"({"cpu": "100m"})");
  EXPECT_EQ(Estimate{binding}(cluster), 0);
  EXPECT_EQ(Estimate{binding}(Cluster{}), 0);
  cluster.room = room_of(list(R"({"cpu": "16"})"), {}, {});  // no pods fit where their number is not given
  EXPECT_EQ(Estimate{binding}(cluster), 0);
}

/// Whatever fleet and history: totals and bounds hold, the same question has the same answer, and a placement once made
/// stands.
TEST(SchedulerAssignProperty, HoldsForRandomFleets) {
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
    EXPECT_FALSE(decide(history.state(), kBinding, history.now()).value());
  }
}

}  // namespace
}  // namespace shiplog::scheduler
