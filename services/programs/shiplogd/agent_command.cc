#include "services/programs/shiplogd/agent_command.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include <CLI/CLI.hpp>

#include "services/programs/agent/member_agent.h"
#include "services/programs/shiplogd/command_options.h"
#include "services/programs/shiplogd/probes.h"
#include "services/programs/shiplogd/process.h"
#include "services/programs/shiplogd/process_metrics.h"
#include "services/runtime/log.h"

namespace shiplog {
namespace {

constexpr std::array<const char*, 3> kReports = {"KubeCredentials", "KubeImpersonator", "None"};

Result<void> read_duration(const char* option, const std::string& text, Millis& into) {
  const auto read = parse_duration(text);
  if (!read) return read.error().context(option);
  if (read.value().value <= 0) {
    return Error{ErrorCode::kInvalid, std::string{option} + ": a duration above 0 is expected, not \"" + text + "\""};
  }
  into = read.value();
  return ok();
}

Result<void> run_agent(const agent::AgentOptions& options, const ProbeOptions& probe_options) {
  agent::MemberAgent member_agent{options};
  const auto process_metrics = export_process_metrics();
  SHIPLOG_TRY(member_agent.start());
  SHIPLOG_TRY(const auto probes,
              start_probes(probe_options, [&](std::string_view path) { return member_agent.health(path); }));
  wait_for_stop();
  log::info("process.stopping", {});
  const StopDeadline deadline{Millis{10'000}};
  member_agent.stop();
  return ok();
}

}  // namespace

AgentCommand::AgentCommand(CLI::App& app, std::string& config)
    : command_{*app.add_subcommand("agent", "Connect a pull member to its control plane, from inside of it")} {
  command_.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  command_.add_option("--config", config, "YAML file with any of these options")->type_name("FILE");
  add_control_plane_options();
  add_member_options();
  add_timing_options();
  add_rotation_options();
  add_probes(command_, probes_, kAnyLocalPort);
  add_logging(command_, log_format_, log_level_);
  add_upstream_flags(command_, upstream_);
}

void AgentCommand::add_control_plane_options() {
  command_
      .add_option("--karmada-kubeconfig", options_.karmada_kubeconfig,
                  "How to reach the control plane; read again when it changes")
      ->type_name("FILE")
      ->required();
  command_.add_option("--karmada-context", options_.karmada_context, "Its context, instead of its current one")
      ->type_name("NAME");
  command_.add_option("--cluster-name", options_.cluster, "The member's name in the control plane")
      ->type_name("NAME")
      ->required();
  command_
      .add_option("--cluster-namespace", options_.cluster_namespace,
                  "Namespace of the control plane for the member's Lease and Secrets")
      ->type_name("NAMESPACE")
      ->capture_default_str();
  command_.add_option("--cluster-provider", options_.provider, "Entered into a Cluster that the agent creates")
      ->type_name("TEXT");
  command_.add_option("--cluster-region", options_.region, "Entered into a Cluster that the agent creates")
      ->type_name("TEXT");
  command_.add_option("--cluster-zones", options_.zones, "Entered into a Cluster that the agent creates")
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("ZONE,...");
  command_
      .add_option("--cluster-api-endpoint", options_.api_endpoint,
                  "The member's address in its Cluster [that by which the agent reaches it]")
      ->type_name("URL");
  command_
      .add_option(
          "--proxy-server-address", options_.proxy_address,
          "spec.proxyURL of a Cluster that the agent creates: how clients of the control plane reach the member")
      ->type_name("URL");
  command_
      .add_option("--report-secrets", report_secrets_,
                  "Credentials for the member that are stored in the control plane: KubeCredentials, KubeImpersonator, "
                  "or None [KubeCredentials,KubeImpersonator]")
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(CLI::IsMember(std::vector<std::string>{kReports.begin(), kReports.end()}))
      ->type_name("WORD,...");
}

void AgentCommand::add_member_options() {
  command_
      .add_option("--kubeconfig", options_.kubeconfig,
                  "How to reach the member [the service account of the pod that the agent runs in]")
      ->type_name("FILE");
  command_.add_option("--context", options_.context, "Context of --kubeconfig, instead of its current one")
      ->type_name("NAME");
  command_.add_option("--concurrent-work-syncs", options_.works_at_once, "Works that are applied at the same time")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command_.add_flag("--enable-cluster-resource-modeling", options_.counts_resources,
                    "Count the nodes and pods of the member into the status of its Cluster [true]");
  add_summary_thresholds(command_, options_.summaries);
  command_
      .add_option("--controllers", controllers_,
                  "*, and certRotation to rotate the certificate for the control plane [*]")
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("WORD,...");
}

void AgentCommand::add_timing_options() {
  const auto add = [&](const char* name, std::string& text, const char* what) {
    command_.add_option(name, text, what)->type_name("DURATION")->capture_default_str();
  };
  add("--cluster-status-update-frequency", status_every_, "How often the member is probed");
  add("--cluster-success-threshold", success_threshold_, "So long the member is healthy before it is Ready again");
  add("--cluster-failure-threshold", failure_threshold_, "So long the member is unhealthy before it is not Ready");
  add("--cluster-lease-duration", lease_duration_, "Of the Lease that shows that the agent lives");
  command_
      .add_option("--cluster-lease-renew-interval-fraction", options_.lease_renew_fraction,
                  "The part of this duration after which it is renewed")
      ->check(CLI::Range(0.01, 0.99))
      ->capture_default_str();
}

void AgentCommand::add_rotation_options() {
  command_
      .add_option("--cert-rotation-checking-interval", rotation_check_every_,
                  "How often it is checked whether the certificate for the control plane has to be rotated")
      ->type_name("DURATION")
      ->capture_default_str();
  command_
      .add_option("--cert-rotation-remaining-time-threshold", options_.rotation_threshold,
                  "It is rotated when no more than this part of its lifetime is left")
      ->check(CLI::Range(0.01, 0.99))
      ->capture_default_str();
  command_
      .add_option("--karmada-kubeconfig-namespace", options_.karmada_kubeconfig_namespace,
                  "Namespace of the member with the Secret karmada-kubeconfig")
      ->type_name("NAMESPACE")
      ->capture_default_str();
}

bool AgentCommand::parsed() const { return command_.parsed(); }

Result<void> AgentCommand::read_words() {
  std::erase(options_.zones, "");
  SHIPLOG_TRY(check_upstream_flags(command_, upstream_, warnings_));
  SHIPLOG_TRY(read_duration("--cluster-status-update-frequency", status_every_, options_.status_every));
  SHIPLOG_TRY(read_duration("--cluster-success-threshold", success_threshold_, options_.success_threshold));
  SHIPLOG_TRY(read_duration("--cluster-failure-threshold", failure_threshold_, options_.failure_threshold));
  SHIPLOG_TRY(read_duration("--cluster-lease-duration", lease_duration_, options_.lease_duration));
  SHIPLOG_TRY(read_duration("--cert-rotation-checking-interval", rotation_check_every_, options_.rotation_check_every));
  const auto reports = [&](const char* word) {
    return std::ranges::find(report_secrets_, word) != report_secrets_.end();
  };
  if (!report_secrets_.empty()) {
    options_.reports_credentials = reports("KubeCredentials");
    options_.reports_impersonator = reports("KubeImpersonator");
    if (reports("None") && report_secrets_.size() > 1) {
      return Error{ErrorCode::kInvalid, "--report-secrets: None excludes the others"};
    }
  }
  for (const std::string& word : controllers_) {
    if (word == "certRotation") {
      options_.rotates_certificate = true;
    } else if (word == "-certRotation") {
      options_.rotates_certificate = false;
    } else if (word != "*") {
      return Error{ErrorCode::kInvalid,
                   "--controllers: only *, certRotation and -certRotation can be chosen here, not \"" + word +
                       "\": the agent does all of its work or none"};
    }
  }
  return ok();
}

int AgentCommand::run() {
  if (const auto read = read_words(); !read) return usage_error(read.error().message);
  log::configure(log_format_, log_level_);
  for (const std::string& warning : warnings_) log::warn("option.ignored", {log::kv("reason", warning)});
  options_.user_agent = "shiplogd-agent/" SHIPLOG_VERSION;
  if (const auto ran = run_agent(options_, probes_); !ran) {
    std::fprintf(stderr, "shiplogd: %s\n", ran.error().message.c_str());
    return 1;
  }
  return stopped_by_failure() ? 1 : 0;
}

}  // namespace shiplog
