#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events/state/placement.h"
#include "events/state/policy.h"

namespace shiplog {

/// One of spec.overrideRules; the deprecated targetCluster and overriders make one too (B-17).
struct OverrideRule {
  std::optional<ClusterAffinity> clusters;  ///< absent: every cluster
  Value overriders;

  bool applies_to(const Cluster& cluster) const { return !clusters || clusters->matches(cluster); }
  bool operator==(const OverrideRule&) const = default;
};

/// OverridePolicy (ns not empty) or ClusterOverridePolicy.
struct OverridePolicy {
  SharedText ns, name;
  std::vector<ResourceSelector> selectors;  ///< none: everything (an OverridePolicy: in its namespace)
  std::vector<OverrideRule> rules;

  bool cluster_scoped() const { return ns.empty(); }
  /// Some rule selects by labels or fields of clusters, so that a change of these changes what applies.
  bool selects_by_cluster_fields() const;
  bool operator==(const OverridePolicy&) const = default;
};

OverridePolicy override_policy_from(const Value& object);

/// B-17: how specific the policy is for the object; without selectors it selects all.
SelectorMatch match(const OverridePolicy& policy, const Value& object);

}  // namespace shiplog
