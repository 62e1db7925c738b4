// Which clusters are out, and in which words.
#include <functional>

#include <gtest/gtest.h>

#include "tests/support/scheduling.h"

namespace shiplog::scheduler {
namespace {

std::string fit(const std::function<void(Value&)>& change_cluster, const char* placement = "{}") {
  Case from{2, kDuplicated, {{"m1", 10}}, {}, "", false, placement};
  History history = history_of(from);
  history.edit(cluster_key("m1"), change_cluster);
  return answer(history);
}

TEST(SchedulerFilter, CurrentTargetsAreKnownInWhateverOrderTheyWereWritten_TRAP_6) {
  History history = history_of({3, kDuplicated, {{"a", 9}, {"b", 9}, {"c", 9}}, {{"c", 2}, {"a", 2}, {"b", 2}}});
  for (const char* name : {"a", "b", "c"}) {
    history.edit(cluster_key(name), [](Value& value) { value.edit("status").erase("apiEnablements"); });
  }
  EXPECT_EQ(answer(history), "a:3 b:3 c:3") << "a list of kinds that is gone moves nothing away";
}

TEST(SchedulerFilter, RejectsWithTheMessageOfTheRule) {  // S-19, S-21, S-18
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

TEST(SchedulerFilter, ALimitedTolerationKeepsATargetButAddsNone) {
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

TEST(SchedulerFilter, CurrentTargetsPassTaintsAndApisButNotEvictions) {  // S-19, S-79, TRAP-6, 3.2.9
  History history = history_of({3, kDuplicated, {{"a", 1}, {"b", 1}}, {{"a", 2}, {"b", 2}}});
  history.edit(cluster_key("a"), [](Value& value) {
    value.edit("status").erase("apiEnablements");
    value.edit("spec").set("taints", json(R"([{"key": "k", "effect": "NoExecute"}])"));
  });
  EXPECT_EQ(answer(history), "a:3 b:3");
  history.accept({EvictionStarted{kBinding, "a", "TaintUntolerated", "", "TaintManager", 0}});
  EXPECT_EQ(answer(history), "b:3");
}

void switch_off(History& history, const std::vector<std::string>& words) {
  history.accept({OptionsSet{{{"plugins", words}}}});
}

TEST(SchedulerFilter, DisabledPluginsAreIgnored_S_23) {
  History history = history_of({2, kDuplicated, {{"m1", 10}, {"m2", 10}}, {}, "", false, R"({"clusterAffinity":
      {"clusterNames": ["m1"]}})"});
  history.edit(cluster_key("m1"), [](Value& value) {
    value.edit("spec").set("taints", json(R"([{"key": "k", "effect": "NoSchedule"}])"));
    value.edit("status").erase("apiEnablements");
  });
  const std::string before = answer(history);
  EXPECT_EQ(before.substr(0, 13), "NoClusterFit:") << before;
  switch_off(history, {"*", "-TaintToleration"});
  EXPECT_EQ(answer(history),
            "NoClusterFit: 0/2 clusters are available: 1 cluster(s) did not have the API resource, 1 cluster(s) did "
            "not match the placement cluster affinity constraint.");
  switch_off(history, {"-TaintToleration", "*", "-APIEnablement"});
  EXPECT_EQ(answer(history), "m1:2");
  const Event event = decided(history);
  const Explanation& why = std::get<PlacementDecided>(event).why;
  const auto* disabled = step_of<PluginsDisabled>(why);
  ASSERT_NE(disabled, nullptr);
  EXPECT_EQ(disabled->plugins, (std::vector<std::string>{"APIEnablement", "TaintToleration"}));
  switch_off(history, {"ClusterLocality"});
  EXPECT_EQ(answer(history), "m1:2 m2:2") << "only what is named is on";
  history.accept({OptionsSet{}});
  EXPECT_EQ(answer(history), before);
}

TEST(SchedulerFilter, EveryPluginCanBeSwitchedOff_S_23) {
  const char* spread = R"({"spreadConstraints": [{"spreadByField": "zone"}, {"spreadByField": "cluster",
      "minGroups": 1, "maxGroups": 5}]})";
  History history = history_of({2, kDuplicated, {{"m1", 10}}, {}, "", false, spread});
  history.edit(kBinding, [](Value& binding) {
    binding.edit("spec").set("gracefulEvictionTasks", json(R"([{"fromCluster": "m1"}])"));
  });
  switch_off(history, {"*", "-SpreadConstraint"});
  EXPECT_NE(answer(history).find("is in the process of eviction"), std::string::npos);
  switch_off(history, {"*", "-SpreadConstraint", "-ClusterEviction"});
  EXPECT_EQ(answer(history).find("NoClusterFit"), std::string::npos) << answer(history);

  History elsewhere =
      history_of({2, kDuplicated, {{"m1", 10}}, {}, "", false, R"({"clusterAffinity": {"clusterNames": ["m9"]}})"});
  switch_off(elsewhere, {"*", "-ClusterAffinity"});
  EXPECT_EQ(answer(elsewhere), "m1:2");
}

TEST(SchedulerScore, LocalityThatIsOffPrefersNoCluster_S_22_S_23) {
  const char* one = R"({"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]})";
  History history = history_of({2, kDuplicated, {{"a", 20}, {"b", 10}}, {{"b", 3}}, "", false, one});
  EXPECT_EQ(answer(history), "b:2");
  switch_off(history, {"*", "-ClusterLocality"});
  EXPECT_EQ(answer(history), "a:2") << "more replicas would fit there";
}

}  // namespace
}  // namespace shiplog::scheduler
