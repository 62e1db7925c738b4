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

/// Annotations of a Deployment, StatefulSet or ReplicaSet: what its running pods use together, as quantities.
inline constexpr const char* kCpuUsage = "member.shiplog.io/cpu-usage";
inline constexpr const char* kMemoryUsage = "member.shiplog.io/memory-usage";

/// The PodMetrics of the pods that run: what a container uses follows from its requests, and changes a little every 15
/// seconds. The same for the same pod and time. Pods that one of `workloads` with such an annotation owns, also by a
/// ReplicaSet among them, share what that says. Pure.
std::vector<Value> pod_metrics(const std::vector<Value>& pods, const std::vector<Value>& workloads, UtcMillis now);
/// The NodeMetrics of the nodes: what their pods use, and something for the system. Pure.
std::vector<Value> node_metrics(const std::vector<Value>& nodes, const std::vector<Value>& pods,
                                const std::vector<Value>& workloads, UtcMillis now);

}  // namespace shiplog::member
