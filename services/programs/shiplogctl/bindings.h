#pragma once

#include <string>
#include <vector>

#include "events/base/time.h"
#include "events/base/value.h"

namespace shiplog::ctl {

/// What a ResourceBinding or ClusterResourceBinding tells about one cluster.
struct Target {
  std::string cluster;
  bool placed = false;    ///< among spec.clusters; else it is being removed from there
  bool evicting = false;  ///< runs there until its replacement does
  int64_t replicas = -1;  ///< placed; -1: the kind has none
  int64_t desired = -1;   ///< what the member reports it wants, if that differs in kind (DaemonSet); -1: unknown
  int64_t ready = -1;     ///< -1: unknown
  bool reported = false;  ///< there is an aggregated status of this cluster
  bool applied = false;
  std::string applied_message;
  std::string health;      ///< "Healthy", "Unhealthy", "Unknown"
  bool suspended = false;  ///< dispatching to it is suspended
};

/// The targets of a binding by cluster: those placed, and those where it still runs.
std::vector<Target> targets_of(const Value& binding);

/// The bound object runs pods: a workload kind of Kubernetes, or one for which replicas or components are counted.
bool is_workload(const Value& binding);

/// "5m" since an RFC 3339 time; empty without one.
std::string since(const Value& time, UtcMillis now);

}  // namespace shiplog::ctl
