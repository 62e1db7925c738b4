#include "services/roles/scheduler/remedy.h"

#include <gtest/gtest.h>

#include "services/roles/scheduler/trigger.h"
#include "tests/support/scheduling.h"

namespace shiplog::scheduler {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& each : words) text += (text.empty() ? "" : "; ") + each;
  return text;
}

/// "a; b" when placing again with the changes takes the cluster in; "a; b; still not" when it does not.
std::string remedy(const History& history, const std::string& cluster) {
  const Binding binding = binding_from(kBinding, history.state().value_of(kBinding));
  const auto found = remedy_for(binding, placement_from(binding.placement).value(), history.state().clusters(), cluster,
                                reschedule_requested(history.state().value_of(kBinding), history.now()));
  if (!found) return "nothing to do";
  return joined(found->changes) + (found->chosen ? "" : "; still not");
}
std::string remedy(const Case& from, const std::string& cluster) { return remedy(history_of(from), cluster); }

History fleet(const Case& from, const std::string& changed, const std::function<void(Value&)>& change) {
  History history = history_of(from);
  Value value = history.state().value_of(cluster_key(changed));
  change(value);
  history.put(cluster_key(changed), std::move(value));
  return history;
}

TEST(Remedy, NothingForAChosenClusterOrOneThatIsNotThere) {
  const Case from{.replicas = 2, .scheduling = kDuplicated, .clusters = {{"a", 10}, {"b", 10}}};
  EXPECT_EQ(remedy(from, "a"), "nothing to do");
  EXPECT_EQ(remedy(from, "z"), "nothing to do");
}

TEST(Remedy, EachPartOfAnAffinityThatKeepsAClusterOut) {
  const auto with = [](const std::string& affinity) {
    return Case{.replicas = 2,
                .scheduling = kDuplicated,
                .clusters = {{"a", 10}, {"b", 10}},
                .placement = R"({"clusterAffinity": )" + affinity + "}"};
  };
  EXPECT_EQ(remedy(with(R"({"clusterNames": ["a"]})"), "b"), "add b to clusterAffinity.clusterNames");
  EXPECT_EQ(remedy(with(R"({"exclude": ["b"]})"), "b"), "take b out of clusterAffinity.exclude");
  EXPECT_EQ(remedy(with(R"({"labelSelector": {"matchLabels": {"tier": "gold"}}})"), "b"),
            "label cluster b with tier=gold");
  EXPECT_EQ(remedy(with(R"({"labelSelector": {"matchExpressions": [{"key": "x", "operator": "Exists"}]}})"), "b"),
            "label cluster b with x");
  EXPECT_EQ(remedy(with(R"({"fieldSelector": {"matchExpressions":
                            [{"key": "region", "operator": "In", "values": ["eu"]}]}})"),
                   "b"),
            "set spec.region of cluster b to eu");
  EXPECT_EQ(remedy(with(R"({"fieldSelector": {"matchExpressions":
                            [{"key": "zone", "operator": "In", "values": ["eu-1", "eu-2"]}]}})"),
                   "b"),
            "set spec.zones of cluster b to eu-1");
  EXPECT_EQ(remedy(with(R"({"clusterNames": ["a"], "labelSelector": {"matchLabels": {"tier": "gold"}}})"), "b"),
            "add b to clusterAffinity.clusterNames; label cluster b with tier=gold");
}

TEST(Remedy, OfSeveralAffinityTermsTheOneThatHelpsWithTheFewestChanges) {
  const Case from{.replicas = 2,
                  .scheduling = kDuplicated,
                  .clusters = {{"a", 10}, {"b", 10}},
                  .placement = R"({"clusterAffinities": [
                    {"affinityName": "first", "clusterNames": ["a"]},
                    {"affinityName": "second", "clusterNames": ["b"]}]})"};
  EXPECT_EQ(remedy(from, "b"), "add b to clusterAffinities[first].clusterNames")
      << "it is in the second term already, but the first one is in force";
}

TEST(Remedy, TaintsApisAndEvictions) {
  const Case from{.replicas = 2, .scheduling = kDuplicated, .clusters = {{"a", 10}, {"b", 10}}};
  EXPECT_EQ(remedy(fleet(from, "b",
                         [](Value& b) {
                           b.edit("spec").set("taints", json(R"([{"key": "k", "value": "v", "effect": "NoSchedule"},
                             {"key": "soft", "effect": "PreferNoSchedule"}])"));
                         }),
                   "b"),
            "take the taint k=v:NoSchedule off cluster b, or tolerate it in the policy");
  EXPECT_EQ(remedy(fleet(from, "b", [](Value& b) { b.edit("status").erase("apiEnablements"); }), "b"),
            "serve apps/v1 Deployment in cluster b");
  History evicting = history_of(from);
  Value binding = evicting.state().value_of(kBinding);
  binding.edit("spec").set("gracefulEvictionTasks", json(R"([{"fromCluster": "b"}])"));
  evicting.put(kBinding, std::move(binding));
  EXPECT_EQ(remedy(evicting, "b"), "wait until the eviction from cluster b has ended");
}

TEST(Remedy, VerdictsOfDisabledPluginsDoNotMatter_S_23) {
  const Case from{.replicas = 2, .scheduling = kDuplicated, .clusters = {{"a", 10}, {"b", 10}}};
  const History history = fleet(from, "b", [](Value& b) {
    b.edit("spec").set("taints", json(R"([{"key": "k", "effect": "NoSchedule"}])"));
    b.edit("status").erase("apiEnablements");
  });
  FleetOptions options;
  options.plugins = {"*", "-TaintToleration"};
  const Binding binding = binding_from(kBinding, history.state().value_of(kBinding));
  const auto found = remedy_for(binding, placement_from(binding.placement).value(), history.state().clusters(), "b",
                                false, {.options = &options});
  ASSERT_TRUE(found);
  EXPECT_EQ(joined(found->changes), "serve apps/v1 Deployment in cluster b");
}

TEST(Remedy, TheRegionThatAClusterWouldBeTakenIn) {
  const Case from{.replicas = 2,
                  .scheduling = kDuplicated,
                  .clusters = {{"a", 10}, {"b", 10}, {"c", 10}},
                  .placement = R"({"spreadConstraints": [{"spreadByField": "region", "minGroups": 2, "maxGroups": 2},
                    {"spreadByField": "cluster", "minGroups": 1, "maxGroups": 9}]})",
                  .regions = {"eu", "us", ""}};
  EXPECT_EQ(remedy(from, "c"), "set spec.region of cluster c, to eu");
}

TEST(Remedy, ASpreadConstraintThatIsTooNarrow) {
  const Case from{
      .replicas = 2,
      .scheduling = kDuplicated,
      .clusters = {{"a", 10}, {"b", 10}, {"c", 10}},
      .placement = R"({"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]})"};
  EXPECT_EQ(remedy(from, "c"), "raise maxGroups of the spread constraint by cluster from 1 to 3");
}

TEST(Remedy, TheLeastWeightRoomAndReplicas) {
  EXPECT_EQ(remedy({.replicas = 5,
                    .scheduling = static_weights({{"a", 1}, {"b", 1}, {"c", 10}}),
                    .clusters = {{"a", 10}, {"b", 10}, {"c", 10}}},
                   "a"),
            "give cluster a a static weight of 2")
      << "X-5";
  EXPECT_EQ(remedy({.replicas = 4, .scheduling = kAggregated, .clusters = {{"a", 5}, {"b", 3}, {"c", 2}}}, "b"),
            "make room for 3 more replicas in cluster b")
      << "X-29: with 6 it is the roomiest";
}

TEST(Remedy, WhatIsPlacedStaysUnlessAFreshPlacementIsRequested) {
  EXPECT_EQ(
      remedy({.replicas = 4, .scheduling = kDynamic, .clusters = {{"a", 4}, {"b", 9}}, .previous = {{"a", 4}}}, "b"),
      "ask for a fresh placement with a WorkloadRebalancer: replicas that are placed stay where they are");
  EXPECT_EQ(
      remedy({.replicas = 4, .scheduling = kDynamic, .clusters = {{"a", 9}, {"b", 0}}, .previous = {{"a", 4}}}, "b"),
      "ask for a fresh placement with a WorkloadRebalancer: replicas that are placed stay where they are; "
      "make room for 2 more replicas in cluster b");
}

TEST(Remedy, AMoreEvenWeightWhereTooFewReplicasAreDivided) {
  EXPECT_EQ(remedy({.replicas = 2,
                    .scheduling = static_weights({{"a", 4}, {"b", 3}, {"c", 1}}),
                    .clusters = {{"a", 9}, {"b", 9}, {"c", 9}}},
                   "c"),
            "give cluster c a static weight of 4");
}

TEST(Remedy, OfSeveralWaysInTheOneWithTheFewestChangesCounts) {
  const Case from{.replicas = 2, .scheduling = kDuplicated, .clusters = {{"a", 10}, {"b", 10}}, .placement = R"({
      "clusterAffinities": [
        {"affinityName": "gold", "clusterNames": ["z"], "labelSelector": {"matchLabels": {"tier": "gold"}}},
        {"affinityName": "rest", "exclude": ["b"]}]})"};
  EXPECT_EQ(answer(from), "a:2");
  EXPECT_EQ(remedy(from, "b"), "take b out of clusterAffinities[rest].exclude")
      << "not: add b to clusterAffinities[gold].clusterNames, and label it";
}

}  // namespace
}  // namespace shiplog::scheduler
