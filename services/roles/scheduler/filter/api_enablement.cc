#include <algorithm>

#include "services/roles/scheduler/filter/rules.h"

namespace shiplog::scheduler {

// A current target passes: an API list that could not be read for a moment must not move workloads away.
std::optional<Fact> api_enablement(const Demand& demand, const Cluster& cluster) {
  if (demand.previous(cluster.name) != nullptr) return std::nullopt;
  const auto& enabled = cluster.api_enablements;
  if (std::binary_search(enabled.begin(), enabled.end(), demand.enablement)) return std::nullopt;
  // The definition is being dispatched: the object waits for it in the cluster, rather than the placement.
  const auto& definition = demand.context.definition;
  if (definition != nullptr && definition->clusters.contains(cluster.name)) return std::nullopt;
  return ApiNotEnabled{};
}

}  // namespace shiplog::scheduler
