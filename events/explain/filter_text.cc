#include "events/explain/fact_texts.h"

// The texts of upstream (S-19, M-11, M-12): they become part of the binding's Scheduled condition.
namespace shiplog::explain {

std::string text(const AffinityMismatch&, const Explanation&) {
  return "cluster(s) did not match the placement cluster affinity constraint";
}

std::string text(const ApiNotEnabled&, const Explanation&) { return "cluster(s) did not have the API resource"; }

std::string text(const TaintNotTolerated& fact, const Explanation&) {
  return "cluster(s) had untolerated taint {" + fact.key + (fact.value.empty() ? "" : "=" + fact.value) + ":" +
         fact.effect + "}";
}

std::string text(const SpreadPropertyMissing& fact, const Explanation&) {
  return "cluster(s) did not have " + fact.property + " property";
}

std::string text(const EvictionInProgress&, const Explanation&) { return "cluster(s) is in the process of eviction"; }

std::string text(const AffinityGroupElsewhere&, const Explanation&) {
  return "ResourceBinding with the same affinity group does not target this cluster";
}

std::string text(const AntiAffinityGroupPresent&, const Explanation&) {
  return "cluster already has workload with the same anti-affinity group";
}

}  // namespace shiplog::explain
