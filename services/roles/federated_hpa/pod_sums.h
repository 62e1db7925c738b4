#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "events/base/time.h"
#include "events/base/value.h"
#include "services/roles/federated_hpa/measurement.h"

// What is kept of the pods and metrics of one cluster until they are added up. Pure.
namespace shiplog::federated_hpa {

/// What an autoscaler reads of a pod.
struct MeasuredPod {
  std::string name;
  bool ignored = false;  ///< it failed or is being deleted
  bool pending = false;
  bool running = false;
  std::string ready;      ///< status of its condition Ready; empty: it has none
  UtcMillis ready_since;  ///< lastTransitionTime of that
  std::optional<UtcMillis> started;
  /// Of each metric, thousandths; -1: a container has no request of it.
  std::vector<int64_t> requests;
};

/// A value of one metric for one pod, in thousandths.
struct PodUsage {
  int64_t usage = 0;
  UtcMillis at;
  Millis window{0};
};
using UsageByPod = std::map<std::string, PodUsage, std::less<>>;

/// `metrics` is spec.metrics of the FederatedHPA.
MeasuredPod measured_pod(const Value& pod, const Value& metrics);

/// Of the items of a PodMetricsList: one resource, of one container or ("") of all. Pods with a container that nothing
/// is measured of are left out.
UsageByPod resource_usage(const Value& list, const std::string& resource, const std::string& container);
/// Of the items of a MetricValueList of custom.metrics.k8s.io, by the names of the objects they are about.
UsageByPod custom_usage(const Value& list);

/// Adds up the metric with that index, as the HPA of Kubernetes groups pods. Pods whose CPU is measured count as
/// unready for five minutes after their start unless they were ready for a whole window.
MetricSums sums_of(const std::vector<MeasuredPod>& pods, size_t metric, const Value& source, const UsageByPod& usage,
                   UtcMillis now);

/// All containers of the items of a PodList or a PodMetricsList: what adding them up takes.
size_t containers_in(const Value& list);

/// Running, and ready.
int64_t count_ready(const std::vector<MeasuredPod>& pods);

/// The part of an item of spec.metrics that its type names: "resource" of type Resource. Null: it has none.
const Value& source_of(const Value& metric);

}  // namespace shiplog::federated_hpa
