#include "services/roles/federated_hpa/pod_sums.h"

#include <gtest/gtest.h>

#include "services/roles/federated_hpa/metric_source.h"
#include "tests/support/given.h"

namespace shiplog::federated_hpa {
namespace {

using given::History;
using given::json;

UtcMillis at(const std::string& time) { return parse_rfc3339("2026-01-02T" + time + "Z").value(); }

const char* const kCpuMetric =
    R"({"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}})";

Value metrics() { return Value::array({json(kCpuMetric)}); }

/// A pod that is ready since 10:00, with two containers of half a CPU.
Value pod(const std::string& name, const std::string& status = R"({"phase":"Running","startTime":"2026-01-02T09:00:00Z",
    "conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-02T10:00:00Z"}]})") {
  Value pod = json(R"({"spec":{"containers":[
      {"name":"a","resources":{"requests":{"cpu":"500m"}}},{"name":"b","resources":{"requests":{"cpu":"0.5"}}}]}})");
  pod.edit("metadata").set("name", name);
  pod.set("status", json(status));
  return pod;
}

Value used(const std::string& pods, const std::string& timestamp = "11:00:00") {
  Value list = Value::object({{"items", Value::array()}});
  for (const char name : pods) {
    list.edit("items").push_back(Value::object(
        {{"metadata", Value::object({{"name", std::string{name}}})},
         {"timestamp", "2026-01-02T" + timestamp + "Z"},
         {"window", "15s"},
         {"containers", json(R"([{"name":"a","usage":{"cpu":"300m"}},{"name":"b","usage":{"cpu":"100000000n"}}])")}}));
  }
  return list;
}

/// "READY/USAGE/REQUESTED UNREADY MISSING" of these pods.
std::string sums(const std::vector<Value>& pods, const Value& usage, const std::string& now) {
  std::vector<MeasuredPod> measured;
  for (const Value& each : pods) measured.push_back(measured_pod(each, metrics()));
  const MetricSums all = sums_of(measured, 0, metrics()[0]["resource"], resource_usage(usage, "cpu", ""), at(now));
  if (!all.failure.empty()) return all.failure;
  return std::to_string(all.ready) + "/" + std::to_string(all.usage) + "/" + std::to_string(all.requested) + " " +
         std::to_string(all.unready) + " " + std::to_string(all.missing);
}

TEST(PodSums, AddUpReadyPods) {
  EXPECT_EQ(sums({pod("a"), pod("b")}, used("ab"), "12:00:00"), "2/800/2000 0 0");
  EXPECT_EQ(sums({pod("a"), pod("b")}, used("a"), "12:00:00"), "1/400/1000 0 1");
  EXPECT_EQ(sums({pod("a")}, used("ab"), "12:00:00"), "1/400/1000 0 0") << "of other pods nothing counts";
}

TEST(PodSums, PodsThatEndOrHaveNotStartedDoNotCountAsReady) {
  Value ending = pod("b");
  ending.edit("metadata").set("deletionTimestamp", "2026-01-02T11:00:00Z");
  EXPECT_EQ(sums({pod("a"), ending, pod("c", R"({"phase":"Failed"})"), pod("d", R"({"phase":"Pending"})")},
                 used("abcd"), "12:00:00"),
            "1/400/1000 1 0");
}

TEST(PodSums, CpuOfAStartDoesNotCount) {
  const std::string fresh = R"({"phase":"Running","startTime":"2026-01-02T10:59:00Z",
      "conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-02T10:59:50Z"}]})";
  EXPECT_EQ(sums({pod("a", fresh)}, used("a", "11:00:00"), "11:00:00"), "0/0/0 1 0") << "not ready for a whole window";
  EXPECT_EQ(sums({pod("a", fresh)}, used("a", "11:00:05"), "11:00:10"), "1/400/1000 0 0");
  const std::string never = R"({"phase":"Running","startTime":"2026-01-02T10:00:00Z",
      "conditions":[{"type":"Ready","status":"False","lastTransitionTime":"2026-01-02T10:00:20Z"}]})";
  EXPECT_EQ(sums({pod("a", never)}, used("a"), "12:00:00"), "0/0/0 1 0");
  const std::string later = R"({"phase":"Running","startTime":"2026-01-02T10:00:00Z",
      "conditions":[{"type":"Ready","status":"False","lastTransitionTime":"2026-01-02T10:30:00Z"}]})";
  EXPECT_EQ(sums({pod("a", later)}, used("a"), "12:00:00"), "1/400/1000 0 0") << "it was ready before";
  EXPECT_EQ(sums({pod("a", R"({"phase":"Running"})")}, used("a"), "12:00:00"), "0/0/0 1 0");
}

TEST(PodSums, AContainerWithoutARequestIsNamed) {
  Value lacking = pod("a");
  lacking.edit("spec").edit("containers").edit_items()[1].erase("resources");
  EXPECT_EQ(sums({lacking}, used("a"), "12:00:00"), "missing request for cpu in a container of Pod a");
}

TEST(PodSums, ANameThatIsNoneIsCutAndCleaned) {
  Value lacking = pod("a");
  lacking.edit("spec").edit("containers").edit_items()[1].erase("resources");
  lacking.edit("metadata").set("name", "a\x1b[2J" + std::string(900'000, 'x'));
  const std::string failure = sums({lacking}, used("a"), "12:00:00");
  EXPECT_LT(failure.size(), 320U);
  EXPECT_EQ(failure.find('\x1b'), std::string::npos);
}

TEST(PodSums, OneContainer) {
  const Value usage = used("a");
  EXPECT_EQ(resource_usage(usage, "cpu", "b").at("a").usage, 100);
  EXPECT_TRUE(resource_usage(usage, "cpu", "c").empty());
  EXPECT_TRUE(resource_usage(usage, "memory", "").empty());
}

TEST(PodSums, NonsenseOfAMemberIsNoUsage) {
  for (const char* list :
       {R"({"items":"x"})", R"({"items":[1,null,{"containers":[{"usage":{"cpu":"-5"}}]}]})",
        R"({"items":[{"metadata":{"name":"a"},"containers":[{"name":"a","usage":{"cpu":"1e99"}}]}]})"}) {
    for (const auto& [name, usage] : resource_usage(json(list), "cpu", "")) {
      EXPECT_GE(usage.usage, 0);
      EXPECT_LE(usage.usage, kMostMilli);
    }
  }
  EXPECT_EQ(measured_pod(json(R"({"status":{"startTime":7,"conditions":"x"},"spec":[]})"), metrics()).requests,
            std::vector<int64_t>{-1});
}

TEST(MetricSources, ArePathsWithinTheNamespace) {
  const History history;
  const Value all = json(R"([
      {"type":"Pods","pods":{"metric":{"name":"a/../b?x","selector":{"matchLabels":{"k":"v"}}}}},
      {"type":"Object","object":{"describedObject":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},
                                 "metric":{"name":"hits"}}},
      {"type":"Object","object":{"describedObject":{"apiVersion":"v1","kind":"Namespace","name":"default"},
                                 "metric":{"name":"hits"}}}])");
  const auto sources = metric_sources(history.state(), "default", all);
  EXPECT_EQ(sources[0].path, "/namespaces/default/pods/*/a%2F..%2Fb%3Fx?metricLabelSelector=k%3Dv");
  EXPECT_EQ(sources[1].path, "/namespaces/default/deployments.apps/web/hits");
  EXPECT_EQ(sources[2].path, "/namespaces/default/metrics/hits");
}

TEST(MetricSources, NothingOutsideOfTheNamespaceIsRead) {
  const History history;
  for (const char* named :
       {R"({"apiVersion":"v1","kind":"Namespace","name":"other"})", R"({"apiVersion":"v1","kind":"Node","name":"n1"})",
        R"({"apiVersion":"example.org/v1","kind":"Unknown","name":"x"})"}) {
    const auto sources =
        metric_sources(history.state(), "default",
                       json(std::string{R"([{"type":"Object","object":{"metric":{"name":"hits"},"describedObject":)"} +
                            named + "}}]"));
    EXPECT_EQ(sources[0].place, MetricSource::MetricPlace::kNowhere);
    EXPECT_FALSE(sources[0].failure.empty());
  }
}

TEST(MetricSources, SelectorsAsParameters) {
  EXPECT_EQ(selector_parameter(json(R"({"matchLabels":{"app":"web"},"matchExpressions":[
      {"key":"tier","operator":"In","values":["a","b"]},{"key":"zone","operator":"NotIn","values":["c"]},
      {"key":"new","operator":"Exists"},{"key":"old","operator":"DoesNotExist"}]})")),
            "app=web,tier in (a,b),zone notin (c),new,!old");
}

}  // namespace
}  // namespace shiplog::federated_hpa
