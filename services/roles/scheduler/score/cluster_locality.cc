#include "services/roles/scheduler/score/cluster_locality.h"

namespace shiplog::scheduler {

int64_t cluster_locality(const Demand& demand, const Cluster& cluster) {
  return demand.previous(cluster.name) != nullptr ? 100 : 0;
}

}  // namespace shiplog::scheduler
