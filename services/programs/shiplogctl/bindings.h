#pragma once

#include <string>
#include <vector>

#include "events/base/time.h"
#include "events/base/value.h"

namespace shiplog::ctl {

/// Where an API server has ResourceBindings and ClusterResourceBindings.
inline constexpr const char* kBindingGroup = "/apis/work.karmada.io/v1alpha2";

/// The state of one cluster according to a ResourceBinding or ClusterResourceBinding.
struct BindingTarget {
  std::string cluster;
  bool placed = false;    ///< in spec.clusters or of a requirer; otherwise it is being removed from the cluster
  bool evicting = false;  ///< leaves the cluster: a graceful eviction task names it
  bool purged = false;    ///< its copy there is deleted without waiting for a replacement
  int64_t replicas = -1;  ///< placed; -1: the kind has none
  int64_t desired = -1;   ///< desired replicas as reported by the member (DaemonSet); -1: unknown
  int64_t ready = -1;     ///< -1: unknown
  bool reported = false;  ///< the aggregated status has an item for this cluster
  bool applied = false;
  std::string applied_message;
  std::string health;      ///< "Healthy", "Unhealthy", "Unknown"
  bool suspended = false;  ///< dispatching to it is suspended
};

/// The targets of a binding by cluster: the present ones, and former ones where it still runs.
std::vector<BindingTarget> targets_of(const Value& binding);

/// Whether the bound object runs pods: a workload kind of Kubernetes, or a binding with replicas or components.
bool is_workload(const Value& binding);

/// "5m" since an RFC 3339 time; empty without one.
std::string since(const Value& time, UtcMillis now);

}  // namespace shiplog::ctl
