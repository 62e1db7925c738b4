#include "services/roles/recorder/scaling_events.h"

#include <string>
#include <string_view>

#include "events/state/condition.h"

namespace shiplog::recorder {
namespace {

constexpr const char* kComponent = "federatedHPA-controller";
constexpr std::string_view kCalculated = "calculate a replica count from ";

/// Reasons of Events that have another name than those of conditions, and the others.
const char* event_reason(std::string_view reason, std::string_view message) {
  static constexpr const char* kSame[] = {
      "FailedGetScaleTargetRef", "FailedGetTargetClusters", "FailedGetScale",
      "AmbiguousSelector",       "FailedGetObjectMetric",   "FailedGetPodsMetric",
      "FailedGetResourceMetric", "InvalidMetricSourceType", "FailedGetContainerResourceMetric"};
  if (reason == "FailedGetBinding") return "FailedGetBindings";
  if (reason == "InvalidSelector") {
    return message.ends_with("missing a selector") ? "SelectorRequired" : "InvalidSelector";
  }
  for (const char* same : kSame) {
    if (reason == same) return same;
  }
  return nullptr;
}

/// The cause alone: "the HPA ... was unable to ...: CAUSE".
std::string cause_of(std::string_view message) {
  if (message.ends_with("missing a selector")) return "selector is required";
  const size_t end = message.starts_with("the HPA ") ? message.find(": ") : std::string_view::npos;
  return std::string{end == std::string_view::npos ? message : message.substr(end + 2)};
}

std::string rescale_reason(const Value& object) {
  const Value& status = object["status"];
  const int64_t before = status["currentReplicas"].as_int(), after = status["desiredReplicas"].as_int();
  if (before > object["spec"]["maxReplicas"].as_int()) return "Current number of replicas above Spec.MaxReplicas";
  if (before < object["spec"]["minReplicas"].as_int(1)) return "Current number of replicas below Spec.MinReplicas";
  if (after < before) return "All metrics below target";
  const std::string_view message = condition_of(object, "ScalingActive")["message"].as_string();
  const size_t name = message.find(kCalculated);
  return (name == std::string_view::npos ? "a metric" : std::string{message.substr(name + kCalculated.size())}) +
         " above target";
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
    const std::string_view message = after["message"].as_string();
    const char* reason = event_reason(after["reason"].as_string(), message);
    if (reason == nullptr) continue;
    drafts.push_back({change.after, kComponent, true, reason, cause_of(message)});
    // The metrics were the obstacle.
    if (message.starts_with("the HPA was unable to compute")) {
      drafts.push_back({change.after, kComponent, true, "FailedComputeMetricsReplicas",
                        "invalid metrics, first error is: " + cause_of(message)});
    }
  }
}

}  // namespace shiplog::recorder
