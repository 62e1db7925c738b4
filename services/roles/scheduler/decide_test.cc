#include <gtest/gtest.h>

#include "events/explain/text.h"
#include "tests/support/decided.h"
#include "tests/support/scheduling.h"

namespace shiplog::scheduler {
namespace {

constexpr const char* kPlaced = "Binding has been scheduled successfully.";

TEST(SchedulerDecide, AnEvictedDividedWorkloadMovesItsReplicas) {  // S-15: the eviction trips S-12, 3.3.2
  History history = history_of({6, kDynamic, {{"a", 10}, {"b", 10}}, {{"a", 3}, {"b", 3}}});
  history.accept({EvictionStarted{kBinding, "a", "TaintUntolerated", "", "TaintManager", 0}});
  EXPECT_EQ(answer(history), "b:6");
}

TEST(SchedulerDecide, NoFitClearsTheTargetsAndIsRecordedOnce) {  // S-75, TRAP-3
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

TEST(SchedulerDecide, CapacityShortKeepsTheTargetsAndIsRecordedOnce) {  // S-75, TRAP-3
  History history = history_of({9, kDynamic, {{"a", 1}}, {{"a", 2}}});
  EXPECT_EQ(history.settle(decide, kBinding), 1);
  const Binding binding = binding_from(kBinding, history.state().value_of(kBinding));
  EXPECT_EQ(binding.targets, (std::vector<Target>{{"a", 2}}));
  EXPECT_EQ(binding.scheduled_reason, "Unschedulable");
  EXPECT_EQ(binding.scheduler_observed_generation, 0);  // S-76: only success
}

TEST(SchedulerDecide, ARefusalEndsWhenTheRequestIsReverted) {
  History history = history_of({9, kDynamic, {{"a", 1}}, {{"a", 2}}});
  history.settle(decide, kBinding);
  history.edit(kBinding, [](Value& binding) { binding.edit("spec").set("replicas", 2); });
  history.settle(decide, kBinding);
  EXPECT_EQ(binding_from(kBinding, history.state().value_of(kBinding)).scheduled_status, "True");
}

TEST(SchedulerDecide, SuccessWritesConditionGenerationAndAppliedPlacement) {  // S-75, S-76, S-77
  History history = history_of({2, kDuplicated, {{"m1", 1}}});
  EXPECT_EQ(history.settle(decide, kBinding), 1);
  const Value& value = history.state().value_of(kBinding);
  const Binding binding = binding_from(kBinding, value);
  EXPECT_EQ(binding.scheduled_message, kPlaced);
  EXPECT_EQ(binding.scheduler_observed_generation, binding.generation);
  EXPECT_EQ(binding.applied_placement, to_json(value["spec"]["placement"]));
}

TEST(SchedulerDecide, SkipsWhatIsNotItsBusiness) {  // S-1, S-9, B-33, D-39
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
  EXPECT_FALSE(decision_of(decide(History{}.state(), kBinding, {})));
}

TEST(SchedulerQuota, RefusesWhatTheFoldWouldRefuseAndReportsItOnce) {  // Q-3 to Q-15, Q-18 to Q-22, S-75
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

  // The fold itself has the same result for a placement that was decided too early.
  const Folded folded = history.fold({PlacementDecided{kBinding, {{"m1", 4}}, 1, "{}", "", {}}});
  ASSERT_TRUE(folded.refusal);
  EXPECT_EQ(folded.refusal->code, ErrorCode::kForbidden);
  EXPECT_EQ(folded.refusal->reason, refused.scheduled_message);

  history.edit(quota, [](Value& value) { value.edit("spec").edit("overall").set("cpu", "2"); });
  EXPECT_EQ(answer(history), "m1:4");
  EXPECT_EQ(history.settle(decide, kBinding), 1);
}

TEST(SchedulerExplanation, HasALineForEachClusterAndTheArithmetic) {  // S-28
  History history = history_of({9,
                                static_weights({{"a", 1}, {"b", 2}}),
                                {{"a", 9}, {"b", 9}, {"c", 9}},
                                {},
                                "",
                                false,
                                R"({"clusterAffinity": {"clusterNames": ["a", "b"]}})"});
  const Explanation why = std::get<PlacementDecided>(decided(history)).why;
  EXPECT_EQ(why.summary, Fact{PlacementMade{}});
  EXPECT_EQ(text_of(why.summary, why), "placed on a:3 b:6");
  ASSERT_EQ(why.clusters.size(), 3U);
  EXPECT_EQ(why.clusters[0].replicas, 3);
  EXPECT_EQ(why.judgement_of(why.clusters[0]).verdicts,
            (std::vector<Verdict>{
                {"ClusterAffinity", true, {}}, {"APIEnablement", true, {}}, {"TaintToleration", true, {}}}));
  EXPECT_EQ(why.judgement_of(why.clusters[2]).verdicts,
            (std::vector<Verdict>{{"ClusterAffinity", false, AffinityMismatch{}}}));
  EXPECT_EQ(why.judgements.size(), 2U) << "those that pass share theirs";
  EXPECT_EQ(why.clusters[2].replicas, -1);
  EXPECT_EQ(why.steps.back(), (Fact{Divided{Division::kStaticWeight, Scaling::kNone, 9, {0, 1}, {1, 2}, {3, 6}}}));
  EXPECT_EQ(text_of(why.steps.back(), why), "static weight: 9 replicas by weights a:1 b:2 give a:3 b:6");
  EXPECT_EQ(why.inputs_digest.size(), 32U);
  EXPECT_EQ(decided(history), decided(history));
  history.edit(cluster_key("c"), [](Value& value) { value.edit("spec").set("region", "elsewhere"); });
  EXPECT_NE(std::get<PlacementDecided>(decided(history)).why.inputs_digest, why.inputs_digest);
}

TEST(SchedulerExplanation, ClustersThatFailTheSameRuleKeepTheirOwnReasons) {
  History history = history_of({2, kDuplicated, {{"a", 9}, {"b", 9}, {"c", 9}, {"d", 9}}});
  for (const auto& [name, value] : {std::pair{"a", "1"}, std::pair{"b", "2"}, std::pair{"d", "1"}}) {
    history.edit(cluster_key(name), [&](Value& cluster) {
      const Value taint = Value::object({{"key", "k"}, {"value", value}, {"effect", "NoSchedule"}});
      cluster.edit("spec").set("taints", Value::array({taint}));
    });
  }
  const Explanation why = std::get<PlacementDecided>(decided(history)).why;
  ASSERT_EQ(why.clusters.size(), 4U);
  const auto last = [&](size_t cluster) { return why.judgement_of(why.clusters[cluster]).verdicts.back(); };
  EXPECT_EQ(last(0).reason, (Fact{TaintNotTolerated{"k", "1", "NoSchedule"}}));
  EXPECT_EQ(last(1).reason, (Fact{TaintNotTolerated{"k", "2", "NoSchedule"}}));
  EXPECT_TRUE(last(2).passed);
  EXPECT_EQ(why.clusters[3].judgement, why.clusters[0].judgement);
}

TEST(SchedulerExplanation, EachClusterHasItsOwnScore) {
  const History history = history_of({4, kDynamic, {{"a", 9}, {"b", 9}, {"c", 9}}, {{"b", 2}}});
  const Explanation why = std::get<PlacementDecided>(decided(history)).why;
  ASSERT_EQ(why.clusters.size(), 3U);
  const auto scores = [&](size_t cluster) { return why.judgement_of(why.clusters[cluster]).scores; };
  EXPECT_EQ(scores(0), (std::vector<Score>{{"ClusterLocality", 0}}));
  EXPECT_EQ(scores(1), (std::vector<Score>{{"ClusterLocality", 100}}));
  EXPECT_EQ(why.clusters[2].judgement, why.clusters[0].judgement);
  EXPECT_EQ(why.judgement_of(why.clusters[1]).verdicts, why.judgement_of(why.clusters[0]).verdicts);
}

}  // namespace
}  // namespace shiplog::scheduler
