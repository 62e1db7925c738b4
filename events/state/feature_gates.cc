#include "events/state/feature_gates.h"

#include <algorithm>
#include <array>

#include "events/base/check.h"

namespace shiplog {
namespace {

struct NamedGate {
  std::string_view name;
  bool FeatureGates::*on;
};

// Sorted by name.
constexpr std::array<NamedGate, 9> kGates = {{{"Failover", &FeatureGates::failover},
                                              {"FederatedQuotaEnforcement", &FeatureGates::quota_enforcement},
                                              {"MultiClusterService", &FeatureGates::multi_cluster_service},
                                              {"MultiplePodTemplatesScheduling", &FeatureGates::multiple_pod_templates},
                                              {"PropagationPolicyPreemption", &FeatureGates::policy_preemption},
                                              {"ResourceQuotaEstimate", &FeatureGates::resource_quota_estimate},
                                              {"SchedulingOvercommitProtection", &FeatureGates::overcommit_protection},
                                              {"StatefulFailoverInjection", &FeatureGates::stateful_failover},
                                              {"WorkloadAffinity", &FeatureGates::workload_affinity}}};

const NamedGate* gate_named(std::string_view name) {
  const auto* const at = std::ranges::find(kGates, name, &NamedGate::name);
  return at == kGates.end() ? nullptr : at;
}

}  // namespace

ObjectKey feature_gates_key() { return {kFeatureGatesType, "", "fleet"}; }

const std::vector<std::string>& feature_gate_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const NamedGate& gate : kGates) names.emplace_back(gate.name);
    return names;
  }();
  return kNames;
}

bool is_feature_gate(std::string_view name) { return gate_named(name) != nullptr; }

void set_always_on_before_version_7(FeatureGates& gates) {
  gates.failover = true;
  gates.quota_enforcement = true;
  gates.policy_preemption = true;
  gates.workload_affinity = true;
}

FeatureGates feature_gates_from(const Value& object) {
  FeatureGates gates;
  for (const Value& name : object["spec"]["on"].items()) {
    if (is_feature_gate(name.as_string())) set_feature_gate(gates, name.as_string(), true);
  }
  return gates;
}

std::vector<std::string> names_of(const FeatureGates& gates) {
  std::vector<std::string> names;
  for (const NamedGate& gate : kGates) {
    if (gates.*gate.on) names.emplace_back(gate.name);
  }
  return names;
}

void set_feature_gate(FeatureGates& gates, std::string_view name, bool on) {
  const NamedGate* gate = gate_named(name);
  SHIPLOG_CHECK(gate != nullptr, "a feature gate has been looked for by name");
  gates.*(gate->on) = on;
}

}  // namespace shiplog
