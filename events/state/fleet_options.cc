#include "events/state/fleet_options.h"

#include <algorithm>
#include <array>

#include "events/state/eviction.h"

namespace shiplog {
namespace {

using Words = std::vector<std::string>;

struct Option {
  std::string_view name;
  Words FleetOptions::*words;
};

// Sorted by name.
constexpr std::array<Option, 18> kOptions = {
    {{"allow-no-execute-taint-policy", &FleetOptions::no_execute_policies},
     {"controllers", &FleetOptions::controllers},
     {"descheduling-interval", &FleetOptions::descheduling_interval},
     {"enable-empty-workload-propagation", &FleetOptions::empty_workloads},
     {"enable-no-execute-taint-eviction", &FleetOptions::no_execute_eviction},
     {"enable-policy-author-check", &FleetOptions::policy_author_check},
     {"enable-taint-manager", &FleetOptions::taint_manager},
     {"eviction-budget", &FleetOptions::eviction_budget},
     {"graceful-eviction-timeout", &FleetOptions::eviction_timeout},
     {"namespaced-policy-apis", &FleetOptions::namespaced_policy_apis},
     {"no-execute-taint-eviction-purge-mode", &FleetOptions::eviction_purge_mode},
     {"plugins", &FleetOptions::plugins},
     {"resource-eviction-rate", &FleetOptions::eviction_rate},
     {"service-cluster-ip-range", &FleetOptions::service_networks},
     {"service-node-port-range", &FleetOptions::service_node_ports},
     {"skipped-propagating-apis", &FleetOptions::skipped_apis},
     {"skipped-propagating-namespaces", &FleetOptions::skipped_namespaces},
     {"unschedulable-threshold", &FleetOptions::unschedulable_threshold}}};

bool is_true(const Words& words) { return words.size() == 1 && words.front() == "true"; }

/// The controllers that are on by default and can be left out, sorted.
constexpr std::array<std::string_view, 7> kOnByDefault = {"applicationFailover",
                                                          "cronFederatedHorizontalPodAutoscaler",
                                                          "federatedHorizontalPodAutoscaler",
                                                          "multiclusterservice",
                                                          "remedy",
                                                          "serviceExport",
                                                          "serviceImport"};

bool says_not(std::string_view word, std::string_view name) { return word.starts_with('-') && word.substr(1) == name; }

}  // namespace

bool FleetOptions::plugin_on(std::string_view name) const {
  if (plugins.size() == 1 && plugins.front() == "*") return true;
  bool on = std::ranges::find(plugins, "*") != plugins.end();
  for (const std::string& word : plugins) {
    if (word == name) on = true;
    if (says_not(word, name)) on = false;
  }
  return on;
}

bool FleetOptions::controller_on(std::string_view name) const {
  for (const std::string& word : controllers) {
    if (word == name) return true;
    if (says_not(word, name)) return false;
  }
  return std::ranges::find(kOnByDefault, name) != kOnByDefault.end() &&
         std::ranges::find(controllers, "*") != controllers.end();
}

bool FleetOptions::propagates_empty_workloads() const { return is_true(empty_workloads); }

bool FleetOptions::checks_policy_authors() const { return is_true(policy_author_check); }

bool FleetOptions::allows_no_execute_policies() const { return is_true(no_execute_policies); }

bool FleetOptions::evicts_for_no_execute() const { return is_true(no_execute_eviction) && is_true(taint_manager); }

Millis FleetOptions::graceful_eviction_timeout() const {
  const auto parsed = parse_duration(eviction_timeout.empty() ? "" : eviction_timeout.front());
  return parsed ? parsed.value() : kGracefulEvictionTimeout;
}

ObjectKey fleet_options_key() { return {kFleetOptionsType, "", "fleet"}; }

const Words& scheduler_plugin_names() {
  static const Words kNames = {"APIEnablement",    "ClusterAffinity", "ClusterEviction",  "ClusterLocality",
                               "SpreadConstraint", "TaintToleration", "WorkloadAffinity", "WorkloadAntiAffinity"};
  return kNames;
}

const Words& optional_controller_names() {
  static const Words kNames = [] {
    Words names{kDeploymentReplicasSyncer, "descheduler", kHpaScaleTargetMarker};
    names.insert(names.end(), kOnByDefault.begin(), kOnByDefault.end());
    std::ranges::sort(names);
    return names;
  }();
  return kNames;
}

FleetOptions fleet_options_from(const Value& object) {
  FleetOptions options;
  for (const auto& entry : object["spec"].members()) {
    OptionSetting setting{std::string{entry.key()}, {}};
    for (const Value& word : entry.value.items()) setting.values.push_back(word.str());
    set_fleet_option(options, setting);
  }
  return options;
}

std::vector<OptionSetting> settings_of(const FleetOptions& options) {
  const FleetOptions by_default;
  std::vector<OptionSetting> settings;
  for (const Option& option : kOptions) {
    if (options.*option.words == by_default.*option.words) continue;
    settings.push_back({std::string{option.name}, options.*option.words});
  }
  return settings;
}

bool set_fleet_option(FleetOptions& options, const OptionSetting& setting) {
  const auto* const at = std::ranges::find(kOptions, setting.name, &Option::name);
  if (at == kOptions.end()) return false;
  options.*(at->words) = setting.values;
  return true;
}

}  // namespace shiplog
