#pragma once

#include <cstdint>
#include <string>

#include "events/explain/fact_info.h"

// What the dispatcher explains of Works and their overrides. An empty namespace of a policy: a ClusterOverridePolicy.
namespace shiplog {

/// Summary: a template rendered for one cluster.
struct ManifestRendered {
  static constexpr FactInfo kInfo{140, "ManifestRendered", "kind", "name", "cluster", "divisible", "replicas"};
  std::string kind;
  std::string name;
  std::string cluster;
  bool divisible = false;
  int64_t replicas = 0;  ///< of the target, when divisible
  bool operator==(const ManifestRendered&) const = default;
};

/// One change by one rule of an override policy.
struct OverrideApplied {
  static constexpr FactInfo kInfo{141, "OverrideApplied", "policyNamespace", "policy", "rule", "change"};
  std::string policy_namespace;
  std::string policy;
  int64_t rule = 0;    ///< counted from 1
  std::string change;  ///< "PATH: before -> after"; empty: the rule changes nothing
  bool operator==(const OverrideApplied&) const = default;
};

/// An override policy that selects the template and may not change it (decision 0028).
struct OverridePolicyForbidden {
  static constexpr FactInfo kInfo{142, "OverridePolicyForbidden", "policyNamespace", "policy", "reason"};
  std::string policy_namespace;
  std::string policy;
  std::string reason;
  bool operator==(const OverridePolicyForbidden&) const = default;
};

/// Summary: every target is rendered.
struct TargetsRendered {
  static constexpr FactInfo kInfo{143, "TargetsRendered", "failedBefore"};
  bool failed_before = false;  ///< else an eviction waits for them
  bool operator==(const TargetsRendered&) const = default;
};

/// Summary: how many targets could not be rendered.
struct TargetsFailed {
  static constexpr FactInfo kInfo{144, "TargetsFailed", "count"};
  int64_t count = 0;
  bool operator==(const TargetsFailed&) const = default;
};

// Verdicts of the rule "Override".

/// A rule of an override policy that cannot be applied (B-21).
struct OverrideFailed {
  static constexpr FactInfo kInfo{145, "OverrideFailed", "policyNamespace", "policy", "cluster", "rule", "cause"};
  std::string policy_namespace;
  std::string policy;
  std::string cluster;
  int64_t rule = 0;  ///< counted from 1
  std::string cause;
  bool operator==(const OverrideFailed&) const = default;
};

/// The target cannot be rendered for another cause.
struct RenderFailed {
  static constexpr FactInfo kInfo{146, "RenderFailed", "cause"};
  std::string cause;
  bool operator==(const RenderFailed&) const = default;
};

}  // namespace shiplog
