#include "services/roles/federated_hpa/status_difference.h"

#include <gtest/gtest.h>

#include "tests/support/given.h"

namespace shiplog::federated_hpa {
namespace {

using given::json;

constexpr Millis kHour{3'600'000};

Value with_utilization(int64_t percent, const std::string& average_value) {
  return Value::object(
      {{"currentMetrics",
        Value::array({Value::object(
            {{"type", "Resource"},
             {"resource", Value::object({{"name", "cpu"},
                                         {"current", Value::object({{"averageUtilization", percent},
                                                                    {"averageValue", average_value}})}})}})})}});
}

TEST(StatusDifference, AveragesHaveToMoveByATenthAndATwentiethOfTheTarget) {
  const std::vector<Value> targets = {json(R"({"type":"Utilization","averageUtilization":80})")};
  const auto worth = [&](int64_t was, int64_t is, Millis since) {
    return worth_writing(with_utilization(was, "1m"), with_utilization(is, "2m"), targets, since);
  };
  EXPECT_FALSE(worth(1, 2, kHour)) << "an idle pod";
  EXPECT_FALSE(worth(70, 75, kHour));
  EXPECT_TRUE(worth(70, 80, kHour));
  EXPECT_TRUE(worth(1, 20, kHour));
  EXPECT_FALSE(worth(70, 80, Millis{kDetailsEvery.value - 1}));
}

TEST(StatusDifference, LimitsAreWrittenEveryMinuteAndTextsWithTheAverages) {
  const auto limited = [](const std::string& reason, const std::string& message) {
    return json(R"({"conditions":[{"type":"ScalingLimited","status":"True","reason":")" + reason + R"(","message":")" +
                message + R"("}]})");
  };
  const auto worth = [&](const Value& is, Millis since) { return worth_writing(limited("A", "a"), is, {}, since); };
  EXPECT_FALSE(worth(limited("A", "a"), kHour));
  EXPECT_TRUE(worth(limited("B", "a"), kLimitsEvery));
  EXPECT_FALSE(worth(limited("B", "a"), Millis{kLimitsEvery.value - 1}));
  EXPECT_FALSE(worth(limited("A", "b"), kLimitsEvery));
  EXPECT_TRUE(worth(limited("A", "b"), kDetailsEvery));
}

TEST(StatusDifference, ObstaclesAndReplicasAreWrittenAtOnce) {
  const Value before = json(R"({"currentReplicas":2,"conditions":[{"type":"ScalingActive","status":"True"}]})");
  EXPECT_FALSE(worth_writing(before, before, {}, Millis{0}));
  EXPECT_TRUE(worth_writing(
      before, json(R"({"currentReplicas":3,"conditions":[{"type":"ScalingActive","status":"True"}]})"), {}, Millis{0}));
  EXPECT_TRUE(worth_writing(
      before, json(R"({"currentReplicas":2,"conditions":[{"type":"ScalingActive","status":"False","reason":"X"}]})"),
      {}, Millis{0}));
}

}  // namespace
}  // namespace shiplog::federated_hpa
