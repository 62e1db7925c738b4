#pragma once

#include <string>
#include <vector>

#include "events/explain/fact.h"
#include "events/state/state.h"

namespace shiplog::dispatcher {

/// The override policies for one object. Made once for all its targets: only then are policies looked for.
/// Source: B-16 to B-21.
class Overrides {
 public:
  /// `object`: of this key. Both state and object are kept by reference.
  Overrides(const State& state, ObjectKey key, const Value& object);

  struct Overridden {
    Value manifest;
    Value applied_cluster;     ///< [{policyName, overriders}] sorted by policy; null: none applied
    Value applied_namespaced;  ///< the same of OverridePolicies
    std::vector<Fact> steps;   ///< OverrideApplied, in order; OverridePolicyForbidden (0028)
  };
  /// `manifest` for one cluster: cluster override policies, then those of the namespace. Errors:
  /// kInvalid, and those of check_authority() after each rule; with policy, cluster, rule and reason (B-21), of which
  /// `failure` is the fact: OverrideFailed.
  Result<Overridden> apply(Value manifest, const Cluster& cluster, Fact& failure) const;

 private:
  using Policies = std::vector<const OverridePolicy*>;
  /// The least specific first. `forbidden`: the others that select it, and why they may not.
  Policies select(std::string_view policy_ns, const Value& object, std::vector<Fact>& forbidden) const;

  const State& state_;
  const ObjectKey key_;
  const Value& object_;
  Policies cluster_policies_, policies_;
  std::vector<Fact> forbidden_;
};

/// What differs between two values, as "PATH: before -> after"; at most 16 lines, without values if these are secret.
std::vector<std::string> changes_between(const Value& before, const Value& after, bool secret);

}  // namespace shiplog::dispatcher
