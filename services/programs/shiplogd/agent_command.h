#pragma once

#include <string>
#include <vector>

#include "services/programs/agent/options.h"
#include "services/programs/shiplogd/options.h"
#include "services/programs/shiplogd/upstream_flags.h"

namespace shiplog {

/// shiplogd agent, with the flags of karmada-agent.
class AgentCommand {
 public:
  AgentCommand(CLI::App& app, std::string& config);
  bool parsed() const;
  /// Exit code.
  int run();

 private:
  void add_control_plane_options();
  void add_member_options();
  void add_timing_options();
  void add_rotation_options();
  Result<void> read_words();

  CLI::App& command_;
  agent::AgentOptions options_;
  ProbeOptions probes_ = {kAnyLocalPort, ""};
  log::Format log_format_ = log::Format::kText;
  log::Level log_level_ = log::Level::kInfo;
  std::vector<std::string> report_secrets_, controllers_;
  std::string status_every_ = "10s", success_threshold_ = "30s", failure_threshold_ = "30s";
  std::string lease_duration_ = "40s", rotation_check_every_ = "5m";
  UpstreamFlags upstream_{UpstreamPrograms::kAgent, {}};
  std::vector<std::string> warnings_;
};

}  // namespace shiplog
