// When a binding is placed anew.
#include <gtest/gtest.h>

#include "services/scheduler/decide_test_support.h"

namespace shiplog::scheduler {
namespace {

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

}  // namespace
}  // namespace shiplog::scheduler
