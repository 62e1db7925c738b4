#include "services/roles/recorder/scaling_events.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/given.h"

namespace shiplog::recorder {
namespace {

using given::json;

using Texts = std::vector<std::string>;

class ScalingEvents : public ::testing::Test {
 protected:
  /// Those of a change to this status.
  Texts events_of(const std::string& status) {
    Value after = hpa_;
    after.set("status", json(status));
    std::vector<EventDraft> drafts;
    add_scaling_events({{kFederatedHpa, "default", "web"}, {}, std::exchange(hpa_, after), after, {}}, drafts);
    Texts texts;
    for (const EventDraft& draft : drafts) {
      EXPECT_EQ(draft.component, std::string{"federatedHPA-controller"});
      texts.push_back(std::string{draft.warning ? "Warning " : "Normal "} + draft.reason + ": " + draft.message);
    }
    return texts;
  }
  Texts failed(const std::string& type, const std::string& reason, const std::string& message) {
    return events_of(R"({"conditions": [{"type": ")" + type + R"(", "status": "False", "reason": ")" + reason +
                     R"(", "message": ")" + message + R"("}]})");
  }

  Value hpa_ =
      json(R"({"kind": "FederatedHPA", "metadata": {"name": "web"}, "spec": {"minReplicas": 1, "maxReplicas": 9,
      "metrics": [{"type": "Pods", "pods": {"metric": {"name": "queue"}}}]}})");
};

TEST_F(ScalingEvents, EachRescaleIsReportedOnceWithItsReason_5_8_7) {
  const std::string up = R"({"currentReplicas": 2, "desiredReplicas": 4, "lastScaleTime": "2026-01-02T00:00:00Z",
      "conditions": [{"type": "AbleToScale", "status": "True", "reason": "SucceededRescale"},
                     {"type": "ScalingActive", "status": "True", "message":
                      "the HPA was able to successfully calculate a replica count from cpu resource"}]})";
  EXPECT_EQ(events_of(up), Texts{"Normal SuccessfulRescale: New size: 4; reason: cpu resource above target"});
  EXPECT_EQ(events_of(up), Texts{});
  const auto rescaled = [&](int from, int to, int hour) {
    return events_of(R"({"currentReplicas": )" + std::to_string(from) + R"(, "desiredReplicas": )" +
                     std::to_string(to) + R"(, "lastScaleTime": "2026-01-02T0)" + std::to_string(hour) + R"(:00:00Z",
      "conditions": [{"type": "AbleToScale", "status": "True", "reason": "SucceededRescale"}]})");
  };
  EXPECT_EQ(rescaled(4, 3, 1), Texts{"Normal SuccessfulRescale: New size: 3; reason: All metrics below target"});
  EXPECT_EQ(rescaled(12, 9, 2), Texts{"Normal SuccessfulRescale: New size: 9; reason: Current number of replicas above "
                                      "Spec.MaxReplicas"});
  EXPECT_EQ(rescaled(0, 1, 3), Texts{"Normal SuccessfulRescale: New size: 1; reason: Current number of replicas below "
                                     "Spec.MinReplicas"});
}

TEST_F(ScalingEvents, EachObstacleIsReportedOnceWithItsCauseAlone_5_8_7) {
  const auto unbound = [this] {
    return failed("AbleToScale", "FailedGetBinding",
                  "the HPA controller was unable to get the binding by scaleTargetRef: No label of policy found. ");
  };
  EXPECT_EQ(unbound(), Texts{"Warning FailedGetBindings: No label of policy found. "});
  EXPECT_EQ(unbound(), Texts{});
  EXPECT_EQ(failed("ScalingActive", "FailedGetPodsMetric", "the HPA was unable to compute the replica count: gone: x"),
            (Texts{"Warning FailedGetPodsMetric: gone: x",
                   "Warning FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 1), first error is: "
                   "failed to get pods metric value: gone: x"}));
  EXPECT_EQ(failed("AbleToScale", "FailedUpdateScale",
                   "the HPA controller was unable to update the target scale: spec.replicas: too many"),
            Texts{"Warning FailedRescale: spec.replicas: too many"});
  EXPECT_EQ(failed("ScalingActive", "InvalidSelector", "the HPA target's scale is missing a selector"),
            Texts{"Warning SelectorRequired: selector is required"});
  EXPECT_EQ(failed("ScalingActive", "ScalingDisabled", "scaling is disabled"), Texts{}) << "no Event upstream";
}

TEST_F(ScalingEvents, FailedMetricsAreCountedAndTheFirstIsNamed_5_8_7) {
  hpa_.edit("spec").set("metrics", json(R"([
      {"type": "Resource", "resource": {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 50}}},
      {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}},
      {"type": "Pods", "pods": {"metric": {"name": "queue"}, "target": {"averageValue": "1"}}}])"));
  const Texts texts =
      events_of(R"({"currentMetrics": [{"type": "Resource", "resource": {"name": "memory", "current": {}}}],
      "conditions": [{"type": "ScalingActive", "status": "False", "reason": "FailedGetResourceMetric", "message":
      "the HPA was unable to compute the replica count: failed to get cpu utilization: no such API"}]})");
  EXPECT_EQ(texts, (Texts{"Warning FailedGetResourceMetric: failed to get cpu utilization: no such API",
                          "Warning FailedComputeMetricsReplicas: invalid metrics (2 invalid out of 3), first error is: "
                          "failed to get cpu resource metric value: failed to get cpu utilization: no such API"}));
}

}  // namespace
}  // namespace shiplog::recorder
