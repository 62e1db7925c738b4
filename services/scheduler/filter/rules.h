#pragma once

#include <optional>
#include <string>

#include "services/scheduler/demand.h"

namespace shiplog::scheduler {

// One rule a file. Each says why the cluster is out, or nothing. Source: behaviour-core S-19, with its exact texts.

std::optional<std::string> cluster_affinity(const Demand& demand, const Cluster& cluster);
std::optional<std::string> api_enablement(const Demand& demand, const Cluster& cluster);
std::optional<std::string> taint_toleration(const Demand& demand, const Cluster& cluster);
std::optional<std::string> spread_constraint(const Demand& demand, const Cluster& cluster);
std::optional<std::string> cluster_eviction(const Demand& demand, const Cluster& cluster);

}  // namespace shiplog::scheduler
