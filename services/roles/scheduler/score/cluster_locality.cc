#include "services/roles/scheduler/score/cluster_locality.h"

namespace shiplog::scheduler {

int64_t cluster_locality(const Candidate& candidate) { return candidate.previous != nullptr ? 100 : 0; }

}  // namespace shiplog::scheduler
