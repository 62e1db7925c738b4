#pragma once

#include <optional>

#include "events/explain/fact.h"
#include "services/roles/scheduler/demand.h"

namespace shiplog::scheduler {

// One rule a file, or two that belong together. Each answers why it rejects the cluster, or nothing. Source:
// S-19, M-11 and M-12.

std::optional<Fact> cluster_affinity(const Demand& demand, const Cluster& cluster);
std::optional<Fact> api_enablement(const Demand& demand, const Cluster& cluster);
std::optional<Fact> taint_toleration(const Demand& demand, const Cluster& cluster);
std::optional<Fact> spread_constraint(const Demand& demand, const Cluster& cluster);
std::optional<Fact> cluster_eviction(const Demand& demand, const Cluster& cluster);
/// Where the others of its group are; there must be a group.
std::optional<Fact> workload_affinity(const Demand& demand, const Cluster& cluster);
/// Where no other member of its group is; there must be a group.
std::optional<Fact> workload_anti_affinity(const Demand& demand, const Cluster& cluster);

}  // namespace shiplog::scheduler
