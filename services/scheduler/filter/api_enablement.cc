#include "services/scheduler/filter/rules.h"

namespace shiplog::scheduler {

// A current target passes: an API list that could not be read for a moment must not move workloads away.
std::optional<std::string> api_enablement(const Demand& demand, const Cluster& cluster) {
  if (demand.previous(cluster.name) != nullptr) return std::nullopt;
  if (cluster.enables(demand.binding.api_version, demand.binding.kind)) return std::nullopt;
  return "cluster(s) did not have the API resource";
}

}  // namespace shiplog::scheduler
