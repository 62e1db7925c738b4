#pragma once

#include <string>
#include <vector>

#include "events/state/state.h"

namespace shiplog::federated_hpa {

/// Where the values of one item of spec.metrics are in a member.
struct MetricSource {
  enum class MetricPlace { kPodMetrics, kCustomPods, kCustomObject, kNowhere };
  MetricPlace place = MetricPlace::kNowhere;
  std::string path;     ///< of custom ones: behind "/apis/custom.metrics.k8s.io/VERSION", without labelSelector
  std::string failure;  ///< kNowhere: why
};

/// For each item of `metrics`. Objects of other namespaces, and those that are in no namespace, are not read: who may
/// write a FederatedHPA in a namespace learns nothing about another one.
std::vector<MetricSource> metric_sources(const State& state, const std::string& ns, const Value& metrics);

/// A LabelSelector as the parameter of a URL: "app=web,tier in (a,b),!old".
std::string selector_parameter(const Value& selector);

}  // namespace shiplog::federated_hpa
