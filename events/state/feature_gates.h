#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/value.h"

namespace shiplog {

/// Behaviour that changes what users see, and is off unless they turn it on (KIND-21). Recorded in the
/// journal (FeatureGatesSet), so that every decision, now or in a replay, uses the gates of its revision.
struct FeatureGates {
  bool failover = false;                 ///< Failover: ClusterTaintPolicies, and evictions for NoExecute taints
  bool quota_enforcement = false;        ///< FederatedQuotaEnforcement; off: quotas only report usage
  bool multiple_pod_templates = false;   ///< MultiplePodTemplatesScheduling: M-1 to M-7
  bool overcommit_protection = false;    ///< SchedulingOvercommitProtection: M-8, M-9
  bool resource_quota_estimate = false;  ///< ResourceQuotaEstimate: estimators also read the ResourceQuotas of members
  bool stateful_failover = false;        ///< StatefulFailoverInjection: labels preserved across a failover (3.4)
  bool policy_preemption = false;        ///< PropagationPolicyPreemption: D-42, D-43
  bool workload_affinity = false;        ///< WorkloadAffinity: M-10
  bool multi_cluster_service = false;    ///< MultiClusterService: 5.7
  bool operator==(const FeatureGates&) const = default;
};

/// Where the gates in force are kept: the control plane's own, not served.
inline constexpr const char* kFeatureGatesType = "featuregates.control.shiplog.io";
ObjectKey feature_gates_key();

/// Gates that can be set, sorted.
const std::vector<std::string>& feature_gate_names();
bool is_feature_gate(std::string_view name);

/// Gates that fold version 7 introduced: before it what they switch was always on, and decisions of older journals are
/// verified with them on.
void set_always_on_before_version_7(FeatureGates& gates);

/// From that object; null: all are off.
FeatureGates feature_gates_from(const Value& object);
/// The gates in force, as a view of State.
struct FeatureGatesView {
  static bool wants(std::string_view type) { return type == kFeatureGatesType; }
  void update(const ObjectKey&, const Value&, const Value& after) { gates = feature_gates_from(after); }
  bool operator==(const FeatureGatesView&) const = default;

  FeatureGates gates;
};
/// The names of those that are on, sorted.
std::vector<std::string> names_of(const FeatureGates& gates);
/// Sets the gate of that name, which must be one.
void set_feature_gate(FeatureGates& gates, std::string_view name, bool on);

}  // namespace shiplog
