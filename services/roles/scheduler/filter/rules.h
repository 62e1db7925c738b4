#pragma once

#include <optional>
#include <string>

#include "services/roles/scheduler/demand.h"

namespace shiplog::scheduler {

// One rule a file, or two that belong together. Each says why the cluster is out, or nothing. Source:
// S-19, M-11 and M-12, with their exact texts.

std::optional<std::string> cluster_affinity(const Demand& demand, const Cluster& cluster);
std::optional<std::string> api_enablement(const Demand& demand, const Cluster& cluster);
std::optional<std::string> taint_toleration(const Demand& demand, const Cluster& cluster);
std::optional<std::string> spread_constraint(const Demand& demand, const Cluster& cluster);
std::optional<std::string> cluster_eviction(const Demand& demand, const Cluster& cluster);
/// Where the others of its group are; there must be a group.
std::optional<std::string> workload_affinity(const Demand& demand, const Cluster& cluster);
/// Where nobody else of its group is; there must be a group.
std::optional<std::string> workload_anti_affinity(const Demand& demand, const Cluster& cluster);

}  // namespace shiplog::scheduler
