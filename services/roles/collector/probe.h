#pragma once

#include <memory>

#include "services/adapters/members/members.h"
#include "services/roles/collector/cluster_status.h"
#include "services/runtime/role.h"

namespace shiplog::collector {

/// How often a cluster is probed (CL-16).
inline constexpr Millis kProbeEvery{10'000};

/// One probe of one cluster: its health, and when it is ready its version, APIs, nodes and pods (CL-15 to CL-25). What
/// differs from the Cluster's status is reported in one entry. Ends the task, to be run again after `every`.
/// `members` outlives it. `counts_resources` false: nodes and pods are not read, and no summary of them remains.
void probe(const TaskPtr& task, Members& members, const std::shared_ptr<Damping>& damping, bool counts_resources,
           Millis every = kProbeEvery);

}  // namespace shiplog::collector
