#include "services/runtime/metrics.h"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace shiplog::metrics {
namespace {

bool has(const std::string& line) { return ("\n" + text()).find("\n" + line + "\n") != std::string::npos; }

size_t lines_with(const std::string& part) {
  const std::string all = text();
  size_t lines = 0;
  for (size_t found = all.find(part); found != std::string::npos; found = all.find(part, found + 1)) ++lines;
  return lines;
}

TEST(Metrics, ACounterIsExportedWithHelpTypeAndLabels) {
  const CounterFamily family{"test_requests_total", "Requests.", {"verb", "code"}};
  family.with({"get", "200"}).add();
  family.with({"get", "200"}).add(2);
  family.with({"put", "409"}).add();
  EXPECT_TRUE(has("# HELP test_requests_total Requests."));
  EXPECT_TRUE(has("# TYPE test_requests_total counter"));
  EXPECT_TRUE(has(R"(test_requests_total{verb="get",code="200"} 3)"));
  EXPECT_TRUE(has(R"(test_requests_total{verb="put",code="409"} 1)"));
}

TEST(Metrics, AFamilyWithoutLabelsIsExportedBeforeItsFirstObservation) {
  const CounterFamily family{"test_nothing_total", "Nothing yet."};
  EXPECT_TRUE(has("test_nothing_total 0"));
}

TEST(Metrics, AHistogramCountsIntoCumulativeBuckets) {
  const HistogramFamily family{"test_seconds", "Seconds.", {"result"}, {0.5, 1}};
  const Histogram seconds = family.with({"success"});
  for (const double value : {0.25, 0.5, 0.75, 4.0}) seconds.observe(value);
  EXPECT_TRUE(has(R"(test_seconds_bucket{result="success",le="0.5"} 2)"));
  EXPECT_TRUE(has(R"(test_seconds_bucket{result="success",le="1"} 3)"));
  EXPECT_TRUE(has(R"(test_seconds_bucket{result="success",le="+Inf"} 4)"));
  EXPECT_TRUE(has(R"(test_seconds_sum{result="success"} 5.5)"));
  EXPECT_TRUE(has(R"(test_seconds_count{result="success"} 4)"));
}

TEST(Metrics, RemovedSeriesAreNotExportedAndTheirHandlesDoNoHarm) {
  const GaugeFamily ready{"test_ready", "Ready.", {"member_cluster"}};
  const CounterFamily calls{"test_calls_total", "Calls.", {"code", "member_cluster"}};
  const Gauge gone = ready.with({"m1"});
  ready.with({"m2"}).set(1);
  calls.with({"200", "m1"}).add();
  retain_series("member_cluster", [](std::string_view cluster) { return cluster != "m1"; });
  gone.set(1);
  EXPECT_FALSE(has(R"(test_ready{member_cluster="m1"} 1)"));
  EXPECT_TRUE(has(R"(test_ready{member_cluster="m2"} 1)"));
  EXPECT_EQ(lines_with("test_calls_total{"), 0U);
  calls.with({"200", "m1"}).add();
  EXPECT_TRUE(has(R"(test_calls_total{code="200",member_cluster="m1"} 1)")) << "it begins anew";
}

TEST(Metrics, ValuesThatATenantInventsDoNotMakeUnboundedSeries) {
  const CounterFamily family{"test_invented_total", "By kind.", {"kind", "result"}, 10};
  for (int i = 0; i < 1000; ++i) family.with({"Kind" + std::to_string(i), "success"}).add();
  EXPECT_EQ(lines_with("test_invented_total{"), 11U);
  EXPECT_TRUE(has(R"(test_invented_total{kind="other",result="other"} 990)"));
  EXPECT_TRUE(has(R"(test_invented_total{kind="Kind0",result="success"} 1)"));
}

TEST(Metrics, LongLabelValuesAreCut) {
  const CounterFamily family{"test_long_total", "By name.", {"name"}};
  family.with({std::string(1'000'000, 'x')}).add();
  EXPECT_TRUE(has("test_long_total{name=\"" + std::string(kMostLabelBytes, 'x') + "\"} 1"));
}

TEST(Metrics, LabelValuesAreEscaped) {
  const CounterFamily family{"test_escaped_total", "By name.", {"name"}};
  family.with({"a\"} 1\nforged_total{x=\"\\"}).add();
  EXPECT_EQ(lines_with("\nforged_total"), 0U);
}

TEST(Metrics, AHookCopiesValuesUntilItIsDestroyed) {
  const GaugeFamily family{"test_depth", "Depth."};
  double depth = 7;
  {
    const ScrapeHook hook{[&] { family.with({}).set(depth); }};
    EXPECT_TRUE(has("test_depth 7"));
  }
  depth = 8;
  EXPECT_TRUE(has("test_depth 7"));
}

TEST(Metrics, ATotalThatIsCountedElsewhereIsCopied) {
  const CounterFamily family{"test_copied_total", "Copied."};
  family.with({}).set_total(1.5);
  family.with({}).set_total(2.5);
  EXPECT_TRUE(has("test_copied_total 2.5"));
}

TEST(Metrics, ThreadsCountTogetherWhileTheTextIsMade) {
  const CounterFamily family{"test_shared_total", "Shared.", {"thread"}};
  const HistogramFamily seconds{"test_shared_seconds", "Shared."};
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        family.with({"all"}).add();
        seconds.with({}).observe(0.25);
      }
    });
  }
  for (int i = 0; i < 20; ++i) text();
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(has(R"(test_shared_total{thread="all"} 20000)"));
  EXPECT_TRUE(has("test_shared_seconds_sum 5000"));
}

TEST(Metrics, AHandleWithoutSeriesIgnoresWhatItIsGiven) {
  Counter{}.add();
  Gauge{}.set(1);
  Histogram{}.observe(1);
}

}  // namespace
}  // namespace shiplog::metrics
