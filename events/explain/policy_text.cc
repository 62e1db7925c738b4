#include "events/explain/fact_texts.h"
#include "events/explain/text.h"

namespace shiplog {

std::string propagation_policy_text(const std::string& policy_namespace, const std::string& policy) {
  return policy_namespace.empty() ? "ClusterPropagationPolicy " + policy
                                  : "PropagationPolicy " + policy_namespace + "/" + policy;
}

namespace explain {
namespace {

template <class Kind>
std::string policy_of(const Kind& fact) {
  return propagation_policy_text(fact.policy_namespace, fact.policy);
}

const char* match_text(PolicyMatch match) {
  switch (match) {
    case PolicyMatch::kName:
      return "by name";
    case PolicyMatch::kLabels:
      return "by labels";
    case PolicyMatch::kKind:
      return "by kind";
    case PolicyMatch::kNone:
      break;
  }
  return "not at all";
}

const char* rank_text(PolicyRank rank) {
  switch (rank) {
    case PolicyRank::kChosen:
      return "has it";
    case PolicyRank::kLowerPriority:
      return "lower priority";
    case PolicyRank::kLessSpecific:
      return "selects it less closely";
    case PolicyRank::kLaterByName:
      break;
  }
  return "later by name";
}

std::string needs(const std::string& requirements) {
  return requirements.empty() ? "nothing in particular" : requirements;
}

const char* group_text(bool apart) { return apart ? "apart from" : "with"; }

}  // namespace

std::string text(const PolicySelected& fact, const Explanation&) {
  return fact.object + " is selected by " + policy_of(fact) + " " + match_text(fact.match);
}

std::string text(const PolicyForbidden& fact, const Explanation&) {
  return policy_of(fact) + " selects it and may not have it: " + fact.reason;
}

std::string text(const OnlyPolicy& fact, const Explanation&) {
  return fact.others_forbidden ? "no other policy may have it" : "no other policy selects it";
}

std::string text(const PoliciesCompared& fact, const Explanation&) {
  return std::to_string(fact.count) + " policies select it: the first by priority, how it selects, and name has it";
}

std::string text(const PolicyCompared& fact, const Explanation&) {
  return policy_of(fact) + ": priority " + std::to_string(fact.priority) + ", " + match_text(fact.match) + ": " +
         rank_text(fact.rank);
}

std::string text(const PoliciesOmitted& fact, const Explanation&) {
  return "... and " + std::to_string(fact.count) + " more";
}

std::string text(const ClaimKept&, const Explanation&) {
  return "it is claimed already: only a policy with spec.preemption Always could take it, with the feature "
         "gate PropagationPolicyPreemption";
}

std::string text(const PolicyPreempted& fact, const Explanation&) {
  const std::string taken =
      policy_of(fact) + " preempts " + propagation_policy_text(fact.former_namespace, fact.former) + ": ";
  if (fact.policy_namespace.empty() != fact.former_namespace.empty()) {
    return taken +
           "with spec.preemption Always, a policy of the namespace takes what a ClusterPropagationPolicy has, "
           "whatever their priorities";
  }
  return taken + "it has spec.preemption Always and the higher priority, " + std::to_string(fact.priority) + " over " +
         std::to_string(fact.former_priority);
}

std::string text(const LazilyActivated&, const Explanation&) {
  return "spec.activationPreference Lazy: applied, because the template was changed or is new";
}

std::string text(const FailoverIgnored&, const Explanation&) {
  return "spec.failover.application: not acted on, unhealthy applications stay where they are";
}

std::string text(const ReplicasInterpreted& fact, const Explanation&) {
  return "replicas: " + std::to_string(fact.replicas) + ", each needs " + needs(fact.requirements);
}

std::string text(const ReplicasUnknown& fact, const Explanation&) {
  return "replicas: none, " + fact.kind + " is not a workload whose replicas can be told";
}

std::string text(const ComponentInterpreted& fact, const Explanation&) {
  return "component " + fact.name + ": " + std::to_string(fact.replicas) + " replicas, each needs " +
         needs(fact.requirements);
}

std::string text(const NoComponents&, const Explanation&) { return "components: it has none"; }

std::string text(const AffinityGroupJoined& fact, const Explanation&) {
  return std::string{"workload affinity (feature gate WorkloadAffinity): it stays "} + group_text(fact.apart) +
         " others with " + fact.label + "=" + fact.value;
}

std::string text(const AffinityGroupMissing& fact, const Explanation&) {
  return "workload affinity: it has no label " + fact.label + ", so there is nobody it stays " + group_text(fact.apart);
}

}  // namespace explain
}  // namespace shiplog
