#include "services/roles/recorder/scaling_events.h"

#include <string>
#include <string_view>

#include "events/state/condition.h"

namespace shiplog::recorder {
namespace {

constexpr const char* kComponent = "federatedHPA-controller";
constexpr std::string_view kCalculated = "calculate a replica count from ";

/// The role federated-hpa composes the messages of its conditions of fixed parts, which Events show one by one.
struct ScalingObstacle {
  std::string cause;            ///< "the HPA was unable to ...: CAUSE"
  bool lacks_selector = false;  ///< the scale of the target has none
  bool is_of_metrics = false;   ///< the replicas cannot be computed
};

ScalingObstacle obstacle_in(std::string_view text) {
  ScalingObstacle found;
  found.lacks_selector = text.ends_with("missing a selector");
  found.is_of_metrics = text.starts_with("the HPA was unable to compute");
  const size_t end = text.starts_with("the HPA ") ? text.find(": ") : std::string_view::npos;
  found.cause = end == std::string_view::npos ? text : text.substr(end + 2);
  if (found.lacks_selector) found.cause = "selector is required";
  return found;
}

/// What the replicas were computed from, as the condition ScalingActive says it.
std::string metric_in(std::string_view text) {
  const size_t at = text.find(kCalculated);
  return at == std::string_view::npos ? "a metric" : std::string{text.substr(at + kCalculated.size())};
}

/// Reasons of Events that have another name than those of conditions, and the others.
const char* event_reason(std::string_view reason, const ScalingObstacle& obstacle) {
  static constexpr const char* kSame[] = {
      "FailedGetScaleTargetRef", "FailedGetTargetClusters", "FailedGetScale",
      "AmbiguousSelector",       "FailedGetObjectMetric",   "FailedGetPodsMetric",
      "FailedGetResourceMetric", "InvalidMetricSourceType", "FailedGetContainerResourceMetric"};
  if (reason == "FailedGetBinding") return "FailedGetBindings";
  if (reason == "InvalidSelector") return obstacle.lacks_selector ? "SelectorRequired" : "InvalidSelector";
  for (const char* same : kSame) {
    if (reason == same) return same;
  }
  return nullptr;
}

std::string rescale_reason(const Value& object) {
  const Value& status = object["status"];
  const int64_t before = status["currentReplicas"].as_int(), after = status["desiredReplicas"].as_int();
  if (before > object["spec"]["maxReplicas"].as_int()) return "Current number of replicas above Spec.MaxReplicas";
  if (before < object["spec"]["minReplicas"].as_int(1)) return "Current number of replicas below Spec.MinReplicas";
  if (after < before) return "All metrics below target";
  return metric_in(condition_of(object, "ScalingActive")["message"].as_string()) + " above target";
}

bool rescaled(const Change& change) {
  const Value& able = condition_of(change.after, "AbleToScale");
  return able["reason"].as_string() == "SucceededRescale" &&
         change.before["status"]["lastScaleTime"] != change.after["status"]["lastScaleTime"];
}

}  // namespace

void add_scaling_events(const Change& change, std::vector<EventDraft>& drafts) {
  if (change.removed()) return;
  if (rescaled(change)) {
    drafts.push_back({change.after, kComponent, false, "SuccessfulRescale",
                      "New size: " + std::to_string(change.after["status"]["desiredReplicas"].as_int()) +
                          "; reason: " + rescale_reason(change.after)});
  }
  for (const char* type : {"AbleToScale", "ScalingActive"}) {
    const Value& before = condition_of(change.before, type);
    const Value& after = condition_of(change.after, type);
    if (after["status"].as_string() != "False" || after["reason"] == before["reason"]) continue;
    const ScalingObstacle obstacle = obstacle_in(after["message"].as_string());
    const char* reason = event_reason(after["reason"].as_string(), obstacle);
    if (reason == nullptr) continue;
    drafts.push_back({change.after, kComponent, true, reason, obstacle.cause});
    if (obstacle.is_of_metrics) {
      drafts.push_back({change.after, kComponent, true, "FailedComputeMetricsReplicas",
                        "invalid metrics, first error is: " + obstacle.cause});
    }
  }
}

}  // namespace shiplog::recorder
