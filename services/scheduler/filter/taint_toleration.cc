#include <algorithm>

#include "services/scheduler/filter/rules.h"

namespace shiplog::scheduler {

// A current target passes: leaving a tainted cluster is the eviction's business, which removes the target first.
std::optional<std::string> taint_toleration(const Demand& demand, const Cluster& cluster) {
  if (demand.previous(cluster.name) != nullptr) return std::nullopt;
  for (const Taint& taint : cluster.taints) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    const auto& tolerations = demand.placement.tolerations;
    const bool tolerated =
        std::any_of(tolerations.begin(), tolerations.end(), [&](const auto& one) { return one.tolerates(taint); });
    if (!tolerated) return "cluster(s) had untolerated taint {" + to_string(taint) + "}";
  }
  return std::nullopt;
}

}  // namespace shiplog::scheduler
