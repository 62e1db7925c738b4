#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/base/networks.h"
#include "events/base/result.h"
#include "events/control.h"
#include "events/event.h"
#include "services/adapters/estimators/options.h"
#include "services/api/concurrency_limiter.h"
#include "services/programs/journals.h"
#include "services/programs/member/member.h"
#include "services/programs/shiplogd/audit_options.h"
#include "services/programs/shiplogd/front_proxy.h"
#include "services/programs/shiplogd/outside_auth.h"
#include "services/programs/shiplogd/trim_point.h"
#include "services/roles/cluster_monitor/decide.h"
#include "services/roles/collector/summary_change.h"
#include "services/runtime/log.h"

namespace shiplog {

/// HOST:PORT of what is served without TLS and authentication; empty or "0": not at all.
struct ProbeOptions {
  std::string health, metrics;
};

/// The options of both subcommands, from the command line and the --config file.
struct CommonOptions {
  std::string data_dir;
  std::string listen = "127.0.0.1:0";
  std::string kubeconfig_out;
  ProbeOptions probes;
  log::Format log_format = log::Format::kText;
  log::Level log_level = log::Level::kInfo;
  size_t max_connections = 10000;
  size_t max_connections_per_address = 5000;
  api::ConcurrencyLimiter::Limits limits;
  size_t max_body_bytes = 3 * 1024 * 1024;
};

/// The default address of health checks in processes without an API server.
inline constexpr const char* kAnyLocalPort = "127.0.0.1:0";

/// What is published to topics of Kafka.
struct FeedOptions {
  std::vector<std::string> families;  ///< "api", ...; none: nothing is
  std::string format = "json";        ///< or "protobuf"
  int partitions = 4;                 ///< of topics that are created
};

struct ServeOptions {
  CommonOptions common;
  std::vector<std::string> roles;  ///< never empty; "all" is spelled out
  JournalOptions journal;
  FeedOptions feeds;
  std::string keys_dir;            ///< empty: beside a journal file; else in the data folder
  std::vector<std::string> names;  ///< more names and addresses for the server's certificate
  std::string advertise_address;   ///< of the Service "kubernetes"; empty: found out
  FrontProxyOptions front_proxy;
  bool anonymous = false;  ///< requests without credentials are system:anonymous's
  /// Gates that this process sets; the others stay as the journal has them.
  std::vector<std::pair<std::string, bool>> feature_gates;
  /// Options of the fleet that this process sets; the others stay as the journal has them.
  std::vector<OptionSetting> fleet_options;
  uint64_t hash_every = 1000;  ///< entries between two StateHashed
  uint64_t snapshot_every = 100'000;
  int64_t scrub_rate = 1 << 20;  ///< bytes a second of each journal and projection; 0: not at all
  Millis scrub_interval{600'000};
  JournalRetention journal_retention, ephemera_retention;
  std::optional<Millis> history_retention, audit_retention, decision_retention;
  std::vector<std::pair<Family, Millis>> family_retention;  ///< of entries and decisions, in place of the two
  Millis retention_interval{60'000};
  AuditLogOptions audit;
  OutsideAuthOptions outside_auth;
  std::string snapshot_store;  ///< "file:///DIR", "http(s)://HOST/PATH"; empty: none
  EstimatorOptions estimators;
  bool counts_resources = true;                     ///< of members: nodes and pods
  collector::SummaryThresholds summaries;           ///< when these counts are reported
  cluster_monitor::Periods monitor_periods;         ///< of Pull clusters
  size_t search_cache_bytes = size_t{1} << 30U;     ///< of the objects of members for search; 0: it is off
  std::shared_ptr<const Networks> denied_networks;  ///< of webhooks, members and estimators; never nullptr
};

struct TrialMemberOptions {
  CommonOptions common;
  MemberOptions member;
  int64_t latency_ms = 0;
  std::string refuse = "none";
  int64_t flap_seconds = 0;
};

/// Many simulated members in place of a trial member.
struct ManyMembersOptions {
  uint32_t members = 0;  ///< 0: one trial member
  uint32_t pods = 0;     ///< of each
  double churn = 0;      ///< pods of each that are replaced per second
  uint32_t hanging = 0;
  std::string kubeconfig_dir;
};

struct EstimatorServerOptions {
  std::string cluster, kubeconfig, context;
  std::string master;  ///< the member's URL; empty: that of the kubeconfig
  std::string listen = "0.0.0.0:10352";
  std::string address_out;  ///< a file to write HOST:PORT to, once it listens
  std::string certificate_file, key_file, client_ca_file;
  bool skip_client_verify = false;
  bool with_quotas = false;  ///< gate ResourceQuotaEstimate
  ProbeOptions probes = {kAnyLocalPort, ""};
  log::Format log_format = log::Format::kText;
  log::Level log_level = log::Level::kInfo;
};

/// "169.254.0.0/16,fe80::/10". Error: kInvalid, naming the word.
Result<std::shared_ptr<const Networks>> parse_networks(const std::string& list);

/// "HOST:PORT", "[::1]:7443", ":7443". Error: kInvalid.
struct HostPort {
  std::string host;
  uint16_t port = 0;
};
Result<HostPort> parse_host_port(const std::string& text);

/// Words like "MultiplePodTemplatesScheduling=true". Error: kInvalid, naming the word and what there is.
Result<std::vector<std::pair<std::string, bool>>> parse_feature_gates(const std::vector<std::string>& words,
                                                                      std::vector<std::string>& warnings);

/// The families that --feeds knows.
std::vector<std::string> feed_families();
/// Spells out "all". Error: kInvalid, an unknown family, or a journal that is a file.
Result<void> check_feeds(FeedOptions& feeds, const std::string& journal);

/// Options of a YAML file as command-line words ("listen: X" becomes "--listen=X"), to be put in front of the real
/// ones. Errors: kIo, kBadRequest, naming the file.
Result<std::vector<std::string>> read_config(const std::string& path);

}  // namespace shiplog
