#pragma once

#include <cstdint>
#include <string>

#include "events/explain/fact_info.h"

// What the binder explains: which policy has a template, and what its binding was made from. An empty namespace of a
// policy: a ClusterPropagationPolicy.
namespace shiplog {

/// How a policy selects a template, from the least to the most specific.
enum class PolicyMatch : uint8_t { kNone = 0, kKind = 1, kLabels = 2, kName = 3 };

/// Summary: the policy that has the template.
struct PolicySelected {
  static constexpr FactInfo kInfo{80, "PolicySelected", "object", "policyNamespace", "policy", "match"};
  std::string object;  ///< "deployments.apps/default/web"
  std::string policy_namespace;
  std::string policy;
  PolicyMatch match = PolicyMatch::kNone;
  bool operator==(const PolicySelected&) const = default;
};

/// A policy that selects the template and is not permitted to claim it (decision 0028).
struct PolicyForbidden {
  static constexpr FactInfo kInfo{81, "PolicyForbidden", "policyNamespace", "policy", "reason"};
  std::string policy_namespace;
  std::string policy;
  std::string reason;
  bool operator==(const PolicyForbidden&) const = default;
};

/// One policy selects the template and is permitted to claim it.
struct OnlyPolicy {
  static constexpr FactInfo kInfo{82, "OnlyPolicy", "othersForbidden"};
  bool others_forbidden = false;
  bool operator==(const OnlyPolicy&) const = default;
};

/// Several policies select the template.
struct PoliciesCompared {
  static constexpr FactInfo kInfo{83, "PoliciesCompared", "count"};
  int64_t count = 0;
  bool operator==(const PoliciesCompared&) const = default;
};

enum class PolicyRank : uint8_t { kChosen = 0, kLowerPriority = 1, kLessSpecific = 2, kLaterByName = 3 };

/// One of them.
struct PolicyCompared {
  static constexpr FactInfo kInfo{84, "PolicyCompared", "policyNamespace", "policy", "priority", "match", "rank"};
  std::string policy_namespace;
  std::string policy;
  int64_t priority = 0;
  PolicyMatch match = PolicyMatch::kNone;
  PolicyRank rank = PolicyRank::kChosen;
  bool operator==(const PolicyCompared&) const = default;
};

/// Policies that are not listed.
struct PoliciesOmitted {
  static constexpr FactInfo kInfo{85, "PoliciesOmitted", "count"};
  int64_t count = 0;
  bool operator==(const PoliciesOmitted&) const = default;
};

/// The policy that claims the template keeps it.
struct ClaimKept {
  static constexpr FactInfo kInfo{86, "ClaimKept"};
  bool operator==(const ClaimKept&) const = default;
};

/// A policy with spec.preemption Always takes the template from another (D-42, D-43).
struct PolicyPreempted {
  static constexpr FactInfo kInfo{87,         "PolicyPreempted", "policyNamespace", "policy",
                                  "priority", "formerNamespace", "former",          "formerPriority"};
  std::string policy_namespace;
  std::string policy;
  int64_t priority = 0;
  std::string former_namespace;
  std::string former;
  int64_t former_priority = 0;
  bool operator==(const PolicyPreempted&) const = default;
};

/// spec.activationPreference Lazy: the template was changed or is new (D-47).
struct LazilyActivated {
  static constexpr FactInfo kInfo{88, "LazilyActivated"};
  bool operator==(const LazilyActivated&) const = default;
};

/// spec.failover.application is not acted on.
struct FailoverIgnored {
  static constexpr FactInfo kInfo{89, "FailoverIgnored"};
  bool operator==(const FailoverIgnored&) const = default;
};

/// What the interpreter answered of the template's replicas (D-27).
struct ReplicasInterpreted {
  static constexpr FactInfo kInfo{90, "ReplicasInterpreted", "replicas", "requirements"};
  int64_t replicas = 0;
  std::string requirements;  ///< of each replica, JSON; empty: none
  bool operator==(const ReplicasInterpreted&) const = default;
};

/// The interpreter knows no replicas of the kind.
struct ReplicasUnknown {
  static constexpr FactInfo kInfo{91, "ReplicasUnknown", "kind"};
  std::string kind;
  bool operator==(const ReplicasUnknown&) const = default;
};

/// One pod template of the template, as the interpreter answered (D-28).
struct ComponentInterpreted {
  static constexpr FactInfo kInfo{92, "ComponentInterpreted", "name", "replicas", "requirements"};
  std::string name;
  int64_t replicas = 0;
  std::string requirements;  ///< of each replica, JSON; empty: none
  bool operator==(const ComponentInterpreted&) const = default;
};

/// The interpreter answered that the template has no components.
struct NoComponents {
  static constexpr FactInfo kInfo{93, "NoComponents"};
  bool operator==(const NoComponents&) const = default;
};

/// The affinity group that the template joins by a label of its own (D-29).
struct AffinityGroupJoined {
  static constexpr FactInfo kInfo{94, "AffinityGroupJoined", "label", "value", "apart"};
  std::string label;
  std::string value;
  bool apart = false;  ///< an anti-affinity group
  bool operator==(const AffinityGroupJoined&) const = default;
};

/// The policy requests an affinity group by a label that the template does not have.
struct AffinityGroupMissing {
  static constexpr FactInfo kInfo{95, "AffinityGroupMissing", "label", "apart"};
  std::string label;
  bool apart = false;
  bool operator==(const AffinityGroupMissing&) const = default;
};

}  // namespace shiplog
