#include "services/roles/collector/aggregation_pace.h"

#include <gtest/gtest.h>

namespace shiplog::collector {
namespace {

const ObjectKey kWeb{type::kResourceBinding, "default", "web-deployment"};
const ObjectKey kMap{type::kResourceBinding, "default", "map-configmap"};

TEST(AggregationPace, ABurstIsReportedOnceMoreAtItsEnd) {
  const State state;
  AggregationPace pace;
  EXPECT_EQ(pace.wait(state, kWeb, UtcMillis{1'000}), std::nullopt) << "the first one at once";
  pace.reported(kWeb, UtcMillis{1'000});
  EXPECT_EQ(pace.wait(state, kWeb, UtcMillis{1'000}), UtcMillis{1'100});
  EXPECT_EQ(pace.wait(state, kWeb, UtcMillis{1'099}), UtcMillis{1'100});
  EXPECT_EQ(pace.wait(state, kMap, UtcMillis{1'050}), std::nullopt) << "another binding does not wait for it";
  EXPECT_EQ(pace.wait(state, kWeb, UtcMillis{1'100}), std::nullopt);
}

TEST(AggregationPace, TheLastReportCounts) {
  const State state;
  AggregationPace pace;
  pace.reported(kWeb, UtcMillis{1'000});
  pace.reported(kMap, UtcMillis{1'010});
  pace.reported(kWeb, UtcMillis{1'090});
  EXPECT_EQ(pace.wait(state, kWeb, UtcMillis{1'120}), UtcMillis{1'190});
  EXPECT_EQ(pace.wait(state, kMap, UtcMillis{1'120}), std::nullopt);
}

TEST(AggregationPace, AClockThatWasSetBackHoldsNothingUp) {
  const State state;
  AggregationPace pace;
  pace.reported(kWeb, UtcMillis{1'000'000});
  EXPECT_EQ(pace.wait(state, kWeb, UtcMillis{1'000}), std::nullopt);
}

TEST(AggregationPace, ForgetsWhatAnotherProcessReportsFromNowOn) {
  const State state;
  AggregationPace pace;
  pace.reported(kWeb, UtcMillis{1'000});
  pace.reported(kMap, UtcMillis{1'000});
  pace.forget([](const ObjectKey& key) { return key == kWeb; });
  EXPECT_EQ(pace.wait(state, kWeb, UtcMillis{1'001}), std::nullopt);
  EXPECT_EQ(pace.wait(state, kMap, UtcMillis{1'001}), UtcMillis{1'100});
}

}  // namespace
}  // namespace shiplog::collector
