#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "events/control.h"
#include "events/state/service_ranges.h"

namespace shiplog {

/// The options of the control plane that decisions read; recorded in the journal (OptionsSet), so that every
/// decision, now or in a replay, uses the options of its revision. The values are as given on the command line.
struct FleetOptions {
  std::vector<std::string> no_execute_policies = {"false"};  ///< --allow-no-execute-taint-policy
  std::vector<std::string> controllers = {"*"};
  std::vector<std::string> descheduling_interval = {"2m"};        ///< --descheduling-interval, a Go duration
  std::vector<std::string> empty_workloads = {"false"};           ///< --enable-empty-workload-propagation (S-46)
  std::vector<std::string> no_execute_eviction = {"false"};       ///< --enable-no-execute-taint-eviction
  std::vector<std::string> taint_manager = {"true"};              ///< --enable-taint-manager
  std::vector<std::string> eviction_budget;                       ///< --eviction-budget; none: no limit
  std::vector<std::string> eviction_rate = {"0.5"};               ///< --resource-eviction-rate, per second
  std::vector<std::string> eviction_timeout = {"10m"};            ///< --graceful-eviction-timeout, a Go duration
  std::vector<std::string> eviction_purge_mode = {"Gracefully"};  ///< --no-execute-taint-eviction-purge-mode
  std::vector<std::string> plugins = {"*"};                       ///< the scheduler's (S-23)
  std::vector<std::string> service_networks = {"10.96.0.0/12"};  ///< --service-cluster-ip-range; as Karmada installs it
  std::vector<std::string> service_node_ports = {"30000-32767"};  ///< --service-node-port-range
  std::vector<std::string> skipped_apis;                          ///< --skipped-propagating-apis (D-3)
  std::vector<std::string> skipped_namespaces = {"kube-.*"};      ///< regular expressions, of whole names (D-4)
  std::vector<std::string> policy_author_check = {"false"};       ///< --enable-policy-author-check (decision 0028)
  std::vector<std::string> unschedulable_threshold = {"5m"};      ///< --unschedulable-threshold, a Go duration
  std::vector<std::string> namespaced_policy_apis;                ///< see api_selector.h; none: no restriction
  bool operator==(const FleetOptions&) const = default;

  /// A plugin of the scheduler is on: "*" or its name enables it, "-NAME" behind that disables it.
  bool plugin_on(std::string_view name) const;
  /// One of optional_controller_names() is on: its name enables it, "-NAME" disables it; of several such words the
  /// first counts. Without one, "*" enables those that are on by default (applicationFailover).
  bool controller_on(std::string_view name) const;
  bool propagates_empty_workloads() const;
  ServiceRanges service_ranges() const { return service_ranges_from(service_networks, service_node_ports); }
  bool checks_policy_authors() const;
  /// ClusterTaintPolicies may have taints with the effect NoExecute.
  bool allows_no_execute_policies() const;
  /// NoExecute taints evict, where the gate Failover is on, too.
  bool evicts_for_no_execute() const;
  /// How long an eviction task waits that has no grace period of its own.
  Millis graceful_eviction_timeout() const;
  /// "Gracefully" or "Directly", of evictions whose policy says nothing.
  const std::string& purge_mode() const { return eviction_purge_mode.front(); }
};

/// Where the options in force are kept: the control plane's own, not served.
inline constexpr const char* kFleetOptionsType = "options.control.shiplog.io";
ObjectKey fleet_options_key();

/// The scheduler's plugins, sorted.
const std::vector<std::string>& scheduler_plugin_names();
/// The controllers that --controllers switches, sorted.
const std::vector<std::string>& optional_controller_names();
inline constexpr const char* kHpaScaleTargetMarker = "hpaScaleTargetMarker";
inline constexpr const char* kDeploymentReplicasSyncer = "deploymentReplicasSyncer";

/// From that object; null: all are as by default.
FleetOptions fleet_options_from(const Value& object);
/// The options in force, as a view of State.
struct FleetOptionsView {
  static bool wants(std::string_view type) { return type == kFleetOptionsType; }
  void update(const ObjectKey&, const Value&, const Value& after) { options = fleet_options_from(after); }
  bool operator==(const FleetOptionsView&) const = default;

  FleetOptions options;
};
/// Those that are not as by default, sorted by name.
std::vector<OptionSetting> settings_of(const FleetOptions& options);
/// False: there is no such option.
bool set_fleet_option(FleetOptions& options, const OptionSetting& setting);

}  // namespace shiplog
