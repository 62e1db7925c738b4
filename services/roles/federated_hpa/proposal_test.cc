#include "services/roles/federated_hpa/proposal.h"

#include <gtest/gtest.h>

#include "tests/support/given.h"

namespace shiplog::federated_hpa {
namespace {

using given::json;

constexpr int64_t kCpu = 1000;  // one, in thousandths

/// One cluster, with one metric.
ClusterFigures cluster(const std::string& name, int64_t replicas, MetricSums sums) {
  const int64_t pods = sums.ready + sums.unready + sums.missing;
  return {.cluster = name,
          .replicas = replicas,
          .status_replicas = replicas,
          .pods = pods,
          .ready_pods = sums.ready,
          .metrics = {std::move(sums)},
          .failure = {}};
}

/// That many ready pods, each with this usage of a whole CPU that it requests.
MetricSums ready(int64_t pods, int64_t usage) {
  return {.ready = pods, .usage = pods * usage, .requested = pods * kCpu, .failure = {}};
}

const char* const kHalf =
    R"({"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}})";

int64_t replicas(const char* metric, const std::vector<ClusterFigures>& clusters, int64_t of_template) {
  const auto proposal = propose(json(metric), 0, clusters, {of_template});
  if (!proposal) ADD_FAILURE() << proposal.error().message;
  return proposal ? proposal.value().replicas : -1;
}

std::string failure(const char* metric, const std::vector<ClusterFigures>& clusters) {
  const auto proposal = propose(json(metric), 0, clusters, {2});
  return proposal ? "no failure" : proposal.error().message;
}

TEST(MetricProposals, ByPercentageOfRequestsOverAllClusters) {
  const auto both = propose(json(kHalf), 0, {cluster("m1", 2, ready(2, 800)), cluster("m2", 2, ready(2, 1000))}, {4});
  ASSERT_TRUE(both);
  EXPECT_EQ(both.value().replicas, 8) << "90 percent of 50: 4 * 1.8, rounded up";
  EXPECT_EQ(both.value().name, "cpu resource utilization (percentage of request)");
  EXPECT_EQ(both.value().status, json(R"({"type":"Resource","resource":{"name":"cpu","current":{
      "averageUtilization":90,"averageValue":"900m"}}})"));
  EXPECT_EQ(replicas(kHalf, {cluster("m1", 4, ready(4, 125))}, 4), 1);
}

TEST(MetricProposals, ATenthIsTolerated_5_8_6) {
  EXPECT_EQ(replicas(kHalf, {cluster("m1", 10, ready(10, 550))}, 10), 10);
  EXPECT_EQ(replicas(kHalf, {cluster("m1", 10, ready(10, 560))}, 10), 12);
  EXPECT_EQ(replicas(kHalf, {cluster("m1", 10, ready(10, 450))}, 10), 10);
  EXPECT_EQ(replicas(kHalf, {cluster("m1", 10, ready(10, 440))}, 10), 9);
  const auto exact = propose(json(kHalf), 0, {cluster("m1", 10, ready(10, 510))}, {10, 0, 0});
  EXPECT_EQ(exact.value().replicas, 11) << "a tolerance of its own";
}

TEST(MetricProposals, AreInTermsOfTheTemplate_5_8_4) {
  const std::vector<ClusterFigures> duplicated = {cluster("m1", 3, ready(3, 1000)), cluster("m2", 3, ready(3, 1000))};
  EXPECT_EQ(replicas(kHalf, duplicated, 3), 6) << "six in each of both clusters";
  EXPECT_EQ(replicas(kHalf, {cluster("m1", 5, ready(5, 1000))}, 10), 20)
      << "of a divided workload one cluster cannot be read";
}

TEST(MetricProposals, AClusterThatCouldNotBeReadIsLeftOut_5_8_2) {
  std::vector<ClusterFigures> clusters = {cluster("m1", 2, ready(2, 1000)), cluster("m2", 2, ready(2, 0))};
  clusters[1].failure = "connection refused";
  EXPECT_EQ(replicas(kHalf, clusters, 2), 4);
}

TEST(MetricProposals, UnknownPodsSpeakAgainstAChange) {
  MetricSums sums = ready(2, 900);
  sums.missing = 2;
  sums.missing_requested = 2 * kCpu;
  EXPECT_EQ(replicas(kHalf, {cluster("m1", 4, sums)}, 4), 4) << "idle, if they are: 45 of 50 percent, tolerated";
  sums = ready(2, 100);
  sums.missing = 2;
  sums.missing_requested = 2 * kCpu;
  EXPECT_EQ(replicas(kHalf, {cluster("m1", 4, sums)}, 4), 4) << "busy, if they are: 55 percent, tolerated";
  sums = ready(4, 100);
  sums.missing = 1;
  sums.missing_requested = kCpu;
  EXPECT_EQ(replicas(kHalf, {cluster("m1", 5, sums)}, 5), 3) << "28 percent with it, and not one";
  sums = ready(4, 900);
  sums.unready = 2;
  sums.unready_requested = 2 * kCpu;
  EXPECT_EQ(replicas(kHalf, {cluster("m1", 6, sums)}, 6), 8) << "60 percent with those that start";
  sums = ready(4, 200);
  sums.unready = 2;
  sums.unready_requested = 2 * kCpu;
  EXPECT_EQ(replicas(kHalf, {cluster("m1", 6, sums)}, 6), 2) << "on the way down they do not count";
}

TEST(MetricProposals, ByAverageValues) {
  const char* memory =
      R"({"type":"Resource","resource":{"name":"memory","target":{"type":"AverageValue","averageValue":"100Mi"}}})";
  const int64_t mi = int64_t{1024} * 1024 * 1000;
  const auto proposal =
      propose(json(memory), 0, {cluster("m1", 2, {.ready = 2, .usage = 500 * mi, .failure = {}})}, {2});
  ASSERT_TRUE(proposal);
  EXPECT_EQ(proposal.value().replicas, 5);
  EXPECT_EQ(proposal.value().name, "memory resource");
  EXPECT_EQ(proposal.value().status["resource"]["current"], json(R"({"averageValue":"262144k"})"));
  MetricSums idle{.ready = 1, .usage = 0, .missing = 1, .failure = {}};
  EXPECT_EQ(replicas(memory, {cluster("m1", 2, idle)}, 2), 1) << "the missing one is as busy as it should be";
  const char* queue =
      R"({"type":"Pods","pods":{"metric":{"name":"queue"},"target":{"type":"AverageValue","averageValue":"10"}}})";
  EXPECT_EQ(replicas(queue, {cluster("m1", 1, {.ready = 1, .usage = 35'000, .failure = {}})}, 1), 4);
}

TEST(MetricProposals, TargetsMayBeWrittenAsWholeNumbers) {
  const std::vector<ClusterFigures> clusters = {cluster("m1", 2, {.ready = 2, .usage = 120'000, .failure = {}})};
  for (const char* target : {"30", R"("30")"}) {
    const std::string pods = R"({"type":"Pods","pods":{"metric":{"name":"queue"},"target":{"type":"AverageValue",
        "averageValue":)" + std::string{target} +
                             "}}}";
    EXPECT_EQ(replicas(pods.c_str(), clusters, 2), 4) << target;
    const std::string cpu = R"({"type":"Resource","resource":{"name":"cpu","target":{"type":"AverageValue",
        "averageValue":)" + std::string{target} +
                            "}}}";
    EXPECT_EQ(replicas(cpu.c_str(), clusters, 2), 4) << target;
  }
  EXPECT_EQ(failure(R"({"type":"Pods","pods":{"metric":{"name":"queue"},"target":{"averageValue":-5}}})", clusters),
            "the target is not a positive quantity");
}

TEST(MetricProposals, AnObjectWhoseValueIsUnknownInAClusterCountsNeitherWayThere) {
  const char* average = R"({"type":"Object","object":{"describedObject":{"apiVersion":"v1","kind":"Service",
      "name":"web"},"metric":{"name":"queue"},"target":{"type":"AverageValue","averageValue":"10"}}})";
  const char* value = R"({"type":"Object","object":{"describedObject":{"apiVersion":"v1","kind":"Service",
      "name":"web"},"metric":{"name":"queue"},"target":{"type":"Value","value":"100"}}})";
  std::vector<ClusterFigures> clusters;
  for (const char* name : {"m1", "m2"}) {
    clusters.push_back(cluster(name, 10, {.ready = 1, .usage = 100'000, .failure = {}}));
    clusters.back().ready_pods = 10;
  }
  EXPECT_EQ(replicas(average, clusters, 20), 20);
  clusters[1].metrics = {{.failure = "HTTP status 503", .unknown = true}};
  EXPECT_EQ(replicas(average, clusters, 20), 20) << "ten for 100, in terms of the template";
  EXPECT_EQ(replicas(value, clusters, 20), 20);
  clusters[1].metrics = {{.failure = "not found"}};
  EXPECT_EQ(replicas(average, clusters, 20), 10) << "there is no such object in m2";
  clusters[0].metrics = clusters[1].metrics = {{.failure = "HTTP status 503", .unknown = true}};
  EXPECT_EQ(failure(average, clusters), "unable to get metric queue: cluster m1: HTTP status 503");
}

TEST(MetricProposals, ByObjects) {
  const char* value = R"({"type":"Object","object":{"describedObject":{"apiVersion":"v1","kind":"Service","name":"web"},
      "metric":{"name":"requests"},"target":{"type":"Value","value":"100"}}})";
  const char* average = R"({"type":"Object","object":{"describedObject":{"apiVersion":"v1","kind":"Service",
      "name":"web"},"metric":{"name":"requests"},"target":{"type":"AverageValue","averageValue":"100"}}})";
  std::vector<ClusterFigures> clusters;
  for (const char* name : {"m1", "m2"})
    clusters.push_back(cluster(name, 2, {.ready = 1, .usage = 200'000, .failure = {}}));
  for (ClusterFigures& each : clusters) each.ready_pods = 2;
  EXPECT_EQ(replicas(value, clusters, 4), 16) << "the values are added up: four times the target, for four pods";
  EXPECT_EQ(replicas(average, clusters, 4), 4) << "100 for each of four";
  for (ClusterFigures& each : clusters) each.metrics[0].usage = 300'000;
  EXPECT_EQ(replicas(average, clusters, 4), 6);
  EXPECT_EQ(replicas(average, clusters, 2), 3) << "in terms of the template, divided once";
  EXPECT_EQ(propose(json(value), 0, clusters, {4}).value().name, "Service metric requests");
}

TEST(MetricProposals, SayWhyThereIsNone) {
  EXPECT_EQ(failure(kHalf, {cluster("m1", 2, {.failure = "no such API"})}),
            "failed to get cpu utilization: unable to get metrics for resource cpu: cluster m1: no such API");
  EXPECT_EQ(failure(R"({"type":"Resource","resource":{"name":"cpu","target":{"averageValue":"1"}}})",
                    {cluster("m1", 2, {.failure = "no such API"})}),
            "failed to get cpu usage: unable to get metrics for resource cpu: cluster m1: no such API");
  EXPECT_EQ(failure(kHalf, {cluster("m1", 2, {.failure = {}})}),
            "failed to get cpu utilization: no pods returned by selector while calculating replica count");
  EXPECT_EQ(failure(kHalf, {cluster("m1", 2, {.unready = 2, .failure = {}})}),
            "failed to get cpu utilization: did not receive metrics for any ready pods");
  EXPECT_EQ(failure(R"({"type":"External","external":{}})", {}), "unknown metric source type \"External\"");
}

TEST(MetricProposals, NumbersOfAMemberThatLiesOverflowNothing) {
  MetricSums huge{
      .ready = 1, .usage = kMostMilli, .requested = 1, .missing = 5000, .missing_requested = kMostMilli, .failure = {}};
  std::vector<ClusterFigures> clusters;
  for (int i = 0; i < 1000; ++i) clusters.push_back(cluster("m" + std::to_string(i), INT32_MAX, huge));
  for (const int64_t of_template : {int64_t{1}, int64_t{INT32_MAX}}) {
    const int64_t wanted = replicas(kHalf, clusters, of_template);
    EXPECT_GE(wanted, 0);
    EXPECT_LE(wanted, INT32_MAX);
  }
}

}  // namespace
}  // namespace shiplog::federated_hpa
