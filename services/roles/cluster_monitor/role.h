#pragma once

#include <memory>

#include "services/roles/cluster_monitor/decide.h"
#include "services/runtime/replica.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Role "cluster-monitor": Pull clusters whose agent is silent. Keys are Clusters. `ephemera` holds the Leases of the
/// agents, outlives the role and is folded on the same thread; what is decided from them is an observation.
std::unique_ptr<Role> make_cluster_monitor_role(const Replica& ephemera, const cluster_monitor::Periods& periods);

}  // namespace shiplog
