// Workloads of a namespace that stay together, or apart: M-10 to M-13.
#include <random>

#include "events/explain/text.h"
#include "services/roles/scheduler/remedy.h"
#include "tests/support/decided.h"
#include "tests/support/scheduling.h"

namespace shiplog::scheduler {
namespace {

constexpr const char* kOther = "ResourceBinding with the same affinity group does not target this cluster";
constexpr const char* kTaken = "cluster already has workload with the same anti-affinity group";

ObjectKey named(const std::string& name, const std::string& ns = "default") {
  return {type::kResourceBinding, ns, name};
}

Value member_of(const ObjectKey& key, const std::string& groups, const std::vector<Target>& targets = {}) {
  Value value = binding_of({.replicas = 2, .scheduling = kDuplicated, .clusters = {}, .previous = targets});
  value.edit("spec").set("workloadAffinityGroups", json(groups));
  return History::named(key, std::move(value));
}

const std::string kTogether = R"({"affinityGroup": "app=shop"})";
const std::string kApart = R"({"antiAffinityGroup": "app=shop"})";

/// Clusters a, b and c, and the binding in question.
History fleet_in_groups(const std::string& groups) {
  History history;
  for (const char* name : {"a", "b", "c"}) history.put(cluster_key(name), cluster(name));
  history.put(kBinding, member_of(kBinding, groups));
  return history;
}

/// "a: reason; b: passes; ..." of one rule.
std::string verdicts(const History& history, const std::string& rule) {
  const Event event = decided(history);
  const auto* placed = std::get_if<PlacementDecided>(&event);
  const auto* refused = std::get_if<PlacementRefused>(&event);
  const Explanation& why = placed != nullptr ? placed->why : refused->why;
  std::string text;
  for (const ClusterExplanation& line : why.clusters) {
    for (const Verdict& verdict : why.judgement_of(line).verdicts) {
      if (verdict.rule != rule) continue;
      text += (text.empty() ? "" : "; ") + line.cluster + ": " + (verdict.passed ? "passes" : text_of(verdict.reason));
    }
  }
  return text;
}

TEST(WorkloadAffinity, TheFirstOfAGroupIsFree_M_11) {
  History history = fleet_in_groups(kTogether);
  EXPECT_EQ(answer(history), "a:2 b:2 c:2");
  history.put(named("unplaced"), member_of(named("unplaced"), kTogether));
  EXPECT_EQ(answer(history), "a:2 b:2 c:2") << "who has no target yet blocks nobody";
}

TEST(WorkloadAffinity, GoesWhereAllOthersOfItsGroupAre_M_11) {
  History history = fleet_in_groups(kTogether);
  history.put(named("one"), member_of(named("one"), kTogether, {{"a", 2}, {"b", 2}}));
  EXPECT_EQ(answer(history), "a:2 b:2");
  EXPECT_EQ(verdicts(history, "WorkloadAffinity"), std::string{"a: passes; b: passes; c: "} + kOther);
  history.put(named("two"), member_of(named("two"), kTogether, {{"b", 2}, {"c", 2}}));
  EXPECT_EQ(answer(history), "b:2");
  history.put(named("three"), member_of(named("three"), kTogether, {{"a", 2}}));
  EXPECT_EQ(answer(history), std::string{"NoClusterFit: 0/3 clusters are available: 3 "} + kOther + ".");
}

TEST(WorkloadAffinity, OtherGroupsAndNamespacesDoNotCount_M_10) {
  History history = fleet_in_groups(R"({"affinityGroup": "app=shop", "antiAffinityGroup": "tier=db"})");
  history.put(named("bank"), member_of(named("bank"), R"({"affinityGroup": "app=bank"})", {{"a", 2}}));
  history.put(named("far", "other"), member_of(named("far", "other"), kTogether, {{"a", 2}}));
  history.put(named("crossed"), member_of(named("crossed"), R"({"antiAffinityGroup": "app=shop"})", {{"a", 2}}));
  EXPECT_EQ(answer(history), "a:2 b:2 c:2");
}

TEST(WorkloadAntiAffinity, StaysAwayFromOthersOfItsGroup_M_12) {
  History history = fleet_in_groups(kApart);
  EXPECT_EQ(answer(history), "a:2 b:2 c:2");
  history.put(named("one"), member_of(named("one"), kApart, {{"a", 2}}));
  EXPECT_EQ(answer(history), "b:2 c:2");
  EXPECT_EQ(verdicts(history, "WorkloadAntiAffinity"), std::string{"a: "} + kTaken + "; b: passes; c: passes");
  history.put(named("two"), member_of(named("two"), kApart, {{"b", 2}, {"c", 2}}));
  EXPECT_EQ(answer(history), std::string{"NoClusterFit: 0/3 clusters are available: 3 "} + kTaken + ".");
}

TEST(WorkloadAffinity, ACurrentTargetPassesBoth_M_10) {
  for (const std::string& groups : {kTogether, kApart}) {
    History history = fleet_in_groups(groups);
    history.put(kBinding, member_of(kBinding, groups, {{"a", 2}}));
    history.put(named("one"),
                member_of(named("one"), groups,
                          groups == kApart ? std::vector<Target>{{"a", 2}} : std::vector<Target>{{"b", 2}}));
    EXPECT_EQ(answer(history), groups == kApart ? "a:2 b:2 c:2" : "a:2 b:2") << groups;
  }
}

TEST(WorkloadAffinity, TheFoldRefusesWhoWasPlacedBesideAnotherAtTheSameTime_M_13) {
  History history = fleet_in_groups(kApart);
  history.accept({FoldVersionActivated{kFoldVersion}});
  history.accept({FeatureGatesSet{{"WorkloadAffinity"}}});
  history.put(named("one"), member_of(named("one"), kApart));
  const auto first = decide(history.state(), kBinding, history.now());
  const auto second = decide(history.state(), named("one"), history.now());
  history.accept(*decision_of(first));
  const Folded folded = history.fold(decision_of(second)->events, decision_of(second)->expects);
  ASSERT_TRUE(folded.refusal) << "neither knew of the other";
  EXPECT_EQ(folded.refusal->code, ErrorCode::kConflict);
  const auto again = decide(history.state(), named("one"), history.now());
  EXPECT_TRUE(std::holds_alternative<PlacementRefused>(decision_of(again)->events.front()));
}

TEST(WorkloadAffinity, WithoutTheGateGroupsDoNotCount_M_13) {
  History history = fleet_in_groups(kApart);
  history.accept({FoldVersionActivated{kFoldVersion}});
  history.put(named("one"), member_of(named("one"), kApart, {{"a", 2}}));
  EXPECT_EQ(answer(history), "a:2 b:2 c:2");
  history.accept(*decision_of(decide(history.state(), kBinding, history.now())));
}

TEST(WorkloadAffinity, ThePluginsCanBeSwitchedOffAndThenTheFoldDoesNotMind_M_13_S_23) {
  History history = fleet_in_groups(kApart);
  history.accept({FoldVersionActivated{kFoldVersion}});
  history.accept({FeatureGatesSet{{"WorkloadAffinity"}}});
  history.put(named("one"), member_of(named("one"), kApart, {{"a", 2}}));
  EXPECT_EQ(answer(history), "b:2 c:2");
  history.accept({OptionsSet{{{"plugins", {"*", "-WorkloadAntiAffinity"}}}}});
  EXPECT_EQ(answer(history), "a:2 b:2 c:2");
  history.accept(*decision_of(decide(history.state(), kBinding, history.now())));

  History together = fleet_in_groups(kTogether);
  together.accept({FoldVersionActivated{kFoldVersion}});
  together.accept({FeatureGatesSet{{"WorkloadAffinity"}}});
  together.put(named("one"), member_of(named("one"), kTogether, {{"a", 2}}));
  EXPECT_EQ(answer(together), "a:2");
  together.accept({OptionsSet{{{"plugins", {"*", "-WorkloadAffinity"}}}}});
  EXPECT_EQ(answer(together), "a:2 b:2 c:2");
  together.accept(*decision_of(decide(together.state(), kBinding, together.now())));
}

// For any order of decisions: no binding is ever beside one that its anti-affinity excludes, and all that stay
// together are in one place. The index agrees with a look at every binding.
TEST(WorkloadAffinity, HoldsInEveryOrder_M_10_to_M_12) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 random{seed};
    History history;
    history.accept({FoldVersionActivated{kFoldVersion}});
    history.accept({FeatureGatesSet{{"WorkloadAffinity"}}});
    for (const char* name : {"a", "b", "c", "d"}) history.put(cluster_key(name), cluster(name));
    std::vector<ObjectKey> keys;
    for (int at = 0; at < 8; ++at) {
      keys.push_back(named("w" + std::to_string(at)));
      const std::string groups = R"({"affinityGroup": "g=)" + std::to_string(random() % 3) +
                                 R"(", "antiAffinityGroup": "h=)" + std::to_string(random() % 3) + R"("})";
      Value value = member_of(keys.back(), groups);
      value.edit("spec").set("placement", json(R"({"spreadConstraints": [
          {"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]})"));
      history.put(keys.back(), std::move(value));
    }
    for (int step = 0; step < 40; ++step) {
      const ObjectKey& key = keys[random() % keys.size()];
      if (random() % 8 == 0) {  // evicted
        history.edit(key, [](Value& binding) { binding.edit("spec").erase("clusters"); });
        continue;
      }
      const auto decision = decide(history.state(), key, history.now());
      ASSERT_TRUE(decision) << decision.error().message;
      if (decision_of(decision)) history.accept(*decision_of(decision));
    }
    for (const ObjectKey& one : keys) {
      for (const ObjectKey& two : keys) {
        if (one == two) continue;
        const Binding first = binding_from(one, history.state().value_of(one));
        const Binding second = binding_from(two, history.state().value_of(two));
        if (first.targets.empty() || second.targets.empty()) continue;
        const bool same = first.targets.front().cluster == second.targets.front().cluster;
        EXPECT_FALSE(same && first.anti_affinity_group == second.anti_affinity_group) << "seed " << seed;
        EXPECT_TRUE(same || first.affinity_group != second.affinity_group) << "seed " << seed;
      }
    }
  }
}

std::string remedy_in_group(const History& history, const std::string& cluster) {
  const Binding binding = binding_from(kBinding, history.state().value_of(kBinding));
  const PlacementContext context{.together = history.state().affinities().together("default", binding.affinity_group),
                                 .apart = history.state().affinities().apart("default", binding.anti_affinity_group)};
  const auto found = remedy_for(binding, placement_from(binding.placement).value(), history.state().clusters(), cluster,
                                false, context);
  std::string text;
  for (const std::string& one : found->changes) text += (text.empty() ? "" : "; ") + one;
  return text + (found->chosen ? "" : "; still not");
}

TEST(Remedy, NamesTheOthersOfAGroupThatKeepAClusterOut_M_11_M_12) {
  History history = fleet_in_groups(kTogether);
  history.put(named("one"), member_of(named("one"), kTogether, {{"a", 2}, {"b", 2}}));
  history.put(named("two"), member_of(named("two"), kTogether, {{"b", 2}}));
  EXPECT_EQ(remedy_in_group(history, "a"), "place two on cluster a too: it stays with them (app=shop)");
  EXPECT_EQ(remedy_in_group(history, "c"), "place one, two on cluster c too: it stays with them (app=shop)");

  History apart = fleet_in_groups(kApart);
  for (const char* name : {"1", "2", "3", "4"}) {
    apart.put(named(name), member_of(named(name), kApart, {{"a", 2}}));
  }
  EXPECT_EQ(remedy_in_group(apart, "a"), "move 1, 2, 3 and 1 more off cluster a: it stays apart from them (app=shop)");
}

}  // namespace
}  // namespace shiplog::scheduler
