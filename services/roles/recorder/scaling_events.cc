#include "services/roles/recorder/scaling_events.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

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
  if (reason == "FailedUpdateScale") return "FailedRescale";
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

/// The part of a metric, or of its status, that its type names.
const Value& source_in(const Value& metric) {
  static constexpr std::pair<const char*, const char*> kSources[] = {
      {"Resource", "resource"}, {"ContainerResource", "containerResource"}, {"Pods", "pods"}, {"Object", "object"}};
  static const Value none;
  for (const auto& [type, field] : kSources) {
    if (metric["type"].as_string() == type) return metric[field];
  }
  return none;
}

bool same_metric(const Value& one, const Value& other) {
  if (one["type"] != other["type"]) return false;
  const Value& source = source_in(one);
  const Value& of_other = source_in(other);
  return source["name"] == of_other["name"] && source["container"] == of_other["container"] &&
         source["metric"] == of_other["metric"] && source["describedObject"] == of_other["describedObject"];
}

/// What stands before the cause of the first metric that has no value, as in upstream's errors.
std::string first_failure(const Value& object) {
  const Value& measured = object["status"]["currentMetrics"];
  const Value& metrics = object["spec"]["metrics"];
  for (const Value& metric : metrics.items()) {
    if (std::ranges::any_of(measured.items(), [&](const Value& each) { return same_metric(metric, each); })) continue;
    const std::string_view type = metric["type"].as_string();
    const Value& source = source_in(metric);
    if (type == "Resource") return "failed to get " + source["name"].str() + " resource metric value: ";
    if (type == "ContainerResource") return "failed to get " + source["container"].str() + " container metric value: ";
    if (type == "Pods") return "failed to get pods metric value: ";
    if (type == "Object") return "failed to get object metric value: ";
    break;
  }
  return "";
}

/// Why the replicas could not be computed.
std::string invalid_metrics(const Value& object, const std::string& cause) {
  const size_t all = object["spec"]["metrics"].size();
  const size_t measured = std::min(all, object["status"]["currentMetrics"].size());
  return "invalid metrics (" + std::to_string(all - measured) + " invalid out of " + std::to_string(all) +
         "), first error is: " + first_failure(object) + cause;
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
                        invalid_metrics(change.after, obstacle.cause)});
    }
  }
}

}  // namespace shiplog::recorder
