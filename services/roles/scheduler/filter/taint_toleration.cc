#include <algorithm>

#include "services/roles/scheduler/filter/rules.h"

namespace shiplog::scheduler {

// A current target passes: leaving a tainted cluster is the eviction's business, which removes the target first.
std::optional<Fact> taint_toleration(const Demand& demand, const Cluster& cluster) {
  if (demand.previous(cluster.name) != nullptr) return std::nullopt;
  for (const Taint& taint : cluster.taints) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    // The first toleration that fits counts, as for evictions. One for a limited time lets a binding stay, but does not
    // select it: it would be evicted, be placed again, and be evicted again, for ever.
    const auto& tolerations = demand.placement.tolerations;
    const auto by =
        std::ranges::find_if(tolerations, [&](const Toleration& toleration) { return toleration.tolerates(taint); });
    const bool tolerated = by != tolerations.end() && !(taint.effect == "NoExecute" && by->seconds);
    if (!tolerated) return TaintNotTolerated{taint.key, taint.value, taint.effect};
  }
  return std::nullopt;
}

}  // namespace shiplog::scheduler
