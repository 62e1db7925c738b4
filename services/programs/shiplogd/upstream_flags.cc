#include "services/programs/shiplogd/upstream_flags.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <CLI/CLI.hpp>

#include "events/base/time.h"

namespace shiplog {
namespace {

/// Flags with the same reason to mean nothing here.
struct Ignored {
  std::string_view why;
  std::vector<std::string_view> switches;
  std::vector<std::string_view> values;
};

/// Every program of upstream has these.
const std::vector<Ignored>& ignored_everywhere() {
  static const std::vector<Ignored> kFlags = {
      {"profiles are taken with perf", {"enable-pprof"}, {"profiling-bind-address"}},
      {"--logging-format and --log-level choose what is logged",
       {"logtostderr", "alsologtostderr", "one-output", "skip-headers", "skip-log-headers", "add-dir-header",
        "legacy-stderr-threshold-behavior", "log-json-split-stream", "log-text-split-stream"},
       {"v", "vmodule", "log-dir", "log-file", "log-file-max-size", "log-flush-frequency", "stderrthreshold",
        "alsologtostderrthreshold", "log-backtrace-at", "log-json-info-buffer-size", "log-text-info-buffer-size"}},
  };
  return kFlags;
}

const std::vector<Ignored>& ignored_by_control_plane() {
  static const std::vector<Ignored> kFlags = {
      {"shiplogd is itself the API server that it would connect to",
       {},
       {"kubeconfig", "karmada-kubeconfig", "karmada-context", "master", "kube-api-qps", "kube-api-burst"}},
      {"the journal elects the leader of each role",
       {"leader-elect"},
       {"leader-elect-lease-duration", "leader-elect-renew-deadline", "leader-elect-retry-period",
        "leader-elect-resource-name", "leader-elect-resource-namespace"}},
      {"roles work in the order of the journal, without queues of a set width or rate",
       {},
       {"concurrent-work-syncs", "concurrent-resourcebinding-syncs", "concurrent-clusterresourcebinding-syncs",
        "concurrent-resource-template-syncs", "concurrent-cluster-syncs", "concurrent-dependent-resource-syncs",
        "concurrent-namespace-syncs", "concurrent-propagation-policy-syncs",
        "concurrent-cluster-propagation-policy-syncs", "rate-limiter-base-delay", "rate-limiter-max-delay",
        "rate-limiter-qps", "rate-limiter-bucket-size", "cluster-api-qps", "cluster-api-burst",
        "cluster-cache-sync-timeout", "resync-period", "federated-resource-quota-sync-period"}},
      {"there is no host cluster whose API would be used", {}, {"cluster-api-kubeconfig", "cluster-api-context"}},
      {"upstream ignores it, too, since its version 1.14",
       {},
       {"failover-eviction-timeout", "default-not-ready-toleration-seconds", "default-unreachable-toleration-seconds"}},
      {"FederatedHPAs are computed with upstream's default",
       {},
       {"horizontal-pod-autoscaler-sync-period", "horizontal-pod-autoscaler-tolerance",
        "horizontal-pod-autoscaler-downscale-stabilization", "horizontal-pod-autoscaler-upscale-delay",
        "horizontal-pod-autoscaler-downscale-delay", "horizontal-pod-autoscaler-cpu-initialization-period",
        "horizontal-pod-autoscaler-initial-readiness-delay"}},
      {"admission needs no server of its own: --listen and --tls-san are those of the API server",
       {},
       {"bind-address", "secure-port", "cert-dir", "tls-cert-file-name", "tls-private-key-file-name",
        "tls-min-version"}},
  };
  return kFlags;
}

const std::vector<Ignored>& ignored_by_estimator() {
  static const std::vector<Ignored> kFlags = {
      {"the member is watched, and asked once a second at most, by however many questions",
       {},
       {"kube-api-qps", "kube-api-burst"}},
      {"the nodes are gone through by one thread; questions are answered at the same time", {}, {"parallelism"}},
  };
  return kFlags;
}

const std::vector<Ignored>& ignored_by_agent() {
  static const std::vector<Ignored> kFlags = {
      {"two agents of one member do not harm each other: nothing older replaces something newer there",
       {"leader-elect"},
       {"leader-elect-lease-duration", "leader-elect-renew-deadline", "leader-elect-retry-period",
        "leader-elect-resource-namespace"}},
      {"requests are limited by how many are under way, not by a rate",
       {},
       {"kube-api-qps", "kube-api-burst", "cluster-api-qps", "cluster-api-burst", "rate-limiter-base-delay",
        "rate-limiter-max-delay", "rate-limiter-qps", "rate-limiter-bucket-size", "concurrent-cluster-syncs"}},
      {"what is watched is listed again when a watch fails, not at set times",
       {},
       {"resync-period", "cluster-cache-sync-timeout"}},
      {"the gates are those of the control plane", {}, {"feature-gates"}},
  };
  return kFlags;
}

/// Flags of behaviour that is as with this value, which is upstream's default.
struct Fixed {
  std::string_view name, value;
};
constexpr std::array<Fixed, 6> kFixed = {{{"cluster-failure-threshold", "30s"},
                                          {"cluster-lease-duration", "40s"},
                                          {"cluster-lease-renew-interval-fraction", "0.25"},
                                          {"cluster-status-update-frequency", "10s"},
                                          {"cluster-success-threshold", "30s"},
                                          {"scheduler-name", "default-scheduler"}}};

/// Flags of the agent, which joins and serves one cluster: with them a second control plane would start in its place.
constexpr const char* kOfTheAgent =
    "it is an option of the agent, which connects a Pull cluster to this control plane: shiplogd agent, or "
    "karmada-agent";
constexpr std::array<std::string_view, 11> kRefused = {"cert-rotation-checking-interval",
                                                       "cert-rotation-remaining-time-threshold",
                                                       "cluster-api-endpoint",
                                                       "cluster-name",
                                                       "cluster-namespace",
                                                       "cluster-provider",
                                                       "cluster-region",
                                                       "cluster-zones",
                                                       "karmada-kubeconfig-namespace",
                                                       "proxy-server-address",
                                                       "report-secrets"};

bool is_defined(const CLI::App& command, const std::string& flag) {
  return command.get_option_no_throw(flag) != nullptr;
}

void add(CLI::App& command, UpstreamFlags& flags, const UpstreamFlag& known) {
  std::string flag = "--" + known.name;
  if (is_defined(command, flag)) return;
  if (known.name.size() == 1) flag = "-" + known.name + "," + flag;
  std::string& given = flags.given[known.name];
  CLI::Option* option = known.is_switch ? command.add_flag(flag, given) : command.add_option(flag, given);
  if (!known.is_switch) option->expected(0, 1);  // a script may have --master=""
  option->group("");                             // not in --help
}

/// "1m0s" and "60s" are the same.
bool same_value(const std::string& a, std::string_view b) {
  if (a == b) return true;
  const auto one = parse_duration(a);
  const auto other = parse_duration(b);
  return one && other && one.value() == other.value();
}

}  // namespace

std::vector<UpstreamFlag> upstream_flags(UpstreamPrograms programs) {
  using Treatment = UpstreamFlag::Treatment;
  const bool control_plane = programs == UpstreamPrograms::kControlPlane;
  const auto& own = control_plane                              ? ignored_by_control_plane()
                    : programs == UpstreamPrograms::kEstimator ? ignored_by_estimator()
                                                               : ignored_by_agent();
  std::vector<UpstreamFlag> all;
  for (const auto* groups : {&ignored_everywhere(), &own}) {
    for (const Ignored& ignored : *groups) {
      const std::string why{ignored.why};
      for (const std::string_view name : ignored.switches) {
        all.push_back({std::string{name}, Treatment::kIgnored, why, true});
      }
      for (const std::string_view name : ignored.values) all.push_back({std::string{name}, Treatment::kIgnored, why});
    }
  }
  if (control_plane) {
    for (const Fixed& fixed : kFixed) {
      all.push_back({std::string{fixed.name}, Treatment::kFixed, std::string{fixed.value}, fixed.value == "true"});
    }
    for (const std::string_view name : kRefused) all.push_back({std::string{name}, Treatment::kRefused, kOfTheAgent});
  }
  std::ranges::sort(all, {}, &UpstreamFlag::name);
  return all;
}

void add_upstream_flags(CLI::App& command, UpstreamFlags& flags) {
  for (const UpstreamFlag& flag : upstream_flags(flags.programs)) add(command, flags, flag);
}

Result<void> check_upstream_flags(const CLI::App& command, const UpstreamFlags& flags,
                                  std::vector<std::string>& warnings) {
  for (const UpstreamFlag& known : upstream_flags(flags.programs)) {
    const auto given = flags.given.find(known.name);
    const std::string flag = "--" + known.name;
    if (given == flags.given.end() || command.count(flag) == 0) continue;
    switch (known.treatment) {
      case UpstreamFlag::Treatment::kRefused:
        return Error{ErrorCode::kInvalid, flag + ": " + known.why};
      case UpstreamFlag::Treatment::kFixed:
        if (same_value(given->second, known.why)) break;
        return Error{ErrorCode::kInvalid, flag + ": it is always " + known.why + " here; leave it out"};
      case UpstreamFlag::Treatment::kIgnored:
        warnings.push_back(flag + " has no effect: " + known.why);
        break;
    }
  }
  return ok();
}

}  // namespace shiplog
