#pragma once

#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "events/kinds/kinds.h"

namespace shiplog::member {

/// `kinds` and those of metrics.k8s.io/v1beta1: NodeMetrics and PodMetrics.
Kinds with_metrics(const Kinds& kinds);

/// The APIService of metrics.k8s.io, which clients look for: served by the member itself.
Value metrics_api_service();

/// The PodMetrics of the pods that run: what a container uses follows from its requests, and changes a little every 15
/// seconds. The same for the same pod and time. Pure.
std::vector<Value> pod_metrics(const std::vector<Value>& pods, UtcMillis now);
/// The NodeMetrics of the nodes: what their pods use, and something for the system. Pure.
std::vector<Value> node_metrics(const std::vector<Value>& nodes, const std::vector<Value>& pods, UtcMillis now);

}  // namespace shiplog::member
