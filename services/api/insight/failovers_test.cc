#include "services/api/insight/failovers.h"

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog::api {
namespace {

constexpr UtcMillis kStart{1767355200000};

/// Versions a second apart.
Value failovers(const std::vector<const char*>& specs, const std::vector<std::string>& ended = {}) {
  std::vector<PlacementVersion> versions;
  for (size_t i = 0; i < specs.size(); ++i) {
    const auto second = static_cast<int64_t>(i);
    versions.push_back({Revision{10 + i}, kStart + Millis{1000 * second}, parse_json(specs[i]).value(),
                        i < ended.size() ? ended[i] : ""});
  }
  return failovers_in(versions);
}

constexpr const char* kTwo = R"({"clusters": [{"name": "m1", "replicas": 3}, {"name": "m2", "replicas": 1}]})";

TEST(Failovers, ShowThePathOfEachReplica) {
  const Value all = failovers(
      {kTwo,
       R"({"clusters": [{"name": "m2", "replicas": 1}], "gracefulEvictionTasks": [{"fromCluster": "m1", "replicas": 3,
           "reason": "ApplicationFailure", "message": "unhealthy", "purgeMode": "Directly", "producer": "p",
           "creationTimestamp": "t1", "preservedLabelState": {"id": "a"}}]})",
       R"({"clusters": [{"name": "m2", "replicas": 2}, {"name": "m3", "replicas": 2}], "gracefulEvictionTasks": [
           {"fromCluster": "m1", "replicas": 3, "reason": "ApplicationFailure", "creationTimestamp": "t1"}]})",
       R"({"clusters": [{"name": "m2", "replicas": 2}, {"name": "m3", "replicas": 2}]})"},
      {"", "", "", "the remaining clusters are healthy"});
  ASSERT_EQ(all.size(), 1U);
  const Value& one = all[0];
  EXPECT_EQ(one["from"], Value{"m1"});
  EXPECT_EQ(one["replicas"], Value{3});
  EXPECT_EQ(one["reason"], Value{"ApplicationFailure"});
  EXPECT_EQ(one["message"], Value{"unhealthy"});
  EXPECT_EQ(one["purgeMode"], Value{"Directly"});
  EXPECT_EQ(one["preservedLabels"], parse_json(R"({"id": "a"})").value());
  EXPECT_EQ(one["revision"], Value{11});
  EXPECT_EQ(one["started"], Value{"2026-01-02T12:00:01.000Z"});
  EXPECT_EQ(to_json(one["to"]), R"([{"at":"2026-01-02T12:00:02.000Z","cluster":"m2","replicas":1},)"
                                R"({"at":"2026-01-02T12:00:02.000Z","cluster":"m3","replicas":2}])");
  EXPECT_EQ(one["unplaced"], Value{0});
  EXPECT_EQ(one["placed"], Value{"2026-01-02T12:00:02.000Z"});
  EXPECT_EQ(one["ended"], Value{"2026-01-02T12:00:03.000Z"});
  EXPECT_EQ(one["endedBecause"], Value{"the remaining clusters are healthy"});
  EXPECT_EQ(one["durationMillis"], Value{2000});
}

TEST(Failovers, OneThatHasNoPlaceIsUnderWay) {
  const Value all = failovers({kTwo, R"({"clusters": [{"name": "m2", "replicas": 1}],
      "gracefulEvictionTasks": [{"fromCluster": "m1", "reason": "TaintUntolerated", "creationTimestamp": "t1"}]})"});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["replicas"], Value{3}) << "what it had there, though the task does not name it";
  EXPECT_EQ(all[0]["unplaced"], Value{3});
  EXPECT_EQ(all[0]["to"].size(), 0U);
  EXPECT_TRUE(all[0]["ended"].is_null());
}

TEST(Failovers, TwoAtOnceAndASecondOneFromTheSameCluster) {
  const Value all = failovers(
      {R"({"clusters": [{"name": "m1", "replicas": 1}, {"name": "m2", "replicas": 2}]})",
       R"({"clusters": [], "gracefulEvictionTasks": [{"fromCluster": "m1", "creationTimestamp": "t1"},
           {"fromCluster": "m2", "creationTimestamp": "t1"}]})",
       R"({"clusters": [{"name": "m3", "replicas": 3}], "gracefulEvictionTasks": [{"fromCluster": "m1",
           "creationTimestamp": "t1"}, {"fromCluster": "m2", "creationTimestamp": "t1"}]})",
       R"({"clusters": [{"name": "m3", "replicas": 3}]})",
       R"({"clusters": [{"name": "m1", "replicas": 3}], "gracefulEvictionTasks": [{"fromCluster": "m3",
           "creationTimestamp": "t2"}]})",
       R"({"clusters": [{"name": "m1", "replicas": 3}]})",
       R"({"clusters": [], "gracefulEvictionTasks": [{"fromCluster": "m1", "creationTimestamp": "t3"}]})", "null"});
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0]["to"][0]["replicas"], Value{1});
  EXPECT_EQ(all[1]["to"][0]["replicas"], Value{2});
  EXPECT_EQ(all[2]["from"], Value{"m3"});
  EXPECT_EQ(all[2]["to"][0]["cluster"], Value{"m1"});
  EXPECT_EQ(all[3]["from"], Value{"m1"});
  EXPECT_EQ(all[3]["endedBecause"], Value{"the binding was removed"});
}

TEST(Failovers, GrowthWithoutAnEvictionIsNoFailover) {
  EXPECT_EQ(failovers({kTwo, R"({"clusters": [{"name": "m1", "replicas": 9}]})"}).size(), 0U);
}

}  // namespace
}  // namespace shiplog::api
