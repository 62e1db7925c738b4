#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <sys/stat.h>

#include "events/base/quantity.h"
#include "services/adapters/sandbox/child.h"
#include "services/programs/shiplogd/advertise.h"
#include "services/programs/shiplogd/fleet_options.h"
#include "services/programs/shiplogd/options.h"
#include "services/programs/shiplogd/process.h"
#include "services/roles/registry.h"

namespace shiplog {
namespace {

/// Words of the --config file in front of the real ones: what is said on the command line wins.
Result<std::vector<std::string>> with_config(std::vector<std::string> words) {
  std::string path;
  for (size_t at = 0; at < words.size(); ++at) {
    if (words[at] == "--config" && at + 1 < words.size()) path = words[at + 1];
    if (words[at].starts_with("--config=")) path = words[at].substr(9);
  }
  if (path.empty() || words.empty()) return words;
  SHIPLOG_TRY(const auto more, read_config(path));
  words.insert(words.begin() + 1, more.begin(), more.end());
  return words;
}

void add_common(CLI::App& app, CommonOptions& common, std::string& config) {
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_option("--config", config, "YAML file with any of these options (listen: 127.0.0.1:7443)")->type_name("FILE");
  app.add_option("--listen", common.listen, "Where the API listens; port 0 takes a free one")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--kubeconfig-out", common.kubeconfig_out,
                 "Write the administrator's kubeconfig here, once the API answers")
      ->type_name("FILE");
  app.add_option("--logging-format", common.log_format, "How log lines look")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, log::Format>{{"text", log::Format::kText}, {"json", log::Format::kJson}}))
      ->default_str("text");
  app.add_option("--log-level", common.log_level, "The least important lines that are logged")
      ->transform(CLI::CheckedTransformer(std::map<std::string, log::Level>{{"debug", log::Level::kDebug},
                                                                            {"info", log::Level::kInfo},
                                                                            {"warn", log::Level::kWarn},
                                                                            {"error", log::Level::kError}}))
      ->default_str("info");
  app.add_option("--max-connections", common.max_connections, "Connections beyond this are closed")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--max-connections-per-address", common.max_connections_per_address,
                 "Connections from one address beyond this are closed")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  const std::string shared = " in all, and beyond half of it of one user, get 429; system:masters are not counted";
  app.add_option("--max-requests-inflight", common.limits.reads, "Reading requests beyond this" + shared)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--max-mutating-requests-inflight", common.limits.writes, "Writing requests beyond this" + shared)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--max-watches", common.limits.watches, "Watches beyond this" + shared)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--max-untaken-bytes", common.limits.untaken_bytes,
                 "A user who has left more bytes of answers untaken gets 429 for further requests")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--max-body-bytes", common.max_body_bytes, "Request bodies beyond this get 413")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

CLI::Validator quantity() {
  return CLI::Validator{[](std::string& text) {
                          const auto parsed = parse_quantity(text);
                          return parsed ? std::string{} : parsed.error().message;
                        },
                        "QUANTITY"};
}

/// The scheduler's options for estimators, called as upstream's are.
void add_estimators(CLI::App& app, EstimatorOptions& options, int64_t& timeout_ms) {
  app.add_flag("--enable-scheduler-estimator", options.enabled,
               "Ask the members' estimators how many replicas they have room for");
  app.add_option("--scheduler-estimator-timeout", timeout_ms, "How long all estimators together have, in milliseconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--scheduler-estimator-port", options.port, "Where estimators listen, without an annotation")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app.add_option("--scheduler-estimator-service-prefix", options.service_prefix,
                 "An estimator's Service is called PREFIX-CLUSTER")
      ->capture_default_str();
  app.add_option("--scheduler-estimator-service-namespace", options.service_namespace, "Where these Services are")
      ->capture_default_str();
  app.add_flag("--disable-scheduler-estimator-in-pull-mode", options.not_in_pull_mode,
               "Do not ask the estimators of clusters in Pull mode");
  app.add_option("--scheduler-estimator-cert-file", options.certificate_file, "What the scheduler shows to estimators")
      ->type_name("FILE");
  app.add_option("--scheduler-estimator-key-file", options.key_file, "Its key")->type_name("FILE");
  app.add_option("--scheduler-estimator-ca-file", options.ca_file,
                 "Who has signed the estimators' certificates; without it they are spoken to without TLS")
      ->type_name("FILE");
  app.add_flag("--insecure-skip-estimator-verify", options.skip_verify, "Speak TLS and take any certificate");
}

/// Options that decisions read, called as upstream's are: what is not given stays as the journal has it.
constexpr std::array<std::pair<const char*, const char*>, 7> kFleetOptions = {
    {{"skipped-propagating-namespaces",
      "Regular expressions of namespaces whose objects are not propagated, nor are they; reserved ones never are "
      "[kube-.*]"},
     {"skipped-propagating-apis",
      "What is not propagated, between semicolons: GROUP, GROUP/VERSION, GROUP/VERSION/KIND,KIND, v1/KIND,KIND [none]"},
     {"namespaced-policy-apis",
      "What policies of namespaces may select and override, written as for --skipped-propagating-apis [everything]"},
     {"service-cluster-ip-range",
      "Where Services get their cluster IPs from: a network, or one of IPv4 and one of IPv6, that of most Services "
      "first "
      "[10.96.0.0/12]"},
     {"service-node-port-range", "Where Services get their node ports from [30000-32767]"},
     {"plugins", "The scheduler's plugins: * for all, NAME for one, -NAME to leave one out [*]"},
     {"controllers",
      "* and what is off by default: hpaScaleTargetMarker, deploymentReplicasSyncer; -NAME switches it off again "
      "[*]"}}};
constexpr const char* kEmptyWorkloads = "enable-empty-workload-propagation";
constexpr const char* kPolicyAuthorCheck = "enable-policy-author-check";

struct FleetWords {
  std::map<std::string, std::string> lists;
  bool empty_workloads = false;
  bool policy_author_check = false;
};

void add_fleet_options(CLI::App& app, FleetWords& words) {
  for (const auto& [name, what] : kFleetOptions) {
    app.add_option("--" + std::string{name}, words.lists[name], what)->type_name("WORD,...");
  }
  app.add_flag("--" + std::string{kEmptyWorkloads}, words.empty_workloads,
               "Selected clusters that get no replicas get the workload all the same, with 0 [false]");
  app.add_flag("--" + std::string{kPolicyAuthorCheck}, words.policy_author_check,
               "Policies propagate and override only objects that the user who last wrote them may get [false]");
}

Result<std::vector<OptionSetting>> fleet_options(const CLI::App& app, const FleetWords& words) {
  std::vector<OptionSetting> settings;
  for (const auto& [name, text] : words.lists) {
    if (app.count("--" + name) == 0) continue;
    SHIPLOG_TRY(auto setting, parse_fleet_option(name, text));
    settings.push_back(std::move(setting));
  }
  if (app.count("--" + std::string{kEmptyWorkloads}) > 0) {
    settings.push_back({kEmptyWorkloads, {words.empty_workloads ? "true" : "false"}});
  }
  if (app.count("--" + std::string{kPolicyAuthorCheck}) > 0) {
    settings.push_back({kPolicyAuthorCheck, {words.policy_author_check ? "true" : "false"}});
  }
  return settings;
}

CLI::App* add_estimator(CLI::App& app, EstimatorServerOptions& options, std::string& config) {
  auto* command = app.add_subcommand("estimator", "Tell schedulers how many replicas a member has room for (gRPC)");
  command->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  command->add_option("--config", config, "YAML file with any of these options")->type_name("FILE");
  command->add_option("--cluster-name", options.cluster, "The member's name; questions about others are refused")
      ->required();
  command->add_option("--kubeconfig", options.kubeconfig, "How to reach the member")->type_name("FILE")->required();
  command->add_option("--context", options.context, "Of the kubeconfig, instead of its current one");
  command->add_option("--listen", options.listen, "Where questions are taken; port 0 takes a free one")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  command->add_option("--address-out", options.address_out, "Write HOST:PORT here, once it listens")->type_name("FILE");
  command->add_option("--grpc-auth-cert-file", options.certificate_file, "The server's certificate; without it, no TLS")
      ->type_name("FILE");
  command->add_option("--grpc-auth-key-file", options.key_file, "Its key")->type_name("FILE");
  command
      ->add_option("--grpc-client-ca-file", options.client_ca_file,
                   "Who has signed the certificates of those who may ask; without it anybody may")
      ->type_name("FILE");
  command->add_option("--fresh-ms", options.fresh_ms, "What is known of the member counts for so long")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--logging-format", options.log_format, "How log lines look")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, log::Format>{{"text", log::Format::kText}, {"json", log::Format::kJson}}))
      ->default_str("text");
  return command;
}

std::string words_of(const std::vector<std::string>& words, const std::string& between) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : between) + word;
  return joined;
}

std::string check_roles(std::vector<std::string>& roles) {
  const std::vector<std::string> selectable = selectable_roles();
  if (std::ranges::find(roles, "all") != roles.end()) roles = selectable;
  for (const std::string& role : roles) {
    if (std::ranges::find(selectable, role) != selectable.end()) continue;
    return "--roles: there is no role \"" + role + "\"; there are: all, " + words_of(selectable, ", ");
  }
  return "";
}

int run(std::vector<std::string> words) {
  auto configured = with_config(std::move(words));
  if (!configured) {
    std::fprintf(stderr, "shiplogd: %s\n", configured.error().message.c_str());
    return 2;
  }
  words = std::move(configured).value();

  CLI::App app{"shiplog: a control plane for many Kubernetes clusters whose database is a message log", "shiplogd"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "shiplogd " SHIPLOG_VERSION);
  std::string config;

  ServeOptions serving;
  serving.common.listen = "127.0.0.1:7443";
  serving.common.data_dir = "shiplog-data";
  serving.roles = {"all"};
  auto* serve_command = app.add_subcommand("serve", "Run the control plane, or some of its roles");
  add_common(*serve_command, serving.common, config);
  serve_command
      ->add_option("--roles", serving.roles,
                   "Roles of this process, comma-separated: all, " + words_of(selectable_roles(), ", "))
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("ROLE,...")
      ->default_str("all");
  serve_command->add_option("--data-dir", serving.common.data_dir, "This process's own files: projection, snapshots")
      ->type_name("DIR")
      ->capture_default_str();
  serve_command
      ->add_option("--journal", serving.journal.journal,
                   "The fleet's journal; processes that share it form one control plane. Keys, certificates "
                   "and the ephemera lie beside a file [sqlite:DATA-DIR/journal.db]")
      ->type_name("sqlite:FILE|kafka:BROKER,.../FLEET");
  serve_command
      ->add_option("--kafka-option", serving.journal.kafka,
                   "A setting of librdkafka; may be given again and again. Secrets belong into the --config file, as "
                   "others can see a command line")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("KEY=VALUE");
  serve_command
      ->add_option("--kafka-replicas", serving.journal.kafka_replicas,
                   "Replicas of topics that are made; 0: three, or as many as there are brokers")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  serve_command
      ->add_option("--keys-dir", serving.keys_dir,
                   "The fleet's key and certificates, and the keys of Secrets unless the journal is on Kafka "
                   "[beside a journal file; on Kafka DATA-DIR]")
      ->type_name("DIR");
  serve_command->add_option("--tls-san", serving.names, "More names or addresses for the server's certificate")
      ->delimiter(',')
      ->type_name("NAME,...");
  serve_command
      ->add_option("--advertise-address", serving.advertise_address,
                   "The IP address that the Service \"kubernetes\" leads to (default: the one listened on, else the "
                   "first of this machine)")
      ->check(CLI::Validator{
          [](std::string& text) { return is_ip_address(text) ? std::string{} : "not an IP address: " + text; }, "IP"});
  serve_command->add_flag("--anonymous-auth", serving.anonymous,
                          "Let requests without credentials in as system:anonymous, with what roles grant it");
  std::vector<std::string> gates;
  serve_command
      ->add_option("--feature-gates", gates,
                   "Behaviour of the fleet that is off by default: MultiplePodTemplatesScheduling, "
                   "SchedulingOvercommitProtection. What is not named stays as the journal has it")
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("NAME=true|false,...");
  std::string denied_networks = kLinkLocalNetworks;
  serve_command
      ->add_option("--denied-networks", denied_networks,
                   "Networks that webhooks, members and estimators are never called in, whatever name leads there; "
                   "an empty value allows all")
      ->type_name("CIDR,...")
      ->capture_default_str();
  serve_command->add_option("--hash-every", serving.hash_every, "Record the state hash every so many revisions")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  serve_command
      ->add_option("--snapshot-every", serving.snapshot_every, "Take a snapshot every so many entries; 0: never")
      ->capture_default_str();

  FleetWords fleet_words;
  add_fleet_options(*serve_command, fleet_words);

  int64_t estimators_have = serving.estimators.timeout.value;
  add_estimators(*serve_command, serving.estimators, estimators_have);

  auto* roles_command = app.add_subcommand("roles", "Print the roles that --roles knows, one a line");

  EstimatorServerOptions estimating;
  auto* estimator_command = add_estimator(app, estimating, config);

  TrialMemberOptions trial;
  std::string cpu = "8";
  std::string memory = "16Gi";
  int64_t ready_ms = trial.member.ready_delay.value;
  auto* member_command = app.add_subcommand("member", "Run a trial member cluster, in memory, with simulated nodes");
  add_common(*member_command, trial.common, config);
  member_command->add_option("--name", trial.member.name, "The cluster's name")->required();
  member_command
      ->add_option("--data-dir", trial.common.data_dir,
                   "Keep the member's certificates here, so that it is the same cluster after a restart")
      ->type_name("DIR");
  member_command->add_option("--nodes", trial.member.nodes, "Simulated nodes")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  member_command->add_option("--node-cpu", cpu, "CPU of each node")->check(quantity())->capture_default_str();
  member_command->add_option("--node-memory", memory, "Memory of each node")->check(quantity())->capture_default_str();
  member_command->add_option("--ready-delay-ms", ready_ms, "How long a pod takes to become ready")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  member_command->add_option("--latency-ms", trial.latency_ms, "Misbehave: answer every request this late")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  member_command
      ->add_option("--refuse", trial.refuse, "Misbehave: refuse requests: none, writes, all, or an HTTP status")
      ->capture_default_str();
  member_command
      ->add_option("--flap-seconds", trial.flap_seconds, "Misbehave: up for so long, down for so long; 0: not")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();

  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }

  if (roles_command->parsed()) {
    std::printf("%s\n", words_of(selectable_roles(), "\n").c_str());
    return 0;
  }
  block_signals();
  allow_open_files();
  if (serve_command->parsed()) {
    if (const std::string wrong = check_roles(serving.roles); !wrong.empty()) {
      std::fprintf(stderr, "shiplogd: %s\n", wrong.c_str());
      return 2;
    }
    auto set = parse_feature_gates(gates);
    if (!set) {
      std::fprintf(stderr, "shiplogd: %s\n", set.error().message.c_str());
      return 2;
    }
    serving.feature_gates = std::move(set).value();
    auto said = fleet_options(*serve_command, fleet_words);
    if (!said) {
      std::fprintf(stderr, "shiplogd: %s\n", said.error().message.c_str());
      return 2;
    }
    serving.fleet_options = std::move(said).value();
    auto denied = parse_networks(denied_networks);
    if (!denied) {
      std::fprintf(stderr, "shiplogd: --denied-networks: %s\n", denied.error().message.c_str());
      return 2;
    }
    serving.denied_networks = std::move(denied).value();
    if (serving.journal.journal.empty()) serving.journal.journal = "sqlite:" + serving.common.data_dir + "/journal.db";
    log::configure(serving.common.log_format, serving.common.log_level);
    serving.estimators.timeout = Millis{estimators_have};
    return serve(serving);
  }
  if (estimator_command->parsed()) {
    log::configure(estimating.log_format, log::Level::kInfo);
    return estimator_server(estimating);
  }
  trial.member.node_cpu = parse_quantity(cpu).value();
  trial.member.node_memory = parse_quantity(memory).value();
  trial.member.ready_delay = Millis{ready_ms};
  log::configure(trial.common.log_format, trial.common.log_level);
  return trial_member(trial);
}

}  // namespace
}  // namespace shiplog

int main(int argc, char** argv) {
  ::umask(0077);  // whatever is written here is for this user alone
  // Not for people: the process that a control plane starts for scripts. Before anything else is set up.
  if (argc == 2 && std::string_view{argv[1]} == "interpret") return shiplog::sandbox::run_child();
  return shiplog::run({argv + 1, argv + argc});
}
