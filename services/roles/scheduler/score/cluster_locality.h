#pragma once

#include "services/roles/scheduler/demand.h"

namespace shiplog::scheduler {

/// 100 for a current target, else 0 (S-22): equal candidates stay where they are.
int64_t cluster_locality(const Candidate& candidate);

}  // namespace shiplog::scheduler
