#pragma once

#include <cstdint>

#include "services/scheduler/demand.h"

namespace shiplog::scheduler {

/// How many further replicas of the binding fit on the cluster, judged by its status.resourceSummary (S-62 to S-64).
/// Cluster resource models (S-66) are not read.
int64_t allocatable_replicas(const Binding& binding, const Cluster& cluster);

}  // namespace shiplog::scheduler
