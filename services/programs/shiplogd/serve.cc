#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <utility>

#include <sys/file.h>
#include <unistd.h>

#include "events/base/json.h"
#include "events/base/system.h"
#include "events/slots.h"
#include "projections/history/history_query.h"
#include "services/adapters/estimators/estimator_resolver.h"
#include "services/adapters/members/https_members.h"
#include "services/adapters/sandbox/script_resolver.h"
#include "services/adapters/time_zones/zone_database.h"
#include "services/adapters/vault/vault.h"
#include "services/adapters/webhooks/webhook_resolver.h"
#include "services/api/addresses/service_allocator.h"
#include "services/api/aggregation/aggregation.h"
#include "services/http/io_threads.h"
#include "services/programs/journals.h"
#include "services/programs/shiplogd/admission_wiring.h"
#include "services/programs/shiplogd/advertise.h"
#include "services/programs/shiplogd/api_wiring.h"
#include "services/programs/shiplogd/audit_options.h"
#include "services/programs/shiplogd/certificate_renewal.h"
#include "services/programs/shiplogd/checkpoint_signer.h"
#include "services/programs/shiplogd/control_plane_metrics.h"
#include "services/programs/shiplogd/failure_reports.h"
#include "services/programs/shiplogd/fleet_folders.h"
#include "services/programs/shiplogd/journal_stack.h"
#include "services/programs/shiplogd/kafka_feeds.h"
#include "services/programs/shiplogd/make_election.h"
#include "services/programs/shiplogd/member_access.h"
#include "services/programs/shiplogd/probes.h"
#include "services/programs/shiplogd/process.h"
#include "services/programs/shiplogd/process_metrics.h"
#include "services/programs/shiplogd/quarantine.h"
#include "services/programs/shiplogd/remedies.h"
#include "services/programs/shiplogd/request_wiring.h"
#include "services/programs/shiplogd/start_up.h"
#include "services/programs/shiplogd/topic_watch.h"
#include "services/programs/shiplogd/upkeep.h"
#include "services/roles/cluster_metrics.h"
#include "services/roles/decision_metrics.h"
#include "services/roles/kubernetes_service/decide.h"
#include "services/roles/recorder/recorder.h"
#include "services/roles/registry.h"
#include "services/runtime/leaders.h"
#include "services/runtime/log.h"
#include "services/runtime/process_sampler.h"
#include "services/runtime/roles.h"
#include "services/runtime/thread_loop.h"

namespace shiplog {
namespace {

constexpr const char* kUserAgent = "shiplogd/" SHIPLOG_VERSION;
constexpr Millis kStopDeadline{5'000};
constexpr Millis kLookForKeysEvery{2'000};
constexpr Millis kCheckTopicsEvery{60'000};
constexpr Millis kLookForOlderBuildsEvery{2'000};

/// Everything a running control plane process holds, in the order of its making.
class ControlPlane {
 public:
  explicit ControlPlane(const ServeOptions& options) : options_{options} {}
  ~ControlPlane() { stop(); }

  Result<void> start() {
    SHIPLOG_TRY(const JournalAddress address, parse_journal(options_.journal.journal));
    if (!address.on_kafka()) journal_file_ = address.sqlite_file;
    SHIPLOG_TRY(listen_, parse_host_port(options_.common.listen));  // before anything is made
    SHIPLOG_TRY(const FleetFolders shared, make_fleet_folders(options_, address));
    lock_ = shared.lock;
    SHIPLOG_TRY(auto journals, open_fleet_journals(address, options_.journal, uses_keys()));
    SHIPLOG_TRY(open_vault(address, shared.keys, std::move(journals.keys)));
    if (serves_api()) {
      new_authorities_ = missing_authorities(shared.keys);
      SHIPLOG_TRY(identity_, load_identity(shared.keys, listen_, options_.names));
      SHIPLOG_TRY(front_proxy_, load_front_proxy(options_.front_proxy, shared.keys));
      for (const std::string& unused : missing_authorities(shared.keys)) std::erase(new_authorities_, unused);
    }
    SHIPLOG_TRY(upkeep_, Upkeep::make(options_, address.on_kafka() ? "" : shared.journal));
    SHIPLOG_TRY(open_stacks(std::move(journals.record), std::move(journals.ephemera)));
    observe_record();
    election_ = make_election(shared.leases, std::move(journals.heartbeats), random_, loop_);
    if (journals.identities) {
      topics_ = std::make_unique<TopicWatch>(std::move(journals.identities), kCheckTopicsEvery, stop_after_failure);
    }
    if (options_.estimators.enabled) {
      EstimatorOptions estimators = options_.estimators;
      estimators.denied_networks = options_.denied_networks;
      SHIPLOG_TRY(estimators_, EstimatorResolver::make(std::move(estimators), loop_, random_));
    }
    SHIPLOG_TRY(feed_publisher_, make_feed_publisher(options_, address, *record_));
    make_roles();
    process_metrics_ = export_process_metrics();
    metrics_ = export_control_plane_metrics({.record = record_->replica(),
                                             .record_outage = record_->outage(),
                                             .ephemera_outage = ephemera_->outage(),
                                             .loop = loop_,
                                             .quarantine = *quarantine_,
                                             .scripts = *scripts_,
                                             .members = *members_,
                                             .recorder = *recorder_,
                                             .vault = vault_.get(),
                                             .leaders = serves_api() ? leaders_.get() : nullptr});
    SHIPLOG_TRY(record_->start([this](const State& state) { load(state); }, stop_after_failure));
    SHIPLOG_TRY(ephemera_->start([this](const State& state) { api_wiring_.load_ephemera(state); }, stop_after_failure));
    start_scrub(address);
    upkeep_->start([this] { return leads_control(); });
    if (serves_api()) {
      if (address.on_kafka()) {
        SHIPLOG_TRY(request_topics_, open_request_topics(address, options_.journal));
      }
      SHIPLOG_TRY(start_api(shared.keys));
    }
    ProbeOptions probes = options_.common.probes;
    if (probes.health.empty() && !serves_api()) probes.health = kAnyLocalPort;
    SHIPLOG_TRY(probes_, start_probes(probes, [this](std::string_view path) { return health(path); }));
    loop_.post([this] {
      sampler_->start();
      record_->replica().when_caught_up([this] { on_caught_up(); });
    });
    return ok();
  }

  void stop() {
    if (stopped_) return;
    stopped_ = true;
    metrics_.reset();
    probes_.clear();
    topics_.reset();
    certificates_.reset();
    if (requests_) requests_->stop_consuming();
    if (api_) api_->stop(kStopDeadline);
    if (requests_) requests_->stop();
    if (upkeep_) upkeep_->stop();
    if (record_) record_->stop();
    if (ephemera_) ephemera_->stop();
    if (vault_) vault_->stop();
    loop_.call([this] {
      if (roles_) roles_->stop();
      if (aggregation_) aggregation_->stop();
      if (members_) members_->close();
    });
    feed_publisher_.reset();
    member_access_.close();
    // What is under way holds its client, and clients these threads: they could outlive the loop and main().
    member_io_->stop();
    member_access_.stop_threads();
    admission_.stop();
    loop_.stop();
    if (lock_ >= 0) ::close(lock_);
  }

 private:
  /// Brokers send a topic over the network to each of its readers: one process of the fleet reads it again.
  void start_scrub(const JournalAddress& address) {
    if (options_.scrub_rate <= 0) return;
    const bool reads_journal = !address.on_kafka() || has_role("control");
    record_->start_scrub(options_.scrub_rate, options_.scrub_interval, reads_journal);
    ephemera_->start_scrub(options_.scrub_rate, options_.scrub_interval, reads_journal);
  }

  /// One process trims the journals for all. Not from the fold thread.
  bool leads_control() {
    bool acting = false;
    loop_.call([&] { acting = acts_for_control(); });
    return acting;
  }
  bool acts_for_control() const { return roles_ && roles_->acting("control"); }

  Result<void> open_stacks(std::shared_ptr<Journal> record, std::shared_ptr<Journal> ephemera) {
    const std::string projection = options_.common.data_dir + "/projection.db";
    const std::string ephemera_projection = options_.common.data_dir + "/ephemera-projection.db";
    SHIPLOG_TRY(upkeep_->prepare("journal", *record, projection));
    SHIPLOG_TRY(upkeep_->prepare("ephemera", *ephemera, ephemera_projection));
    SHIPLOG_TRY(record_, JournalStack::open({.name = "journal",
                                             .journal = std::move(record),
                                             .projection = projection,
                                             .executor = &loop_,
                                             .random = &random_,
                                             .tree = true}));
    SHIPLOG_TRY(ephemera_, JournalStack::open({.name = "ephemera",
                                               .journal = std::move(ephemera),
                                               .projection = ephemera_projection,
                                               .executor = &loop_,
                                               .random = &random_}));
    return ok();
  }

  void observe_record() {
    api_wiring_.observe({.record = record_.get(),
                         .ephemera = ephemera_.get(),
                         .loop = &loop_,
                         .random = &random_,
                         .vault = vault_.get()});
    record_->replica().add_observer(addresses_);
    if (serves_api()) {
      member_access_.start({.record = &record_->replica(),
                            .executor = &loop_,
                            .kinds = &api_wiring_.kinds(),
                            .random = &random_,
                            .open = [this](Value value) { return open_sealed(std::move(value)); },
                            .user_agent = kUserAgent,
                            .denied_networks = options_.denied_networks,
                            .search_cache_bytes = options_.search_cache_bytes});
    }
    cluster_metrics_ = std::make_unique<ClusterMetrics>(has_role("collector"));
    record_->replica().add_observer(*cluster_metrics_);
    record_->replica().add_observer(decision_metrics_);
    admission_.observe(record_->replica());
    if (serves_api()) {
      aggregation_ =
          std::make_unique<api::Aggregation>(api::Aggregation::Options{.kinds = &api_wiring_.kinds(),
                                                                       .executor = &loop_,
                                                                       .proxy_client = front_proxy_.client,
                                                                       .denied_networks = options_.denied_networks,
                                                                       .user_agent = kUserAgent});
      record_->replica().add_observer(*aggregation_);
    }
    upkeep_->observe(*record_, *ephemera_, loop_, [this] { return acts_for_control(); });
  }

  /// The state that the record was restored with.
  void load(const State& state) {
    interpreter::run_scripts_elsewhere(scripts_.get());
    quarantine_->load(state);
    api_wiring_.load(state);
    addresses_.load(state);
    cluster_metrics_->load(state);
    admission_.load(state);
    if (aggregation_) aggregation_->load(state);
    member_access_.load(state);
  }

  void on_caught_up() {
    log::info("journal.caught_up", {log::kv("revision", record_->replica().state().revision().value)});
    if (record_->replica().state().revision().value > 0) warn_of_new_authorities(new_authorities_);
    if (vault_) {
      vault_->destroy_removed_keys([this](const ObjectKey& object) { return last_states(object); });
      vault_->watch_keys(kLookForKeysEvery, [this](const std::vector<ObjectKey>& lost) {
        loop_.post([this, lost] { report_lost_keys(*recorder_, record_->replica().state(), lost, loop_.now()); });
      });
    }
    StartUp start{options_.feature_gates, options_.fleet_options, election_->fold_version_of_all()};
    if (serves_api()) {
      start.server = [this] { return server_address(); };
      start.extension_authentication = {identity_.authority.certificate_pem, front_proxy_.authority_pem,
                                        front_proxy_.allowed_names};
    }
    append_in_turn(record_->replica(), {.service = "api", .user_agent = kUserAgent},
                   start_up_steps(std::move(start), loop_), [this] { on_started(); });
  }

  /// Roles decide under the settings of this process, and clients find what every control plane has: only now the
  /// kubeconfig is written, which clients wait for.
  void on_started() {
    if (stopped_) return;
    const State& state = record_->replica().state();
    if (const auto settings = settings_of(state.options()); !settings.empty()) {
      log::info("options.in_force", {log::kv("options", summary_of(OptionsSet{settings}))});
    }
    for (const std::string& name : names_of(state.gates())) log::info("feature_gate.on", {log::kv("name", name)});
    roles_->start();
    activate_fold_version();
    // In this order: a client that finds the kubeconfig finds the process ready, unless a role is without a leader.
    loop_.post([this] {
      if (stopped_) return;
      leaders_->start();
      if (ready_) ready_();
    });
  }

  /// While processes of an older build are alive, their fold version remains active. It does not know which produced
  /// requests have been carried out.
  void activate_fold_version() {
    if (stopped_) return;
    if (record_->replica().state().fold_version() >= kFoldVersion) {
      if (requests_) requests_->start(*api_, request_topics_);
      return;
    }
    if (!std::exchange(waits_for_older_builds_, true)) {
      log::info("fold_version.waiting",
                {log::kv("active", record_->replica().state().fold_version()), log::kv("supported", kFoldVersion)});
    }
    append_in_turn(
        record_->replica(), {.service = "control", .user_agent = kUserAgent},
        {{"fold version",
          [this](const State& state) { return decide_fold_version(state, election_->fold_version_of_all()); }}},
        [this] { loop_.post_after(kLookForOlderBuildsEvery, [this] { activate_fold_version(); }); });
  }

  bool has_role(const char* role) const { return std::ranges::find(options_.roles, role) != options_.roles.end(); }
  bool serves_api() const { return has_role("api"); }

  /// The role of feeds needs no leader where nothing is published.
  std::vector<const RoleEntry*> own_roles() const {
    std::vector<const RoleEntry*> roles = roles_of_process(options_.roles);
    if (!feed_publisher_) std::erase(roles, find_role("feeds"));
    return roles;
  }

  /// Only these seal or open.
  bool uses_keys() const {
    return std::ranges::any_of(options_.roles, [](const std::string& role) {
      return role == "api" || role == "dispatcher" || role == "collector";
    });
  }

  /// On Kafka keys are in a topic, and only those processes that need them hold the fleet's key.
  Result<void> open_vault(const JournalAddress& address, const std::string& folder, std::shared_ptr<Journal> keys) {
    if (!address.on_kafka()) {
      SHIPLOG_TRY(vault_, Vault::open_folder(folder));
      return ok();
    }
    if (!keys) return ok();
    if (std::filesystem::exists(folder + "/keys.db")) {
      return Error{ErrorCode::kInvalid,
                   folder +
                       "/keys.db holds the keys of a fleet whose journal is a file; a fleet on Kafka keeps them in "
                       "its topic and would not look there: give it a --keys-dir of its own"};
    }
    SHIPLOG_TRY(vault_, Vault::open_log(folder, std::move(keys)));
    return ok();
  }

  Result<Value> open_sealed(Value value) {
    if (!vault_) return Error{ErrorCode::kInternal, "this process has no role that opens Secrets"};
    return vault_->open(std::move(value));
  }

  /// What was removed under a name, as it was last.
  Result<std::vector<Value>> last_states(const ObjectKey& object) {
    return record_->store().read([&](const View& view) -> Result<std::vector<Value>> {
      SHIPLOG_TRY(const auto versions, HistoryQuery{view}.versions(object));
      std::vector<Value> states;
      for (const VersionRow& version : versions) {
        if (version.operation != VersionOperation::kRemoved) continue;
        SHIPLOG_TRY(Value state, parse_stored_json(version.json));
        states.push_back(std::move(state));
      }
      return states;
    });
  }

  void make_leaders() {
    std::vector<std::string> led;
    for (const RoleEntry* role : roles_of_process(selectable_roles())) led.emplace_back(role->name);
    leaders_ = std::make_unique<Leaders>(Leaders::Options{
        .election = election_.get(),
        .executor = &loop_,
        .roles = std::move(led),
        // What has ever been led in this fleet, and what this process would lead. The latter is computed here, as this
        // is still called while stop() destroys what it depends on.
        .expected =
            [this, own = own_roles()](const std::string& role) {
              const State& state = record_->replica().state();
              const bool ever = state.lease(role).epoch > 0 || state.lease(slot_lease(role, 0)).epoch > 0;
              return ever || std::ranges::any_of(own, [&](const RoleEntry* entry) { return entry->name == role; });
            },
        .divided =
            [this](const std::string& role) {
              return find_role(role)->divided && record_->replica().state().fold_version() >= kSlotsFoldVersion;
            },
        .idle = [this](const std::string& role) { return role == "feeds" && options_.feeds.families.empty(); }});
  }

  /// What roles reach the outside through: members, interpreter webhooks, scripts in the sandbox.
  void make_adapters() {
    members_ = std::make_unique<HttpsMembers>(
        HttpsMembers::Options{.state = &record_->replica().state(),
                              .executor = &loop_,
                              .random = &random_,
                              .io = member_io_,
                              .open = [this](Value value) { return open_sealed(std::move(value)); },
                              .user_agent = kUserAgent,
                              .denied_networks = options_.denied_networks});
    resolver_ = std::make_unique<WebhookResolver>(WebhookResolver::Options{
        .executor = &loop_, .random = &random_, .user_agent = kUserAgent, .denied_networks = options_.denied_networks});
    recorder_ = std::make_unique<Recorder>(Recorder::Options{.record = &record_->replica(),
                                                             .ephemera = &ephemera_->replica(),
                                                             .executor = &loop_,
                                                             .user_agent = kUserAgent});
    quarantine_ = std::make_unique<Quarantine>(Quarantine::Options{
        .record = &record_->replica(), .recorder = recorder_.get(), .clock = &loop_, .user_agent = kUserAgent});
    record_->replica().add_observer(*quarantine_);
    scripts_ = std::make_unique<ScriptResolver>(
        ScriptResolver::Options{.executor = &loop_,
                                .others = resolver_.get(),
                                .sandbox = {.clock = &loop_},
                                .overran = [this](const auto&... overrun) { quarantine_->add(overrun...); }});
  }

  RoleContext role_context() {
    return {.ephemera = &ephemera_->replica(),
            .members = members_.get(),
            .interpreters = scripts_.get(),
            .estimators = estimators_.get(),
            .estimators_have = options_.estimators.timeout,
            .open_sealed = [this](const Value& manifest) { return open_sealed(manifest); },
            .unread_status =
                [this](const ObjectKey& work, interpreter::InterpreterOperation operation, const Error& error) {
                  recorder_->record_events(
                      recorder::event_drafts_of_unread(record_->replica().state(), work, operation, error.message),
                      loop_.now());
                },
            .recorder = recorder_.get(),
            .kinds = &Kinds::compiled(),
            .authority = [this]() -> Result<KeyPair> { return identity_.authority; },
            .api_availability = [this](const std::string& name) { return aggregation_->availability(name); },
            .server = [this] { return server_address(); },
            .allocate_addresses =
                [this](const ObjectKey& key, const Value& service) {
                  return addresses_.propose(key, service, service, random_);
                },
            .find_time_zone = find_time_zone,
            .counts_resources = options_.counts_resources,
            .summaries = options_.summaries,
            .monitor_periods = options_.monitor_periods,
            .hash_every = options_.hash_every,
            .feed_publisher = feed_publisher_.get(),
            .user_agent = kUserAgent};
  }

  void make_roles() {
    make_leaders();
    roles_ = std::make_unique<Roles>(
        Roles::Options{.replica = &record_->replica(),
                       .executor = &loop_,
                       .random = &random_,
                       .election = election_.get(),
                       .user_agent = kUserAgent,
                       .on_retry =
                           [this](std::string_view role, const ObjectKey& key, const Error& error) {
                             report_failure(*recorder_, record_->replica().state(), role, key, error, loop_.now());
                           },
                       .on_step = [this](const auto&... step) { measure_step(step...); }});
    make_adapters();
    const RoleContext context = role_context();
    for (const RoleEntry* role : own_roles()) roles_->add(role->make(context), role->divided);
    sampler_ = std::make_unique<ProcessSampler>(
        ProcessSampler::Options{.executor = &loop_,
                                .entries_folded = [this] { return record_->replica().entries_folded(); },
                                .roles = [this] { return roles_->figures(); }});
  }

  void measure_step(std::string_view role, const ObjectKey& key, double seconds, const Error* error) {
    decision_metrics_.on_step(role, key, seconds, error);
    if (role == "collector" && key.type == type::kCluster) cluster_metrics_->probed(key.name.str(), seconds);
  }

  std::vector<HealthCheck> health(std::string_view path) const {
    std::vector<HealthCheck> checks = api_wiring_.health(path);
    if (path != "/livez") checks.push_back({"leaders", leaders_->missing()});
    return checks;
  }

  kubernetes_service::ServerAddress server_address() const {
    const std::string& chosen = options_.advertise_address;
    return {chosen.empty() ? address_to_advertise(listen_.host) : chosen, api_->port()};
  }

  Result<void> start_api(const std::string& keys) {
    SHIPLOG_TRY(api::ApiServer::Options api, api_wiring_.api_options(options_.common, listen_, identity_));
    api.aggregation = aggregation_.get();
    SHIPLOG_TRY(auditor_, make_auditor(options_.audit, loop_, random_));
    api.auditor = auditor_.get();
    SHIPLOG_TRY(outside_auth_, make_outside_auth(options_.outside_auth, loop_, random_, options_.denied_networks));
    outside_auth_.enable_in(api);
    admission_.enable_in(api, options_.denied_networks);
    api.denied_networks = options_.denied_networks;
    api.remedies = placement_remedies;
    api.control_plane = true;
    api.tunnels = member_access_.tunnels();
    api.addresses = &addresses_;
    api.members = &member_access_.clients();
    api.search = &member_access_.search();
    SHIPLOG_TRY(api.signer, checkpoint_signer(keys));
    api.roles = [this] { return leaders_->now(); };
    api.process = [this] { return process_figures(); };
    api.anonymous = options_.anonymous;
    api.health = [this](std::string_view path) { return health(path); };
    requests_ = std::make_unique<RequestWiring>(
        RequestWiring::Options{.record = api.record, .kinds = api.kinds, .executor = &loop_, .random = &random_});
    api.requests = [this](const api::RequestContextPtr& context) { return requests_->serve(context); };
    SHIPLOG_TRY(api_, api::ApiServer::start(std::move(api)));
    std::string url = api_->url();
    if (listen_.host == "0.0.0.0" || listen_.host == "::") url = "https://127.0.0.1:" + std::to_string(api_->port());
    log::info("api.listening", {log::kv("url", url)});
    certificates_ = std::make_unique<CertificateRenewal>(loop_, certificates_of(identity_, front_proxy_),
                                                         [this, keys, url] { return renew_certificates(keys, url); });
    ready_ = [this, url] {
      if (auto written = write_admin_kubeconfig(options_.common.kubeconfig_out, "shiplog", url, identity_); !written) {
        log::error("kubeconfig.failed", {log::kv("reason", written.error().message)});
        stop_process();
      }
    };
    return ok();
  }

  /// Those that this process makes for itself. Others are of files that the user renews.
  std::vector<std::string> certificates_of(const Identity& identity, const FrontProxy& proxy) const {
    std::vector<std::string> own{identity.server.certificate_pem, identity.admin.certificate_pem};
    if (options_.front_proxy.client_certificate_file.empty()) own.push_back(proxy.client.certificate_pem);
    return own;
  }

  Result<std::vector<std::string>> renew_certificates(const std::string& keys, const std::string& url) {
    SHIPLOG_TRY(const Identity identity, load_identity(keys, listen_, options_.names));
    SHIPLOG_TRY(api_->use_certificate(identity.server));
    SHIPLOG_TRY(write_admin_kubeconfig(options_.common.kubeconfig_out, "shiplog", url, identity));
    SHIPLOG_TRY(const FrontProxy proxy, load_front_proxy(options_.front_proxy, keys));
    loop_.post([this, client = proxy.client] { aggregation_->use_client(client); });
    return certificates_of(identity, proxy);
  }

  ProcessFigures process_figures() const {
    ProcessFigures figures = sampler_->now();
    figures.identity = election_->identity();
    figures.version = SHIPLOG_VERSION;
    figures.journal = journal_file_.empty() ? "kafka" : "sqlite";
    if (!journal_file_.empty()) figures.journal_bytes = bytes_of_journal(journal_file_);
    return figures;
  }

  const ServeOptions& options_;
  std::atomic<bool> stopped_{false};
  std::function<void()> ready_;  ///< set by the process that serves the API
  int lock_ = -1;
  std::string journal_file_;  ///< empty: the journal is on Kafka
  HostPort listen_;
  SystemRandom random_;
  ApiWiring api_wiring_;
  api::ServiceAllocator addresses_;
  AdmissionWiring admission_;
  Identity identity_;  ///< of the process that serves the API, as the next one
  FrontProxy front_proxy_;
  std::vector<std::string> new_authorities_;  ///< files that this start has made
  MemberAccess member_access_;
  std::unique_ptr<Vault> vault_;
  ThreadLoop loop_;
  std::unique_ptr<JournalStack> record_, ephemera_;
  std::unique_ptr<Upkeep> upkeep_;
  std::unique_ptr<Recorder> recorder_;
  const std::shared_ptr<IoThreads> member_io_ = std::make_shared<IoThreads>(1);
  std::unique_ptr<HttpsMembers> members_;
  std::unique_ptr<QuestionResolver> resolver_, estimators_;
  std::unique_ptr<Quarantine> quarantine_;
  std::unique_ptr<ScriptResolver> scripts_;
  std::unique_ptr<TopicWatch> topics_;
  bool waits_for_older_builds_ = false;
  std::unique_ptr<Election> election_;
  std::unique_ptr<Leaders> leaders_;
  std::unique_ptr<feeds::FeedPublisher> feed_publisher_;
  std::unique_ptr<Roles> roles_;
  std::unique_ptr<ProcessSampler> sampler_;
  std::unique_ptr<ClusterMetrics> cluster_metrics_;
  std::unique_ptr<api::Aggregation> aggregation_;  ///< of the process that serves the API
  DecisionMetrics decision_metrics_{[this](std::string_view role) { return roles_ && roles_->acting(role); }};
  std::unique_ptr<api::Auditor> auditor_;
  OutsideAuth outside_auth_;
  std::unique_ptr<api::ApiServer> api_;
  std::unique_ptr<CertificateRenewal> certificates_;
  std::optional<RequestTopics> request_topics_;  ///< nullopt: the journal is a file
  std::unique_ptr<RequestWiring> requests_;
  std::unique_ptr<metrics::ScrapeHook> process_metrics_, metrics_;
  std::vector<std::unique_ptr<ProbeServer>> probes_;
};

}  // namespace

int serve(const ServeOptions& options) {
  std::optional<ControlPlane> plane{std::in_place, options};
  if (auto started = plane->start(); !started) {
    std::fprintf(stderr, "shiplogd: %s\n", started.error().message.c_str());
    return 1;
  }
  wait_for_stop();
  log::info("process.stopping", {});
  const StopDeadline deadline{Millis{2 * kStopDeadline.value}};
  plane.reset();
  return stopped_by_failure() ? 1 : 0;
}

}  // namespace shiplog
