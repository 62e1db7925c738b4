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
#include "services/programs/allocator.h"
#include "services/programs/empty_values.h"
#include "services/programs/option_error.h"
#include "services/programs/shiplogd/advertise.h"
#include "services/programs/shiplogd/agent_command.h"
#include "services/programs/shiplogd/audit_options.h"
#include "services/programs/shiplogd/command_options.h"
#include "services/programs/shiplogd/estimator_command.h"
#include "services/programs/shiplogd/fleet_options.h"
#include "services/programs/shiplogd/options.h"
#include "services/programs/shiplogd/process.h"
#include "services/programs/shiplogd/retention_options.h"
#include "services/programs/shiplogd/upstream_flags.h"
#include "services/roles/registry.h"

namespace shiplog {
namespace {

/// Words of the --config file in front of the real ones: options on the command line take precedence.
Result<std::vector<std::string>> with_config(std::vector<std::string> words) {
  std::string path;
  for (size_t index = 0; index < words.size(); ++index) {
    if (words[index] == "--config" && index + 1 < words.size()) path = words[index + 1];
    if (words[index].starts_with("--config=")) path = words[index].substr(9);
  }
  if (path.empty() || words.empty()) return words;
  SHIPLOG_TRY(const auto more, read_config(path));
  words.insert(words.begin() + 1, more.begin(), more.end());
  return words;
}

void add_common(CLI::App& app, CommonOptions& common, std::string& config) {
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_option("--config", config, "YAML file with any of these options (listen: 127.0.0.1:7443)")->type_name("FILE");
  app.add_option("--listen", common.listen, "Address of the API; port 0 selects a free one")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--kubeconfig-out", common.kubeconfig_out,
                 "Write the administrator's kubeconfig here, once the API answers")
      ->type_name("FILE");
  add_logging(app, common.log_format, common.log_level);
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
                 "A user with more unread bytes of answers gets 429 for further requests")
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

/// "3s", or milliseconds as a number alone.
Result<Millis> parse_timeout(const std::string& text) {
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  SHIPLOG_TRY(const Millis timeout, parse_duration(number ? text + "ms" : text));
  if (timeout.value > 0) return timeout;
  return Error{ErrorCode::kInvalid, "a duration above 0 is expected, not \"" + text + "\""};
}

/// Why a text is no timeout, for CLI11; "" if it is one.
std::string error_of_timeout(const std::string& text) {
  const auto timeout = parse_timeout(text);
  return timeout ? "" : timeout.error().message;
}

/// Upstream's flag library takes the words of a name with _ between them as well: --log_dir.
std::string with_dashes(std::string word) {
  if (!word.starts_with("--")) return word;
  const auto end = word.begin() + static_cast<std::ptrdiff_t>(std::min(word.find('='), word.size()));
  std::replace(word.begin(), end, '_', '-');
  return word;
}

/// The scheduler's options for estimators, called as upstream's are.
void add_estimators(CLI::App& app, EstimatorOptions& options, std::string& timeout) {
  app.add_flag("--enable-scheduler-estimator", options.enabled,
               "Call the members' estimators for the replicas that fit");
  app.add_option("--scheduler-estimator-timeout", timeout,
                 "Timeout of all estimators together: a duration such as 3s, or a number of milliseconds")
      ->check(error_of_timeout)
      ->type_name("DURATION")
      ->capture_default_str();
  app.add_option("--scheduler-estimator-port", options.port, "Port of estimators, without an annotation")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app.add_option("--scheduler-estimator-service-prefix", options.service_prefix,
                 "An estimator's Service is named PREFIX-CLUSTER")
      ->capture_default_str();
  app.add_option("--scheduler-estimator-service-namespace", options.service_namespace, "Namespace of these Services")
      ->capture_default_str();
  app.add_flag("--disable-scheduler-estimator-in-pull-mode", options.not_in_pull_mode,
               "Do not call the estimators of clusters in Pull mode");
  app.add_option("--scheduler-estimator-cert-file", options.certificate_file, "Client certificate for estimators")
      ->type_name("FILE");
  app.add_option("--scheduler-estimator-key-file", options.key_file, "Its key")->type_name("FILE");
  app.add_option("--scheduler-estimator-ca-file", options.ca_file,
                 "Authority of the estimators' certificates; without it connections are without TLS")
      ->type_name("FILE");
  app.add_flag("--insecure-skip-estimator-verify", options.skip_verify, "Use TLS and accept any certificate");
}

/// Options that decisions read, named as upstream's are: what is not given stays as in the journal.
constexpr std::array<std::pair<const char*, const char*>, 13> kFleetOptions = {
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
     {"graceful-eviction-timeout", "How long a graceful eviction may take that has no grace period of its own [10m]"},
     {"resource-eviction-rate",
      "Evictions a second for NoExecute taints, of the whole fleet; 0: one in 30 minutes [0.5]"},
     {"eviction-budget",
      "What may be evicted from clusters at most: evictions=N,window=DURATION,fraction=PART-OF-CLUSTERS,"
      "priority>=P:evictions=N [no limit]"},
     {"no-execute-taint-eviction-purge-mode",
      "How evictions for NoExecute taints take the workload away: Gracefully, once it runs elsewhere, or Directly "
      "[Gracefully]"},
     {"descheduling-interval", "How often the descheduler asks estimators about replicas that are not ready [2m]"},
     {"unschedulable-threshold",
      "How long a pod has to be unschedulable before the descheduler takes its replica off the cluster [5m]"},
     {"controllers",
      "* and what is off by default: descheduler, hpaScaleTargetMarker, deploymentReplicasSyncer; -NAME switches it "
      "off "
      "again, or applicationFailover, serviceExport [*]"}}};

/// The same that are true or false.
constexpr std::array<std::pair<const char*, const char*>, 5> kFleetSwitches = {
    {{"enable-empty-workload-propagation", "Selected clusters without replicas get the workload too, with 0 [false]"},
     {"enable-policy-author-check",
      "Policies apply only to objects that the user who last wrote the policy is permitted to get [false]"},
     {"enable-no-execute-taint-eviction",
      "NoExecute taints of a cluster evict what does not tolerate them; needs the feature gate Failover, too [false]"},
     {"enable-taint-manager", "false: NoExecute taints never evict [true]"},
     {"allow-no-execute-taint-policy", "ClusterTaintPolicies may have taints with the effect NoExecute [false]"}}};

struct FleetWords {
  std::map<std::string, std::string> lists;
  std::map<std::string, bool> switches;
};

void add_fleet_options(CLI::App& app, FleetWords& words) {
  for (const auto& [name, what] : kFleetOptions) {
    app.add_option("--" + std::string{name}, words.lists[name], what)->type_name("WORD,...");
  }
  for (const auto& [name, what] : kFleetSwitches) app.add_flag("--" + std::string{name}, words.switches[name], what);
}

Result<std::vector<OptionSetting>> fleet_options(const CLI::App& app, const FleetWords& words) {
  std::vector<OptionSetting> settings;
  for (const auto& [name, text] : words.lists) {
    if (app.count("--" + name) == 0) continue;
    auto setting = parse_fleet_option(name, text);
    // 2.5.8: it is checked only where evictions are switched on; otherwise it stays as in the journal.
    if (!setting && name == "no-execute-taint-eviction-purge-mode" &&
        !words.switches.at("enable-no-execute-taint-eviction")) {
      continue;
    }
    if (!setting) return setting.error();
    settings.push_back(std::move(setting).value());
  }
  for (const auto& [name, on] : words.switches) {
    if (app.count("--" + name) > 0) settings.push_back({name, {on ? "true" : "false"}});
  }
  return settings;
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

/// shiplogd serve
class ServeCommand {
 public:
  ServeCommand(CLI::App& app, std::string& config)
      : command_{*app.add_subcommand("serve", "Run the control plane, or some of its roles")} {
    options_.common.listen = "127.0.0.1:7443";
    options_.common.data_dir = "shiplog-data";
    options_.roles = {"all"};
    add_common(command_, options_.common, config);
    add_probes(command_, options_.common.probes, "0 with the role api, which serves them too; else 127.0.0.1:0");
    add_process_options();
    add_journal_options();
    add_server_options();
    add_decision_options();
    add_retention(command_, retention_, options_.snapshot_store);
    add_audit(command_, options_.audit);
    add_outside_auth(command_, options_.outside_auth);
    add_fleet_options(command_, fleet_words_);
    add_estimators(command_, options_.estimators, estimators_have_);
    command_.add_flag("--enable-cluster-resource-modeling", options_.counts_resources,
                      "Count the nodes and pods of clusters into their status [true]");
    add_summary_thresholds(command_, options_.summaries);
    add_cluster_monitor(command_, options_.monitor_periods);
    add_upstream_flags(command_, upstream_);
  }
  bool parsed() const { return command_.parsed(); }

  /// Exit code.
  int run() {
    if (const std::string wrong = check_roles(options_.roles); !wrong.empty()) return usage_error(wrong);
    if (options_.journal.journal.empty()) {
      options_.journal.journal = "sqlite:" + options_.common.data_dir + "/journal.db";
    }
    if (const auto read = read_words(); !read) return usage_error(read.error().message);
    log::configure(options_.common.log_format, options_.common.log_level);
    for (const std::string& warning : warnings_) log::warn("option.ignored", {log::kv("reason", warning)});
    options_.estimators.timeout = parse_timeout(estimators_have_).value();
    return serve(options_);
  }

 private:
  void add_process_options() {
    command_
        .add_option("--roles", options_.roles,
                    "Roles of this process, comma-separated: all, " + words_of(selectable_roles(), ", "))
        ->delimiter(',')
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name("ROLE,...")
        ->default_str("all");
    command_.add_option("--data-dir", options_.common.data_dir, "This process's own files: projection, snapshots")
        ->type_name("DIR")
        ->capture_default_str();
  }

  void add_journal_options() {
    command_
        .add_option("--journal", options_.journal.journal,
                    "The fleet's journal; processes that share it form one control plane. Keys, certificates "
                    "and the ephemera lie beside a file [sqlite:DATA-DIR/journal.db]")
        ->type_name("sqlite:FILE|kafka:BROKER,.../FLEET");
    command_
        .add_option("--kafka-option", options_.journal.kafka,
                    "A setting of librdkafka; repeatable. Put secrets into the --config file, as "
                    "others can see a command line")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name("KEY=VALUE");
    command_
        .add_option("--kafka-replicas", options_.journal.kafka_replicas,
                    "Replicas of created topics; 0: three, or as many as there are brokers if they are fewer")
        ->check(CLI::Range(0, 100))
        ->capture_default_str();
    command_
        .add_option("--requests-topic", options_.journal.requests_topic,
                    "The topic of produced requests; a new name for one that was deleted and created again "
                    "[FLEET.requests]")
        ->type_name("TOPIC");
    command_
        .add_option("--requests-partitions", options_.journal.requests_partitions,
                    "Partitions of the topics of produced requests, when they are created")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command_
        .add_option(
            "--feeds", options_.feeds.families,
            "Publish accepted events of these families to the topics FLEET.feed.FAMILY, by the role feeds: all, " +
                words_of(feed_families(), ", ") + ". Only with a journal on Kafka [none]")
        ->delimiter(',')
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name("FAMILY,...");
    command_
        .add_option("--feed-format", options_.feeds.format,
                    "CloudEvents' format in the topics of feeds: json (structured) or protobuf")
        ->check(CLI::IsMember({"json", "protobuf"}))
        ->capture_default_str();
    command_
        .add_option("--feed-partitions", options_.feeds.partitions,
                    "Partitions of topics of feeds that are created; events about one object are in one partition")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command_
        .add_option("--keys-dir", options_.keys_dir,
                    "The fleet's key and certificates, and the keys of Secrets unless the journal is on Kafka "
                    "[beside a journal file; on Kafka DATA-DIR]")
        ->type_name("DIR");
  }

  void add_server_options() {
    command_.add_option("--tls-san", options_.names, "More names or addresses for the server's certificate")
        ->delimiter(',')
        ->type_name("NAME,...");
    command_
        .add_option("--advertise-address", options_.advertise_address,
                    "The IP address that the Service \"kubernetes\" leads to (default: the one listened on, else the "
                    "first of this machine)")
        ->check(CLI::Validator{
            [](std::string& text) { return is_ip_address(text) ? std::string{} : "not an IP address: " + text; },
            "IP"});
    add_front_proxy_options();
    command_.add_flag("--anonymous-auth", options_.anonymous,
                      "Accept requests without credentials as system:anonymous, with the permissions that roles grant");
  }

  void add_front_proxy_options() {
    FrontProxyOptions& proxy = options_.front_proxy;
    command_
        .add_option("--proxy-client-cert-file", proxy.client_certificate_file,
                    "The client certificate with which requests are forwarded to the servers of APIServices [one that "
                    "is made in KEYS-DIR/pki]")
        ->type_name("FILE");
    command_.add_option("--proxy-client-key-file", proxy.client_key_file, "Its key")->type_name("FILE");
    command_
        .add_option("--requestheader-client-ca-file", proxy.authority_file,
                    "The authority that has signed it, which these servers trust; this server itself "
                    "accepts no X-Remote headers")
        ->type_name("FILE");
    command_
        .add_option("--requestheader-allowed-names", proxy.allowed_names,
                    "Common names of certificates by which they may trust it [any]")
        ->delimiter(',')
        ->type_name("NAME,...");
  }

  void add_decision_options() {
    command_
        .add_option("--feature-gates", gates_,
                    "Behaviour of the fleet that is off by default: " + words_of(feature_gate_names(), ", ") +
                        ". Others keep their value in the journal")
        ->delimiter(',')
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name("NAME=true|false,...");
    command_
        .add_option("--denied-networks", denied_networks_,
                    "Networks in which webhooks, members and estimators are never called, by any name; "
                    "an empty value allows all")
        ->type_name("CIDR,...")
        ->capture_default_str();
    command_
        .add_option("--search-cache-bytes", search_cache_bytes_,
                    "Memory for the objects of members that ResourceRegistries select; of this, a quarter for each "
                    "cluster at most; 0: search and the global proxy are off")
        ->check(quantity())
        ->type_name("QUANTITY")
        ->capture_default_str();
    command_.add_option("--hash-every", options_.hash_every, "Record the state hash every so many revisions")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command_.add_option("--snapshot-every", options_.snapshot_every, "Take a snapshot every so many entries; 0: never")
        ->capture_default_str();
    command_
        .add_option(
            "--scrub-rate", scrub_rate_,
            "Read the journals and projections again at this rate, in bytes per second, to find damage; 0: do not")
        ->check(quantity())
        ->type_name("BYTES")
        ->capture_default_str();
    command_.add_option("--scrub-interval", scrub_interval_, "Begin to read them again every so many seconds")
        ->check(CLI::NonNegativeNumber)
        ->type_name("SECONDS")
        ->capture_default_str();
  }

  Result<void> read_words() {
    for (auto* list : {&gates_, &options_.names, &options_.front_proxy.allowed_names}) std::erase(*list, "");
    SHIPLOG_TRY(options_.feature_gates, parse_feature_gates(gates_, warnings_));
    SHIPLOG_TRY(options_.fleet_options, fleet_options(command_, fleet_words_));
    SHIPLOG_TRY(check_upstream_flags(command_, upstream_, warnings_));
    const bool serves_api = std::ranges::find(options_.roles, "api") != options_.roles.end();
    SHIPLOG_TRY(check_audit(command_, options_.audit, serves_api, warnings_));
    SHIPLOG_TRY(check_outside_auth(options_.outside_auth, serves_api, warnings_));
    auto denied = parse_networks(denied_networks_);
    if (!denied) return denied.error().context("--denied-networks");
    options_.denied_networks = std::move(denied).value();
    SHIPLOG_TRY(check_feeds(options_.feeds, options_.journal.journal));
    SHIPLOG_TRY(read_retention(retention_, options_));
    options_.search_cache_bytes =
        static_cast<size_t>(std::max<int64_t>(parse_quantity(search_cache_bytes_).value().units(), 0));
    options_.scrub_rate = parse_quantity(scrub_rate_).value().units();
    options_.scrub_interval = Millis{scrub_interval_ * 1000};
    return ok();
  }

  CLI::App& command_;
  ServeOptions options_;
  std::vector<std::string> gates_;
  UpstreamFlags upstream_;
  std::vector<std::string> warnings_;
  std::string denied_networks_ = kLinkLocalNetworks;
  FleetWords fleet_words_;
  RetentionWords retention_;
  std::string scrub_rate_ = "1Mi";
  std::string search_cache_bytes_ = "1Gi";
  int64_t scrub_interval_ = options_.scrub_interval.value / 1000;
  std::string estimators_have_ = "3s";
};

/// shiplogd member
class MemberCommand {
 public:
  MemberCommand(CLI::App& app, std::string& config)
      : command_{*app.add_subcommand("member", "Run a trial member cluster, in memory, with simulated nodes")} {
    add_common(command_, options_.common, config);
    add_probes(command_, options_.common.probes, "0: the API serves them too");
    command_.add_option("--name", options_.member.name, "The cluster's name")->required();
    command_
        .add_option("--data-dir", options_.common.data_dir,
                    "Keep the member's certificates here, so that it is the same cluster after a restart")
        ->type_name("DIR");
    command_.add_option("--nodes", options_.member.nodes, "Simulated nodes")
        ->check(CLI::Range(0, 10'000))
        ->capture_default_str();
    command_.add_option("--node-cpu", cpu_, "CPU of each node")->check(quantity())->capture_default_str();
    command_.add_option("--node-memory", memory_, "Memory of each node")->check(quantity())->capture_default_str();
    command_.add_option("--ready-delay-ms", ready_ms_, "Time until a pod is ready")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command_.add_option("--latency-ms", options_.latency_ms, "Fault: delay of every answer")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command_
        .add_option("--refuse", options_.refuse,
                    "Fault: requests that are refused: none, writes, all, or an HTTP status")
        ->capture_default_str();
    command_.add_option("--flap-seconds", options_.flap_seconds, "Fault: period of alternating up and down; 0: none")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    add_many_options();
  }

  /// Exit code.
  int run() {
    options_.member.node_cpu = parse_quantity(cpu_).value();
    options_.member.node_memory = parse_quantity(memory_).value();
    options_.member.ready_delay = Millis{ready_ms_};
    log::configure(options_.common.log_format, options_.common.log_level);
    if (many_.members > 0 && many_.kubeconfig_dir.empty()) return usage_error("--many needs --kubeconfig-dir");
    return many_.members > 0 ? many_members(options_, many_) : trial_member(options_);
  }

 private:
  void add_many_options() {
    command_
        .add_option(
            "--many", many_.members,
            "So many simulated members in place of a trial member, NAME1, NAME2, ...: a real API, whose --nodes "
            "and --pods are generated; workloads become ready without pods, and no controller runs")
        ->check(CLI::Range(1, 10'000));
    command_.add_option("--pods", many_.pods, "With --many: pods of each")->check(CLI::Range(0, 200'000));
    command_.add_option("--churn", many_.churn, "With --many: pods of each that are replaced per second")
        ->check(CLI::Range(0.0, 1'000.0));
    command_.add_option("--hanging", many_.hanging,
                        "With --many: so many of them, the last ones, take requests and never answer");
    command_
        .add_option(
            "--kubeconfig-dir", many_.kubeconfig_dir,
            "With --many: a kubeconfig of each is written there, NAME1.kubeconfig, ..., once all can be reached")
        ->type_name("DIR");
  }

  ManyMembersOptions many_;
  CLI::App& command_;
  TrialMemberOptions options_;
  std::string cpu_ = "8";
  std::string memory_ = "16Gi";
  int64_t ready_ms_ = options_.member.ready_delay.value;
};

int run(std::vector<std::string> words) {
  auto configured = with_config(std::move(words));
  if (!configured) return usage_error(configured.error().message);
  words = std::move(configured).value();

  CLI::App app{"shiplog: a control plane for many Kubernetes clusters whose database is a message log", "shiplogd"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "shiplogd " SHIPLOG_VERSION);
  std::string config;
  ServeCommand serve_command{app, config};
  auto* roles_command = app.add_subcommand("roles", "Print the roles that --roles knows, one a line");
  EstimatorCommand estimator_command{app, config};
  MemberCommand member_command{app, config};
  AgentCommand agent_command{app, config};

  const std::string unknown = unknown_command(words, {"serve", "roles", "estimator", "member", "agent"});
  words = with_empty_values(words);
  std::ranges::transform(words, words.begin(), with_dashes);
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return usage_error((unknown.empty() ? readable_option_error(error.what()) : unknown) +
                       "\nRun `shiplogd --help` for usage.");
  }

  if (roles_command->parsed()) {
    std::printf("%s\n", words_of(selectable_roles(), "\n").c_str());
    return 0;
  }
  configure_allocator();
  block_signals();
  allow_open_files();
  if (serve_command.parsed()) return serve_command.run();
  if (agent_command.parsed()) return agent_command.run();
  if (estimator_command.parsed()) return estimator_command.run();
  return member_command.run();
}

}  // namespace
}  // namespace shiplog

int main(int argc, char** argv) {
  ::umask(0077);  // whatever is written here is for this user alone
  // Not for people: the process that a control plane starts for scripts. Before anything else is set up.
  if (argc == 2 && std::string_view{argv[1]} == "interpret") return shiplog::sandbox::run_child();
  shiplog::report_refused_resources();
  return shiplog::run({argv + 1, argv + argc});
}
