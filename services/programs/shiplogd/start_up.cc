#include "services/programs/shiplogd/start_up.h"

#include "events/fold/fold.h"
#include "events/kinds/kinds.h"
#include "events/state/feature_gates.h"
#include "events/state/fleet_options.h"
#include "events/state/new_namespace.h"
#include "events/state/system_priority_classes.h"
#include "services/api/auth/rbac/agent_access.h"
#include "services/api/auth/rbac/bootstrap.h"
#include "services/roles/apiservice_registration/decide.h"

namespace shiplog {
namespace {

/// The namespaces that every control plane has (as upstream).
constexpr const char* kSystemNamespaces[] = {"default",     "kube-node-lease", "kube-public",
                                             "kube-system", "karmada-cluster", "karmada-system"};

Revision revision_of(const State& state, const ObjectKey& key) {
  const Object* object = state.find(key);
  return object == nullptr ? Revision{} : object->revision;
}

Decided decide_settings(const State& state, const StartUp& start) {
  DecisionBuilder decision;
  FeatureGates gates = state.recorded_gates();
  for (const auto& [name, on] : start.feature_gates) set_feature_gate(gates, name, on);
  if (gates != state.recorded_gates()) {
    decision.add(FeatureGatesSet{names_of(gates)}, {feature_gates_key(), revision_of(state, feature_gates_key())});
  }
  FleetOptions options = state.options();
  for (const OptionSetting& setting : start.fleet_options) set_fleet_option(options, setting);
  if (options != state.options()) {
    decision.add(OptionsSet{settings_of(options)}, {fleet_options_key(), revision_of(state, fleet_options_key())});
  }
  return std::move(decision).build();
}

Decided decide_namespaces(const State& state) {
  DecisionBuilder decision;
  for (const char* name : kSystemNamespaces) {
    const ObjectKey key{type::kNamespace, "", name};
    if (state.find(key) == nullptr) decision.add(ObjectCreated{key, new_namespace(name)}, {key, Revision{}});
  }
  return std::move(decision).build();
}

Decided decide_priority_classes(const State& state) {
  DecisionBuilder decision;
  for (const SystemPriorityClass& each : kSystemPriorityClasses) {
    const ObjectKey key{"priorityclasses.scheduling.k8s.io", "", std::string{each.name}};
    if (state.find(key) == nullptr) decision.add(ObjectCreated{key, new_priority_class(each)}, {key, Revision{}});
  }
  return std::move(decision).build();
}

}  // namespace

Decided decide_fold_version(const State& state, std::optional<uint32_t> of_all) {
  const bool is_new = state.revision() == Revision{};
  if (state.fold_version() >= kFoldVersion || (!is_new && of_all.value_or(0) < kFoldVersion)) return Nothing{};
  return Decision{{FoldVersionActivated{kFoldVersion}}, {}};
}

Decided decide_access(const State& state) {
  DecisionBuilder decision;
  for (auto missing : {api::missing_access, api::missing_agent_access}) {
    for (Event& event : missing(state)) {
      const ObjectKey key = subject_of(event);
      decision.add(std::move(event), {key, Revision{}});
    }
  }
  return std::move(decision).build();
}

std::vector<DecisionStep> start_up_steps(StartUp start, const Clock& clock) {
  std::vector<DecisionStep> steps = {
      {"fold version",
       [of_all = start.fold_version_of_all](const State& state) { return decide_fold_version(state, of_all); }},
      {"settings", [start](const State& state) { return decide_settings(state, start); }},
      {"namespaces", decide_namespaces}};
  if (!start.server) return steps;
  steps.push_back({"access", decide_access});
  steps.push_back({"priorityclasses", decide_priority_classes});
  if (start.extension_authentication) {
    steps.push_back({"extension-authentication", [own = *start.extension_authentication](const State& state) {
                       return decide_extension_authentication(state, own);
                     }});
  }
  steps.push_back({"apiservices", [&clock](const State& state) {
                     return apiservice_registration::decide(state, clock.now(), Kinds::compiled());
                   }});
  steps.push_back({"kubernetes-service", [server = start.server](const State& state) {
                     return kubernetes_service::decide(state, server(), kubernetes_service::Addresses::kReplace);
                   }});
  return steps;
}

}  // namespace shiplog
