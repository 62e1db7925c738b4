#include "services/roles/collector/aggregation_pace.h"

#include <gtest/gtest.h>

#include "events/state/work.h"
#include "tests/support/given.h"

namespace shiplog::collector {
namespace {

const ObjectKey kWebBinding{type::kResourceBinding, "default", "web-deployment"};
const ObjectKey kMap{type::kResourceBinding, "default", "map-configmap"};

TEST(AggregationPace, ABurstIsReportedOnceMoreAtItsEnd) {
  const State state;
  AggregationPace pace;
  EXPECT_EQ(pace.wait(state, kWebBinding, UtcMillis{1'000}), std::nullopt) << "the first one at once";
  pace.reported(kWebBinding, UtcMillis{1'000});
  EXPECT_EQ(pace.wait(state, kWebBinding, UtcMillis{1'000}), UtcMillis{1'100});
  EXPECT_EQ(pace.wait(state, kWebBinding, UtcMillis{1'099}), UtcMillis{1'100});
  EXPECT_EQ(pace.wait(state, kMap, UtcMillis{1'050}), std::nullopt) << "another binding does not wait for it";
  EXPECT_EQ(pace.wait(state, kWebBinding, UtcMillis{1'100}), std::nullopt);
}

TEST(AggregationPace, TheLastReportCounts) {
  const State state;
  AggregationPace pace;
  pace.reported(kWebBinding, UtcMillis{1'000});
  pace.reported(kMap, UtcMillis{1'010});
  pace.reported(kWebBinding, UtcMillis{1'090});
  EXPECT_EQ(pace.wait(state, kWebBinding, UtcMillis{1'120}), UtcMillis{1'190});
  EXPECT_EQ(pace.wait(state, kMap, UtcMillis{1'120}), std::nullopt);
}

TEST(AggregationPace, AClockThatWasSetBackHoldsNothingUp) {
  const State state;
  AggregationPace pace;
  pace.reported(kWebBinding, UtcMillis{1'000'000});
  EXPECT_EQ(pace.wait(state, kWebBinding, UtcMillis{1'000}), std::nullopt);
}

TEST(AggregationPace, ForgetsWhatAnotherProcessReportsFromNowOn) {
  const State state;
  AggregationPace pace;
  pace.reported(kWebBinding, UtcMillis{1'000});
  pace.reported(kMap, UtcMillis{1'000});
  pace.forget([](const ObjectKey& key) { return key == kWebBinding; });
  EXPECT_EQ(pace.wait(state, kWebBinding, UtcMillis{1'001}), std::nullopt);
  EXPECT_EQ(pace.wait(state, kMap, UtcMillis{1'001}), UtcMillis{1'100});
}

/// A binding with Works on m1 and m2, which are ready. The Work on m1 has the status `first`, that on m2 `second`.
given::History history_with(const std::string& first, const std::string& second) {
  given::History history;
  history.object(kMap, R"({"apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding","metadata":{"labels":{
      "resourcebinding.karmada.io/permanent-id":"b"}},"spec":{"clusters":[{"name":"m1"},{"name":"m2"}]}})");
  const auto member = [&](const std::string& name, const std::string& status) {
    history.object({type::kCluster, "", name}, R"({"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster",
        "spec":{"syncMode":"Push"},"status":{"conditions":[{"type":"Ready","status":"True"}]}})");
    history.object({type::kNamespace, "", execution_space(name)}, R"({"apiVersion":"v1","kind":"Namespace"})");
    history.object({type::kWork, execution_space(name), "map"},
                   R"({"apiVersion":"work.karmada.io/v1alpha1","kind":"Work","metadata":{"labels":{
                   "resourcebinding.karmada.io/permanent-id":"b"}},"status":)" +
                       status + "}");
  };
  member("m1", first);
  member("m2", second);
  return history;
}

std::optional<UtcMillis> wait_with(const std::string& first, const std::string& second) {
  AggregationPace pace;
  return pace.wait(history_with(first, second).state(), kMap, UtcMillis{1'000});
}

TEST(AggregationPace, AClusterHasReportedOnceTheWorkIsAppliedAndItsStatusIsKnown) {
  const std::string reported = R"({"conditions":[{"type":"Applied","status":"True"}],"manifestStatuses":[{}]})";
  EXPECT_EQ(wait_with(reported, reported), std::nullopt);
  const std::string status_alone = R"({"manifestStatuses":[{}]})";
  const std::string applied_alone = R"({"conditions":[{"type":"Applied","status":"True"}]})";
  for (const std::string& half : {status_alone, applied_alone}) {
    EXPECT_EQ(wait_with(reported, half), UtcMillis{2'000}) << half;
    EXPECT_EQ(wait_with(half, half), UtcMillis{11'000}) << half;
  }
}

TEST(AggregationPace, ABindingIsAwaitedUntilItsClustersHaveReportedOrTookTooLong) {
  const std::string reported = R"({"conditions":[{"type":"Applied","status":"True"}],"manifestStatuses":[{}]})";
  const given::History part = history_with(reported, "{}");
  const given::History whole = history_with(reported, reported);
  AggregationPace pace;
  EXPECT_FALSE(pace.awaits(kMap));
  ASSERT_TRUE(pace.wait(part.state(), kMap, UtcMillis{1'000}));
  EXPECT_TRUE(pace.awaits(kMap));
  EXPECT_FALSE(pace.awaits(kWebBinding));
  EXPECT_EQ(pace.wait(whole.state(), kMap, UtcMillis{1'010}), std::nullopt);
  EXPECT_FALSE(pace.awaits(kMap));
  ASSERT_TRUE(pace.wait(part.state(), kMap, UtcMillis{2'000}));
  EXPECT_EQ(pace.wait(part.state(), kMap, UtcMillis{3'000}), std::nullopt);
  EXPECT_FALSE(pace.awaits(kMap)) << "what it reports from now on is aggregated as it comes";
  ASSERT_TRUE(pace.wait(part.state(), kMap, UtcMillis{4'000}));
  pace.forget([](const ObjectKey&) { return true; });
  EXPECT_FALSE(pace.awaits(kMap));
}

TEST(AggregationPace, WhatKeepsAWorkFromAMemberIsReportedAtOnce) {
  const std::string reported = R"({"conditions":[{"type":"Applied","status":"True"}],"manifestStatuses":[{}]})";
  for (const char* type : {"Applied", "Dispatching"}) {
    const std::string held = R"({"conditions":[{"type":")" + std::string{type} + R"(","status":"False"}]})";
    EXPECT_EQ(wait_with(held, reported), std::nullopt) << type;
  }
}

}  // namespace
}  // namespace shiplog::collector
