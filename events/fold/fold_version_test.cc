#include <gtest/gtest.h>

#include "tests/support/fold_history.h"
#include "tests/support/literals.h"

// What an entry means depends on the fold version that is active.
namespace shiplog {
namespace {

using namespace testing;
using test::json;

const ObjectKey kWeb{"deployments.apps", "default", "web"};
const ObjectKey kPod{"pods", "default", "web-1"};

int64_t generation_after(FoldHistory& history, const ObjectKey& key, const char* text, bool status = false) {
  EXPECT_FALSE(history.put({status ? Event{StatusUpdated{key, json(text)}} : ObjectUpdated{key, json(text)}}).refusal);
  return history.state.value_of(key)["metadata"]["generation"].as_int();
}

TEST(Fold, UidsAreOfVersion4FromFoldVersion2On) {  // META-1
  FoldHistory history = FoldHistory::with_namespace();
  history.put({FoldVersionActivated{2}});
  const Entry entry = history.entry({ObjectCreated{kConfig, json(R"({"metadata":{"name":"settings"}})")}});
  fold(history.state, entry);
  std::string expected = uid_from(entry.id, 0);
  EXPECT_EQ(expected[14], '8');
  expected[14] = '4';
  EXPECT_EQ(history.state.value_of(kConfig)["metadata"]["uid"].str(), expected);
}

TEST(Fold, GenerationOfADeploymentCountsAnnotationsFromVersion2On) {  // META-6
  FoldHistory history = FoldHistory::with_namespace();
  history.put({ObjectCreated{kWeb, json(R"({"metadata":{"name":"web","generation":1},"spec":{"replicas":1}})")}});
  EXPECT_EQ(generation_after(history, kWeb, R"({"metadata":{"annotations":{"a":"1"}},"spec":{"replicas":1}})"), 1);
  // The entry that activates a version is still folded in the old one.
  history.put({FoldVersionActivated{2},
               ObjectUpdated{kWeb, json(R"({"metadata":{"annotations":{"a":"2"}},"spec":{"replicas":1}})")}});
  EXPECT_EQ(history.state.value_of(kWeb)["metadata"]["generation"].as_int(), 1);
  EXPECT_EQ(generation_after(history, kWeb, R"({"metadata":{"annotations":{"a":"3"}},"spec":{"replicas":1}})"), 2);
  EXPECT_EQ(generation_after(history, kWeb, R"({"metadata":{"annotations":{"a":"4"}},"spec":{"replicas":1}})", true), 2)
      << "a write of the status never counts";
  EXPECT_EQ(generation_after(history, kWeb, R"({"metadata":{"labels":{"l":"1"}},"spec":{"replicas":1}})"), 3)
      << "taken away";
  EXPECT_EQ(generation_after(history, kWeb, R"({"metadata":{"annotations":{}},"spec":{"replicas":1}})"), 3)
      << "none are none";
  const ObjectKey set{"statefulsets.apps", "default", "db"};
  history.put({ObjectCreated{set, json(R"({"metadata":{"name":"db","generation":1},"spec":{"replicas":1}})")}});
  EXPECT_EQ(generation_after(history, set, R"({"metadata":{"annotations":{"a":"1"}},"spec":{"replicas":1}})"), 1);
}

TEST(Fold, GenerationCountsAStatusThatIsNoSubresourceFromVersion2On) {  // META-6
  FoldHistory history = FoldHistory::with_namespace();
  for (const bool subresource : {false, true}) {
    const std::string plural = subresource ? "gears" : "cogs";
    Value version = json(R"({"name":"v1","storage":true})");
    if (subresource) version.set("subresources", json(R"({"status":{}})"));
    history.put({ObjectCreated{{type::kCustomResourceDefinition, "", plural + ".example.com"},
                               Value::object({{"metadata", Value::object({{"name", plural + ".example.com"}})},
                                              {"spec", Value::object({{"versions", Value::array({version})}})}})}});
    history.put({ObjectCreated{{plural + ".example.com", "default", "a"},
                               json(R"({"metadata":{"name":"a","generation":1},"status":{"n":1}})")}});
  }
  const ObjectKey cog{"cogs.example.com", "default", "a"};
  const ObjectKey gear{"gears.example.com", "default", "a"};
  EXPECT_EQ(generation_after(history, cog, R"({"metadata":{},"status":{"n":2}})"), 1);
  history.put({FoldVersionActivated{2}});
  EXPECT_EQ(generation_after(history, cog, R"({"metadata":{},"status":{"n":3}})"), 2);
  EXPECT_EQ(generation_after(history, gear, R"({"metadata":{},"status":{"n":3}})"), 1);
}

TEST(Fold, RequestsToMembersAreRecordedFromVersion8OnAndChangeNothing) {
  FoldHistory history = FoldHistory::with_namespace();
  const MemberRequested request{{type::kCluster, "", "m1"}, "POST", "/api/v1/namespaces", 201};
  history.put({FoldVersionActivated{kMemberRequestsFoldVersion - 1}});
  const Folded early = history.put({request});
  ASSERT_TRUE(early.refusal);
  EXPECT_EQ(early.refusal->reason, "requests to members are recorded from fold version 8 on");
  history.put({FoldVersionActivated{kMemberRequestsFoldVersion}});
  const Revision before = history.state.revision();
  const Hash128 hash = history.state.hash();
  const Folded recorded = history.put({request});
  EXPECT_FALSE(recorded.refusal);
  EXPECT_TRUE(recorded.changes.empty());
  EXPECT_EQ(history.state.revision(), before);
  EXPECT_EQ(history.state.hash(), hash);
}

TEST(Fold, WhatIsObservedOfAClusterMayBeAPatchFromVersion9On) {
  FoldHistory history = FoldHistory::with_namespace();
  const ObjectKey cluster{type::kCluster, "", "m1"};
  const auto status = [&]() -> const Value& { return history.state.value_of(cluster)["status"]; };
  history.put({FoldVersionActivated{kClusterPatchFoldVersion - 1},
               ObjectCreated{cluster, json(R"({"metadata":{"name":"m1"},"spec":{"syncMode":"Push"}})")}});
  history.put({ClusterObserved{cluster, json(R"({"apiEnablements":[{"groupVersion":"v1"}],"kubernetesVersion":"v1.33.0",
                                                 "nodeSummary":{"readyNum":2,"totalNum":3}})")},
               ClusterConditionChanged{cluster, "Ready", "True", "ClusterReady", "it answers"}});
  const Value before = status();
  ASSERT_EQ(before["conditions"].size(), 1U);

  const ClusterObserved patch{
      cluster, json(R"({"conditions":null,"kubernetesVersion":null,"nodeSummary":{"readyNum":3}})"), true};
  const Folded early = history.put({patch});
  ASSERT_TRUE(early.refusal);
  EXPECT_EQ(early.refusal->reason, "patches of a Cluster's status are folded from fold version 9 on");
  EXPECT_EQ(status(), before);

  history.put({FoldVersionActivated{kClusterPatchFoldVersion}});
  ASSERT_FALSE(history.put({patch}).refusal);
  EXPECT_EQ(status()["nodeSummary"], json(R"({"readyNum":3,"totalNum":3})"));
  EXPECT_EQ(status()["apiEnablements"], before["apiEnablements"]);
  EXPECT_FALSE(status().contains("kubernetesVersion"));
  EXPECT_EQ(status()["conditions"], before["conditions"]) << "they have an event of their own";

  const ObjectKey gone{type::kCluster, "", "m2"};
  EXPECT_TRUE(history.put({ClusterObserved{gone, json("{}"), true}}).refusal) << "there is no such cluster";
}

Folded remove_pod(FoldHistory& history, int64_t grace) {
  return history.put({DeletionRequested{.object = kPod, .grace_seconds = grace}});
}
FoldHistory with_pod(const char* pod, uint32_t version) {
  FoldHistory history = FoldHistory::with_namespace();
  if (version > 1) history.put({FoldVersionActivated{version}});
  history.put({ObjectCreated{kPod, json(pod)}});
  return history;
}
constexpr const char* kBound = R"({"metadata":{"name":"web-1"},"spec":{"nodeName":"n1"}})";

TEST(Fold, PodOnANodeIsGivenItsTimeFromVersion2On) {  // DEL-9
  FoldHistory old = with_pod(kBound, 1);
  EXPECT_TRUE(remove_pod(old, 30).changes.front().removed());

  FoldHistory history = with_pod(kBound, 2);
  EXPECT_FALSE(remove_pod(history, 30).changes.front().removed());
  const Value metadata = history.state.value_of(kPod)["metadata"];
  EXPECT_EQ(metadata["deletionGracePeriodSeconds"].as_int(), 30);
  EXPECT_EQ(metadata["deletionTimestamp"].str(), rfc3339(history.now + Millis{30'000}));
  // An update changes nothing of that, and does not end it.
  history.put({ObjectUpdated{
      kPod, json(R"({"metadata":{"name":"web-1","deletionGracePeriodSeconds":0},"spec":{"nodeName":"n1"}})")}});
  EXPECT_EQ(history.state.value_of(kPod)["metadata"]["deletionGracePeriodSeconds"].as_int(), 30);
  EXPECT_TRUE(remove_pod(history, 60).changes.empty()) << "never longer";
  EXPECT_EQ(history.state.value_of(kPod)["metadata"]["deletionTimestamp"], metadata["deletionTimestamp"]);
}

TEST(Fold, GraceOfAPodIsShortenedUntilItIsRemoved) {  // DEL-5, DEL-9
  FoldHistory history = with_pod(kBound, 2);
  remove_pod(history, 30);
  const UtcMillis until = history.now + Millis{30'000};
  remove_pod(history, 10);
  const Value& metadata = history.state.value_of(kPod)["metadata"];
  EXPECT_EQ(metadata["deletionGracePeriodSeconds"].as_int(), 10);
  EXPECT_EQ(metadata["deletionTimestamp"].str(), rfc3339(until + Millis{-20'000}));
  EXPECT_TRUE(remove_pod(history, 0).changes.front().removed());
}

TEST(Fold, UnscheduledPodIsRemovedAtOnce) {  // DEL-9
  for (const char* pod : {R"({"metadata":{"name":"web-1"},"spec":{}})",
                          R"({"metadata":{"name":"web-1"},"spec":{"nodeName":"n1"},"status":{"phase":"Failed"}})",
                          R"({"metadata":{"name":"web-1"},"spec":{"nodeName":"n1"},"status":{"phase":"Succeeded"}})"}) {
    FoldHistory history = with_pod(pod, 2);
    EXPECT_TRUE(remove_pod(history, 30).changes.front().removed()) << pod;
  }
  // What else there is has no such time.
  FoldHistory history = FoldHistory::with_namespace();
  history.put({FoldVersionActivated{2}});
  history.create_config();
  EXPECT_TRUE(history.put({DeletionRequested{.object = kConfig, .grace_seconds = 30}}).changes.front().removed());
}

}  // namespace
}  // namespace shiplog
