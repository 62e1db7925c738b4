// When a binding is placed anew.
#include <functional>

#include <gtest/gtest.h>

#include "tests/support/scheduling.h"

namespace shiplog::scheduler {
namespace {

TEST(SchedulerTrigger, DividedWorkloadsStayWhenClustersJoinOrStopMatching) {  // S-14, S-76, TRAP-5, S-10
  History history = history_of({6, kDynamic, {{"a", 9}, {"b", 9}}});
  history.settle(decide, kBinding);
  history.put(cluster_key("c"), cluster("c", 1000));
  EXPECT_EQ(answer(history), "nothing new");
  history.edit(kBinding, [](Value& binding) { binding.edit("spec").edit("resource").set("resourceVersion", "9"); });
  EXPECT_EQ(answer(history), "stands");
  EXPECT_EQ(history.settle(decide, kBinding), 1);
}

// TRAP-5.
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

// The policy was deleted, and the template stays: the Cluster would wait for the binding for ever.
TEST(SchedulerTrigger, ALeavingTargetReschedulesABindingThatNoPolicyHas_1_12_2_S_4) {
  for (const char* strategy : {kDynamic, kDuplicated}) {
    History history = history_of({6, strategy, {{"a", 9}, {"b", 9}}});
    history.settle(decide, kBinding);
    history.edit(kBinding, [](Value& binding) { binding.edit("metadata").erase("labels"); });
    history.put(cluster_key("c"), cluster("c", 1000));
    EXPECT_EQ(answer(history), "nothing new") << "as long as its clusters stay";
    history.edit(cluster_key("c"), [](Value& value) { value.edit("metadata").edit("finalizers").push_back("x"); });
    history.remove(cluster_key("c"));
    EXPECT_EQ(answer(history), "nothing new") << "it is not on that one";
    history.edit(cluster_key("a"), [](Value& value) { value.edit("metadata").edit("finalizers").push_back("x"); });
    history.remove(cluster_key("a"));
    EXPECT_EQ(answer(history), "b:6");
  }
}

TEST(SchedulerTrigger, ALeavingTargetIsTakenOffABindingThatFitsNowhereElse_1_12_2) {
  History history = history_of({6, kDuplicated, {{"a", 9}}});
  history.settle(decide, kBinding);
  history.edit(kBinding, [](Value& binding) { binding.edit("metadata").erase("labels"); });
  history.edit(cluster_key("a"), [](Value& value) { value.edit("metadata").edit("finalizers").push_back("x"); });
  history.remove(cluster_key("a"));
  history.settle(decide, kBinding);
  EXPECT_EQ(history.state().value_of(kBinding)["spec"]["clusters"].size(), 0U);
}

TEST(SchedulerTrigger, ARequestThatLiesInTheFutureWaits) {  // S-10.3
  History history = history_of({6, kDynamic, {{"a", 9}, {"b", 9}}});
  history.settle(decide, kBinding);
  history.edit(kBinding,
               [](Value& binding) { binding.edit("spec").set("rescheduleTriggeredAt", "2030-01-01T00:00:00Z"); });
  EXPECT_EQ(answer(history), "stands");
}

TEST(SchedulerTrigger, ARequestOfTheSameSecondAsThePlacementCountsOnce_S_10_3_5_2_7) {
  History history = history_of({6, kDynamic, {{"a", 9}, {"b", 9}}});
  history.accept({FoldVersionActivated{kFoldVersion}});
  history.settle(decide, kBinding);
  const std::string placed = history.state().value_of(kBinding)["status"]["lastScheduledTime"].str();
  history.edit(kBinding, [&](Value& binding) { binding.edit("spec").set("rescheduleTriggeredAt", placed); });
  EXPECT_EQ(answer(history), "stands") << "as upstream: the placement may include the request";
  history.settle(decide, kBinding);
  history.accept({ReschedulingTriggered{kBinding, "test", parse_rfc3339(placed).value()}});
  EXPECT_EQ(history.state().value_of(kBinding)["spec"]["rescheduleTriggeredAt"].str(), placed);
  EXPECT_EQ(answer(history), "a:3 b:3") << "this request came after the placement";
  history.settle(decide, kBinding);
  EXPECT_EQ(answer(history), "nothing new");
  history.edit(kBinding, [](Value& binding) { binding.edit("spec").edit("resource").set("resourceVersion", "9"); });
  EXPECT_EQ(answer(history), "stands") << "it is not placed afresh by what comes later";
}

TEST(SchedulerTrigger, AChangedPlacementIsDetectedByItsParts_S_11) {  // S-10
  const auto after = [](const std::function<void(Value & binding)>& change) {
    History history = history_of({6, kDynamic, {{"a", 9}, {"b", 9}}});
    history.settle(decide, kBinding);
    history.put(cluster_key("c"), cluster("c", 90));  // taken in by whatever places anew; steady growth is none
    history.edit(kBinding, change);
    return answer(history);
  };
  const auto set = [&](const char* field, const char* text) {
    return after([&](Value& binding) { binding.edit("spec").edit("placement").set(field, json(text)); });
  };
  const std::string anew = "a:3 b:3";
  EXPECT_EQ(set("clusterAffinity", R"({"exclude": ["x"]})"), anew);
  EXPECT_EQ(set("clusterTolerations", R"([{"key": "k", "operator": "Exists"}])"), anew);
  EXPECT_EQ(set("spreadConstraints", R"([{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 9}])"), anew);
  EXPECT_EQ(set("replicaScheduling", kDuplicated), "a:6 b:6 c:6");
  EXPECT_EQ(set("workloadAffinity", R"({"affinity": {"groupByLabelKey": "app"}})"), anew) << "no term is in force";
  const auto applied = [&](const char* text) {
    return after([&](Value& binding) {
      binding.edit("metadata").edit("annotations").set(kAppliedPlacementAnnotation, text);
      binding.edit("spec").edit("resource").set("resourceVersion", "9");
    });
  };
  EXPECT_EQ(applied("{"), "stands") << "what does not parse says nothing";
  EXPECT_EQ(applied(""), anew);
}

TEST(SchedulerTrigger, ChangedReplicasAreDetectedByTheStrategy_S_12) {
  History duplicated = history_of({2, kDuplicated, {{"a", 9}, {"b", 9}}, {{"a", 2}, {"b", 1}}});
  EXPECT_EQ(answer(duplicated), "a:2 b:2");
  History divided = history_of({6, kEqualWeights, {{"a", 9}, {"b", 9}}, {{"a", 5}, {"b", 1}}});
  EXPECT_EQ(answer(divided), "stands") << "the sum is right";
  divided.edit(kBinding, [](Value& binding) { binding.edit("spec").set("replicas", 7); });
  EXPECT_EQ(answer(divided), "a:4 b:3");
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

}  // namespace
}  // namespace shiplog::scheduler
