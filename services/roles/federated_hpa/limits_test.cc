#include "services/roles/federated_hpa/limits.h"

#include <gtest/gtest.h>

#include "tests/support/given.h"

namespace shiplog::federated_hpa {
namespace {

using given::json;
using given::kNoon;

UtcMillis ago(int64_t seconds) { return {kNoon.value - seconds * 1000}; }

const char* const kPlain = R"({"minReplicas":2,"maxReplicas":100})";

/// "REPLICAS ABLE LIMITED".
std::string limits(const std::string& spec, int64_t current, int64_t recommended, const RecentScaling& recent = {}) {
  const LimitedReplicas result = limited(json(spec), current, recommended, recent, kNoon);
  return std::to_string(result.replicas) + " " + result.able_reason + " " + (result.limited ? "" : "-") +
         result.limited_reason;
}

TEST(ScalingLimits, WithoutBehaviorUpToTwiceOrFour_5_8_6) {
  EXPECT_EQ(limits(kPlain, 10, 15), "15 ReadyForNewScale -DesiredWithinRange");
  EXPECT_EQ(limits(kPlain, 10, 90), "20 ReadyForNewScale ScaleUpLimit");
  EXPECT_EQ(limits(kPlain, 1, 90), "4 ReadyForNewScale ScaleUpLimit");
  EXPECT_EQ(limits(kPlain, 60, 150), "100 ReadyForNewScale TooManyReplicas");
  EXPECT_EQ(limits(kPlain, 4, 1), "2 ReadyForNewScale TooFewReplicas");
}

TEST(ScalingLimits, WithoutBehaviorDownToTheHighestOfFiveMinutes_5_8_6) {
  EXPECT_EQ(limits(kPlain, 10, 5, {.recommended = {{ago(299), 8}, {ago(60), 7}}, .added = {}, .removed = {}}),
            "8 ScaleDownStabilized -DesiredWithinRange");
  EXPECT_EQ(limits(kPlain, 10, 5, {.recommended = {{ago(301), 8}, {ago(60), 4}}, .added = {}, .removed = {}}),
            "5 ReadyForNewScale -DesiredWithinRange");
}

TEST(ScalingLimits, WindowsOfBothDirections) {
  const std::string spec = R"({"maxReplicas":100,"behavior":{
      "scaleUp":{"stabilizationWindowSeconds":60,"selectPolicy":"Max","policies":[{"type":"Pods","value":50,"periodSeconds":15}]},
      "scaleDown":{"stabilizationWindowSeconds":120,"selectPolicy":"Max","policies":[{"type":"Percent","value":100,"periodSeconds":15}]}}})";
  const RecentScaling recent{.recommended = {{ago(90), 12}, {ago(30), 11}}, .added = {}, .removed = {}};
  EXPECT_EQ(limits(spec, 10, 20, recent), "11 ScaleUpStabilized -DesiredWithinRange");
  EXPECT_EQ(limits(spec, 15, 3, recent), "12 ScaleDownStabilized -DesiredWithinRange");
  EXPECT_EQ(limits(spec, 10, 3, recent), "10 ScaleDownStabilized -DesiredWithinRange")
      << "it is not scaled up for that";
}

TEST(ScalingLimits, PoliciesCountWhatWasDoneInTheirPeriod) {
  const auto spec = [](const std::string& select) {
    return R"({"maxReplicas":100,"behavior":{"scaleUp":{"selectPolicy":")" + select +
           R"(","policies":[{"type":"Pods","value":4,"periodSeconds":60},{"type":"Percent","value":100,"periodSeconds":60}]},
      "scaleDown":{"stabilizationWindowSeconds":0,"selectPolicy":")" +
           select +
           R"(","policies":[{"type":"Pods","value":4,"periodSeconds":60},{"type":"Percent","value":10,"periodSeconds":60}]}}})";
  };
  const RecentScaling recent{.recommended = {}, .added = {{ago(30), 3}, {ago(90), 50}}, .removed = {}};
  EXPECT_EQ(limits(spec("Max"), 10, 90), "20 ReadyForNewScale ScaleUpLimit");
  EXPECT_EQ(limits(spec("Min"), 10, 90), "14 ReadyForNewScale ScaleUpLimit");
  EXPECT_EQ(limits(spec("Disabled"), 10, 90), "10 ReadyForNewScale ScaleUpLimit");
  EXPECT_EQ(limits(spec("Min"), 10, 90, recent), "11 ReadyForNewScale ScaleUpLimit") << "seven, a minute ago";
  EXPECT_EQ(limits(spec("Max"), 10, 1), "6 ReadyForNewScale ScaleDownLimit");
  EXPECT_EQ(limits(spec("Min"), 10, 1), "9 ReadyForNewScale ScaleDownLimit");
  EXPECT_EQ(limits(spec("Disabled"), 10, 1), "10 ReadyForNewScale ScaleDownLimit");
  EXPECT_EQ(limits(spec("Max"), 10, 1, {.recommended = {}, .added = {}, .removed = {{ago(30), 4}}}),
            "10 ReadyForNewScale ScaleDownLimit")
      << "four were removed";
  EXPECT_EQ(limits(spec("Max"), 3, 200), "7 ReadyForNewScale ScaleUpLimit");
}

TEST(ScalingLimits, OfAnHourOfRecommendationsThoseAreKeptThatCanStillCount) {
  const std::string spec = R"({"maxReplicas":100,"behavior":{
      "scaleUp":{"stabilizationWindowSeconds":60,"policies":[{"type":"Pods","value":4,"periodSeconds":90}]},
      "scaleDown":{"stabilizationWindowSeconds":120,"policies":[{"type":"Pods","value":4,"periodSeconds":30}]}}})";
  RecentScaling recent{.recommended = {}, .added = {{ago(100), 1}, {ago(80), 2}}, .removed = {{ago(95), 3}}};
  for (int64_t seconds = 3600; seconds > 0; seconds -= 15) {
    recent.recommended.push_back({ago(seconds), 10 + seconds / 15 * 7 % 5});
  }
  const RecentScaling all = recent;
  keep_relevant(recent, json(spec), kNoon);
  EXPECT_LE(recent.recommended.size(), 5U);
  EXPECT_EQ(recent.added, (std::vector<ReplicasAt>{{ago(80), 2}}));
  EXPECT_TRUE(recent.removed.empty());
  for (int64_t later = 0; later < 120'000; later += 15'000) {
    for (const int64_t current : {9, 12, 20}) {
      for (const int64_t recommended : {1, 12, 50}) {
        const UtcMillis then = kNoon + Millis{later};
        EXPECT_EQ(limited(json(spec), current, recommended, recent, then).replicas,
                  limited(json(spec), current, recommended, all, then).replicas);
      }
    }
  }
  RecentScaling plain = all;
  keep_relevant(plain, json(kPlain), kNoon);
  EXPECT_LE(plain.recommended.size(), 5U);
  EXPECT_TRUE(plain.added.empty());
}

TEST(ScalingLimits, OnePodCanBecomeTwo) {
  const std::string spec = R"({"maxReplicas":9,"behavior":{"scaleUp":{"selectPolicy":"Max",
      "policies":[{"type":"Percent","value":1,"periodSeconds":60}]}}})";
  EXPECT_EQ(limits(spec, 1, 9), "2 ReadyForNewScale ScaleUpLimit");
}

}  // namespace
}  // namespace shiplog::federated_hpa
