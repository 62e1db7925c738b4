#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "events/base/json.h"
#include "events/kinds/kinds.h"
#include "services/roles/registry.h"
#include "tests/support/stage.h"

namespace shiplog::testing {

/// All roles that decide, as in a rehearsal, on a fleet whose clusters get the taint away:NoExecute while they are not
/// ready.
inline void start_failing_fleet(Stage& stage, std::vector<std::string> gates = {"Failover"}) {
  stage.write({FoldVersionActivated{kFoldVersion}});
  stage.write({FeatureGatesSet{std::move(gates)}});
  stage.write({OptionsSet{{{"enable-no-execute-taint-eviction", {"true"}}}}});
  RoleContext context;
  context.members = &stage.members();
  context.kinds = &Kinds::compiled();
  for (const RoleEntry& role : all_roles()) {
    if (role.make != nullptr && role.decide != nullptr) stage.add(role.make(context));
  }
  stage.put({type::kClusterTaintPolicy, "", "away"}, parse_json(R"({"apiVersion":"policy.karmada.io/v1alpha1",
      "kind":"ClusterTaintPolicy","metadata":{"name":"away","generation":1},"spec":{
      "addOnConditions":[{"conditionType":"Ready","operator":"NotIn","statusValues":["True"]}],
      "removeOnConditions":[{"conditionType":"Ready","operator":"In","statusValues":["True"]}],
      "taints":[{"key":"away","effect":"NoExecute"}]}})")
                                                         .value());
}

/// Nodes of a member, n0 and so on, each with 64 CPUs and 110 pods.
inline void add_nodes(FakeMember& member, int nodes) {
  for (int number = 0; number < nodes; ++number) {
    const std::string name = "n" + std::to_string(number);
    const Value resources = Value::object({{"cpu", "64"}, {"memory", "256Gi"}, {"pods", "110"}});
    const Value ready = Value::object({{"type", "Ready"}, {"status", "True"}});
    member.put({"nodes", "", name},
               Value::object(
                   {{"apiVersion", "v1"},
                    {"kind", "Node"},
                    {"metadata", Value::object({{"name", name}})},
                    {"status", Value::object({{"allocatable", resources}, {"conditions", Value::array({ready})}})}}));
  }
}

/// A Deployment whose pods request so much; `cpu` empty: nothing.
inline Value deployment_requesting(const std::string& ns, const std::string& name, int64_t replicas,
                                   const std::string& cpu) {
  Value object = deployment(ns, name, replicas);
  if (cpu.empty()) return object;
  Value::Array& containers = object.edit("spec").edit("template").edit("spec").edit("containers").edit_items();
  containers.front().set("resources", Value::object({{"requests", Value::object({{"cpu", cpu}})}}));
  return object;
}

/// The policy of one Deployment, with the same name.
inline void put_policy(Stage& stage, const std::string& ns, const std::string& name, const Value& placement) {
  const Value selector = Value::object({{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", name}});
  stage.put({type::kPropagationPolicy, ns, name},
            Value::object({{"apiVersion", "policy.karmada.io/v1alpha1"},
                           {"kind", "PropagationPolicy"},
                           {"metadata", Value::object({{"name", name}, {"namespace", ns}, {"generation", 1}})},
                           {"spec", Value::object({{"conflictResolution", "Abort"},
                                                   {"preemption", "Never"},
                                                   {"priority", 0},
                                                   {"schedulerName", "default-scheduler"},
                                                   {"resourceSelectors", Value::array({selector})},
                                                   {"placement", placement}})}}));
}

}  // namespace shiplog::testing
