#include "services/programs/shiplogd/estimator_command.h"

#include <CLI/CLI.hpp>

#include "services/programs/shiplogd/command_options.h"
#include "services/programs/shiplogd/process.h"

namespace shiplog {

EstimatorCommand::EstimatorCommand(CLI::App& app, std::string& config)
    : command_{*app.add_subcommand("estimator", "Report to schedulers how many replicas fit on a member (gRPC)")} {
  command_.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  command_.add_option("--config", config, "YAML file with any of these options")->type_name("FILE");
  command_.add_option("--cluster-name", options_.cluster, "The member's name; requests for others are refused")
      ->required();
  command_.add_option("--kubeconfig", options_.kubeconfig, "How to reach the member")->type_name("FILE")->required();
  command_.add_option("--context", options_.context, "Context of the kubeconfig, instead of its current one");
  command_.add_option("--master", options_.master, "Address of the member's API, instead of the kubeconfig's")
      ->expected(0, 1)
      ->type_name("URL");
  command_.add_option("--listen", options_.listen, "Address to listen on; port 0 selects a free one")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  command_.add_option("--server-port", server_port_, "Port to listen on, instead of that of --listen")
      ->check(CLI::Range(1, 65535));
  command_.add_option("--address-out", options_.address_out, "Write HOST:PORT here, once it listens")
      ->type_name("FILE");
  command_
      .add_option("--grpc-auth-cert-file", options_.certificate_file, "The server's certificate; without it, no TLS")
      ->type_name("FILE");
  command_.add_option("--grpc-auth-key-file", options_.key_file, "Its key")->type_name("FILE");
  command_
      .add_option("--grpc-client-ca-file", options_.client_ca_file,
                  "Authority of client certificates; without it every client is served")
      ->type_name("FILE");
  command_.add_flag("--insecure-skip-grpc-client-verify", options_.skip_client_verify,
                    "Serve clients without a certificate, too, although there is an authority for these");
  command_
      .add_option("--feature-gates", gates_,
                  "ResourceQuotaEstimate=true: the member's ResourceQuotas limit the estimates, too")
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("NAME=BOOL,...");
  add_probes(command_, options_.probes, kAnyLocalPort);
  add_logging(command_, options_.log_format, options_.log_level);
  add_upstream_flags(command_, upstream_);
}

bool EstimatorCommand::parsed() const { return command_.parsed(); }

Result<void> EstimatorCommand::read_words() {
  SHIPLOG_TRY(const auto gates, parse_feature_gates(gates_, warnings_));
  for (const auto& [name, on] : gates) {
    if (name == "ResourceQuotaEstimate") options_.with_quotas = on;  // the other gates are the control plane's
  }
  SHIPLOG_TRY(check_upstream_flags(command_, upstream_, warnings_));
  if (server_port_ != 0) {
    const size_t colon = options_.listen.rfind(':');
    options_.listen = options_.listen.substr(0, colon) + ":" + std::to_string(server_port_);
  }
  return ok();
}

int EstimatorCommand::run() {
  if (const auto read = read_words(); !read) return usage_error(read.error().message);
  log::configure(options_.log_format, options_.log_level);
  for (const std::string& warning : warnings_) log::warn("option.ignored", {log::kv("reason", warning)});
  return estimator_server(options_);
}

}  // namespace shiplog
