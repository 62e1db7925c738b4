#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include <sys/file.h>
#include <unistd.h>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/base/system.h"
#include "events/state/new_namespace.h"
#include "projections/history/history_query.h"
#include "services/adapters/estimators/estimator_resolver.h"
#include "services/adapters/members/https_members.h"
#include "services/adapters/sandbox/script_resolver.h"
#include "services/adapters/vault/vault.h"
#include "services/adapters/webhooks/webhook_resolver.h"
#include "services/api/addresses/service_allocator.h"
#include "services/api/api_server.h"
#include "services/api/auth/access.h"
#include "services/api/auth/rbac/bootstrap.h"
#include "services/api/auth/token_signer.h"
#include "services/api/own_entry.h"
#include "services/api/webhooks/webhooks.h"
#include "services/http/io_threads.h"
#include "services/programs/journals.h"
#include "services/programs/shiplogd/advertise.h"
#include "services/programs/shiplogd/process.h"
#include "services/programs/shiplogd/quarantine.h"
#include "services/programs/shiplogd/remedies.h"
#include "services/programs/shiplogd/snapshots.h"
#include "services/programs/shiplogd/stack.h"
#include "services/roles/apiservice_registration/decide.h"
#include "services/roles/binder/decide.h"
#include "services/roles/kubernetes_service/decide.h"
#include "services/roles/recorder/recorder.h"
#include "services/roles/registry.h"
#include "services/runtime/file_election.h"
#include "services/runtime/journal_election.h"
#include "services/runtime/leaders.h"
#include "services/runtime/log.h"
#include "services/runtime/roles.h"
#include "services/runtime/thread_loop.h"

namespace shiplog {
namespace {

constexpr const char* kUserAgent = "shiplogd/" SHIPLOG_VERSION;
constexpr Millis kStopDeadline{5'000};
constexpr Millis kLookForKeysEvery{2'000};

/// The namespaces every control plane has (as upstream).
std::vector<std::string> system_namespaces() {
  return {"default", "kube-node-lease", "kube-public", "kube-system", "karmada-cluster", "karmada-system"};
}

/// Everything a running control plane process holds, in the order of its making.
class ControlPlane {
 public:
  explicit ControlPlane(const ServeOptions& options) : options_{options} {}
  ~ControlPlane() { stop(); }

  Result<void> start() {
    SHIPLOG_TRY(const JournalAddress address, parse_journal(options_.journal.journal));
    SHIPLOG_TRY(listen_, parse_host_port(options_.common.listen));  // before anything is made
    SHIPLOG_TRY(make_folder(options_.common.data_dir));
    SHIPLOG_TRY(lock_, lock_folder(options_.common.data_dir));
    make_private(options_.common.data_dir);
    // What all processes of a fleet share lies beside the journal; what is this one's own, in its data folder.
    std::string shared = options_.common.data_dir;
    if (!address.on_kafka()) {
      shared = std::filesystem::path{address.sqlite_file}.parent_path().string();
      if (shared.empty()) shared = ".";
    }
    SHIPLOG_TRY(make_folder(shared));
    const std::string keys = options_.keys_dir.empty() ? shared : options_.keys_dir;
    SHIPLOG_TRY(make_folder(keys));
    SHIPLOG_TRY(auto journals, open_fleet_journals(address, options_.journal, uses_keys()));
    SHIPLOG_TRY(open_vault(address, keys, std::move(journals.keys)));

    const std::string projection = options_.common.data_dir + "/projection.db";
    const std::string snapshots = options_.common.data_dir + "/snapshots";
    restore_newest_snapshot(snapshots, projection);
    SHIPLOG_TRY(record_, Stack::open({.name = "journal",
                                      .journal = std::move(journals.record),
                                      .projection = projection,
                                      .executor = &loop_,
                                      .random = &random_}));
    SHIPLOG_TRY(ephemera_, Stack::open({.name = "ephemera",
                                        .journal = std::move(journals.ephemera),
                                        .projection = options_.common.data_dir + "/ephemera-projection.db",
                                        .executor = &loop_,
                                        .random = &random_}));
    record_->replica().add_observer(kind_registry_);
    record_->replica().add_observer(access_);
    record_->replica().add_observer(addresses_);
    record_->replica().add_observer(webhooks_);
    if (vault_) record_->replica().add_observer(*vault_);
    snapshots_ = std::make_unique<Snapshots>(*record_, snapshots, options_.snapshot_every, loop_);
    record_->replica().add_observer(*snapshots_);
    SHIPLOG_TRY(make_election(shared, std::move(journals.beats)));
    if (options_.estimators.enabled) {
      EstimatorOptions estimators = options_.estimators;
      estimators.denied_networks = options_.denied_networks;
      SHIPLOG_TRY(estimators_, EstimatorResolver::make(std::move(estimators), loop_));
    }
    make_roles();

    const auto failed = [](const Error& error) {
      log::error("process.stopping", {log::kv("reason", error.message)});
      stop_process();
    };
    SHIPLOG_TRY(record_->start(
        [this](const State& state) {
          interpreter::run_scripts_elsewhere(scripts_.get());
          quarantine_->load(state);
          kind_registry_.load(state);
          access_.load(state);
          addresses_.load(state);
          webhooks_.load(state);
          if (vault_) vault_->load(state);
        },
        failed));
    SHIPLOG_TRY(ephemera_->start([](const State&) {}, failed));
    if (serves_api()) {
      SHIPLOG_TRY(start_api(keys));
    }
    loop_.post([this] {
      roles_->start();
      record_->replica().when_caught_up([this] {
        log::info("journal.caught_up", {log::kv("revision", record_->replica().state().revision().value)});
        if (vault_) {
          vault_->look_after([this](const ObjectKey& object) { return last_states(object); });
          vault_->watch_keys(kLookForKeysEvery, [this](const std::vector<ObjectKey>& lost) {
            loop_.post([this, lost] { tell_lost_keys(lost); });
          });
        }
        make_system_namespaces();
      });
    });
    return ok();
  }

  void stop() {
    if (stopped_) return;
    stopped_ = true;
    if (api_) api_->stop(kStopDeadline);
    if (record_) record_->stop();
    if (ephemera_) ephemera_->stop();
    if (vault_) vault_->stop();
    loop_.call([this] {
      if (roles_) roles_->stop();
    });
    members_io_.reset();
    loop_.stop();
    if (lock_ >= 0) ::close(lock_);
  }

 private:
  bool serves_api() const { return std::ranges::find(options_.roles, "api") != options_.roles.end(); }

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
        if (version.operation != Operation::kRemoved) continue;
        SHIPLOG_TRY(Value state, parse_stored_json(version.json));
        states.push_back(std::move(state));
      }
      return states;
    });
  }

  Result<void> make_election(const std::string& shared, std::shared_ptr<Journal> beats) {
    char host[256] = "localhost";
    ::gethostname(host, sizeof host - 1);
    const std::string identity =
        std::string{host} + "_" + std::to_string(::getpid()) + "_" + to_string(new_entry_id(random_)).substr(0, 8);
    if (!beats) {
      election_ = std::make_unique<FileElection>(
          FileElection::Options{.folder = shared + "/leases", .identity = identity, .executor = &loop_});
      return ok();
    }
    election_ = std::make_unique<JournalElection>(
        JournalElection::Options{.beats = std::move(beats), .identity = identity, .executor = &loop_});
    return ok();
  }

  void make_roles() {
    std::vector<std::string> led;
    for (const RoleEntry* role : roles_of_process(selectable_roles())) led.emplace_back(role->name);
    leaders_ = std::make_unique<Leaders>(*election_, loop_, std::move(led));
    // Not before the processes that start with this one have had time to take their leases.
    loop_.post_after(Millis{2000}, [this] { leaders_->start(); });
    members_io_ = std::make_shared<IoThreads>(1);
    members_ = std::make_unique<HttpsMembers>(
        HttpsMembers::Options{.state = &record_->replica().state(),
                              .executor = &loop_,
                              .io = members_io_,
                              .open = [this](Value value) { return open_sealed(std::move(value)); },
                              .user_agent = kUserAgent,
                              .denied_networks = options_.denied_networks});
    resolver_ = std::make_unique<WebhookResolver>(WebhookResolver::Options{
        .executor = &loop_, .random = &random_, .user_agent = kUserAgent, .denied_networks = options_.denied_networks});
    roles_ =
        std::make_unique<Roles>(Roles::Options{.replica = &record_->replica(),
                                               .executor = &loop_,
                                               .random = &random_,
                                               .election = election_.get(),
                                               .user_agent = kUserAgent,
                                               .on_retry = [this](const auto&... failed) { tell_failure(failed...); }});
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
    const RoleContext context{
        .ephemera = &ephemera_->replica(),
        .members = members_.get(),
        .interpreters = scripts_.get(),
        .estimators = estimators_.get(),
        .estimators_have = options_.estimators.timeout,
        .open_sealed = [this](const Value& manifest) { return open_sealed(manifest); },
        .unread_status = [this](const ObjectKey& work, const Error& error) { tell_failure("collector", work, error); },
        .recorder = recorder_.get(),
        .kinds = &Kinds::compiled(),
        .authority = [this]() -> Result<KeyPair> { return authority_; },  // set before any role begins
        .server = [this] { return server_address(); },
        .hash_every = options_.hash_every,
        .user_agent = kUserAgent};
    for (const RoleEntry* role : roles_of_process(options_.roles)) roles_->add(role->make(context));
  }

  kubernetes_service::ServerAddress server_address() const {
    const std::string& chosen = options_.advertise_address;
    return {chosen.empty() ? address_to_advertise(listen_.host) : chosen, api_->port()};
  }

  /// A failure is nobody's entry: who has had it says so.
  void tell_failure(std::string_view role, const ObjectKey& key, const Error& error) {
    const State& state = record_->replica().state();
    const State::Name policy = role == "binder" ? binder::policy_for(state, key) : State::Name{};
    recorder_->tell(recorder::reports_of_failure(state, role, key, policy, error.message), loop_.now());
  }

  void tell_lost_keys(const std::vector<ObjectKey>& lost) {
    std::vector<recorder::Report> reports;
    for (const ObjectKey& key : lost) {
      const Object* object = record_->replica().state().find(key);
      if (object == nullptr) continue;
      reports.push_back({object->value, "shiplog-vault", true, "KeyLost",
                         "The key of this object is missing: it cannot be read and is not propagated. Restore the keys "
                         "from a backup, or replace or delete the object."});
    }
    if (!reports.empty()) recorder_->tell(std::move(reports), loop_.now());
  }

  Result<void> start_api(const std::string& keys) {
    const HostPort& listen = listen_;
    SHIPLOG_TRY(const Identity identity, load_identity(keys, listen, options_.names));
    api::ApiServer::Options api;
    api.http = http_options(options_.common, listen, identity);
    api.record = &record_->store();
    api.ephemera = &ephemera_->store();
    api.kinds = &kind_registry_;
    api.clock = &loop_;
    api.random = &random_;
    api.vault = vault_.get();
    api.metrics = &metrics_;
    authority_ = identity.authority;
    SHIPLOG_TRY(tokens_, api::TokenSigner::from_key(identity.tokens.key_pem));
    api.access = &access_;
    api.tokens = tokens_.get();
    api.authority_pem = identity.authority.certificate_pem;
    webhooks_.deny(options_.denied_networks);
    api.webhooks = &webhooks_;
    api.denied_networks = options_.denied_networks;
    api.remedies = placement_remedies;
    api.revision_views = true;
    api.addresses = &addresses_;
    api.roles = [this] { return leaders_->now(); };
    api.anonymous = options_.anonymous;
    api.limits = options_.common.limits;
    api.version = SHIPLOG_VERSION;
    api.stuck = [this](Millis longest) { return stuck(loop_, longest); };
    add_gauges();
    SHIPLOG_TRY(api_, api::ApiServer::start(std::move(api)));
    std::string url = api_->url();
    if (listen.host == "0.0.0.0" || listen.host == "::") url = "https://127.0.0.1:" + std::to_string(api_->port());
    log::info("api.listening", {log::kv("url", url)});
    ready_ = [this, identity, url] {
      if (auto written = write_admin_kubeconfig(options_.common.kubeconfig_out, "shiplog", url, identity); !written) {
        log::error("kubeconfig.failed", {log::kv("reason", written.error().message)});
        stop_process();
      }
    };
    return ok();
  }

  void add_gauges() {
    const auto number = [](auto value) { return static_cast<double>(value); };
    Replica& replica = record_->replica();
    metrics_.gauge("shiplog_revision", "Newest folded revision.",
                   [&replica, number] { return number(replica.feed().revision().value); });
    metrics_.gauge("shiplog_entries_folded", "Journal entries folded since the start.",
                   [&replica, number] { return number(replica.entries_folded()); });
    metrics_.gauge("shiplog_journal_offset", "Offset after the last folded entry.",
                   [&replica, number] { return number(replica.next().value); });
    metrics_.gauge("shiplog_caught_up", "1 once everything that was in the journal at the start is folded.",
                   [&replica, number] { return number(replica.caught_up() ? 1 : 0); });
    metrics_.gauge("shiplog_heap_bytes", "Bytes that the process has allocated and not freed.",
                   [number] { return number(heap_bytes()); });
    const Quarantine& quarantine = *quarantine_;
    metrics_.gauge("shiplog_interpreter_quarantined_functions",
                   "Functions of ResourceInterpreterCustomizations that are not run because they exceeded a limit.",
                   [&quarantine, number] { return number(quarantine.functions()); });
    const ScriptResolver& scripts = *scripts_;
    metrics_.gauge("shiplog_interpreter_calls", "Interpreter scripts run by this process since the start.",
                   [&scripts, number] { return number(scripts.calls()); });
    metrics_.gauge("shiplog_interpreter_killed", "Interpreter scripts whose process was killed since the start.",
                   [&scripts, number] { return number(scripts.killed()); });
    metrics_.gauge("shiplog_fold_thread_busy_seconds", "How long the fold thread has been working on one thing.",
                   [this, number] { return number(loop_.busy_for().value) / 1000; });
    if (vault_) {
      metrics_.gauge("shiplog_objects_without_key", "Existing Secrets that cannot be read, as their keys are lost.",
                     [this, number] { return number(vault_->lost()); });
    }
    metrics_.gauge("shiplog_member_limit_exceeded_total",
                   "Answers and watches of members that were dropped, for being larger than they may be.",
                   [this, number] { return number(members_->excesses()); });
    Recorder& recorder = *recorder_;
    metrics_.gauge("shiplog_events_recorded",
                   "Kubernetes Events written or counted up by this process since the start.",
                   [&recorder, number] { return number(recorder.written()); });
    metrics_.gauge("shiplog_events_dropped", "Kubernetes Events that this process had to drop, for too many.",
                   [&recorder, number] { return number(recorder.dropped()); });
  }

  /// Then the API answers for real, and the kubeconfig is written: whoever waits for that file may go on at once.
  void make_system_namespaces() {
    // Shared by the appends under way: the last one that is answered, well or not, lets go of it.
    const std::shared_ptr<void> all{nullptr, [this](void*) {
                                      if (ready_ && !stopped_) ready_();
                                    }};
    // First of all: what follows is to mean what this build says. Processes of an older build stop here, and say why.
    if (record_->replica().state().fold_version() < kFoldVersion) {
      record_->replica().append(api::own_entry(kUserAgent, {FoldVersionActivated{kFoldVersion}}),
                                [all](Result<Outcome>) {});
    }
    FeatureGates gates = record_->replica().state().gates();
    for (const auto& [name, on] : options_.feature_gates) set_feature_gate(gates, name, on);
    if (gates != record_->replica().state().gates()) {
      record_->replica().append(api::own_entry(kUserAgent, {FeatureGatesSet{names_of(gates)}}),
                                [all](Result<Outcome>) {});
    }
    FleetOptions said = record_->replica().state().options();
    for (const OptionSetting& setting : options_.fleet_options) set_fleet_option(said, setting);
    const bool changes_options = said != record_->replica().state().options();
    if (changes_options) {
      // Services get their addresses by what these options say, so the first ones wait until they are in force.
      record_->replica().append(api::own_entry(kUserAgent, {OptionsSet{settings_of(said)}}),
                                [this, all](const Result<Outcome>&) { begin_services(all); });
    }
    if (const auto settings = settings_of(said); !settings.empty()) {
      log::info("options.in_force", {log::kv("options", summary_of(OptionsSet{settings}))});
    }
    for (const std::string& name : names_of(gates)) log::info("feature_gate.on", {log::kv("name", name)});
    for (const std::string& name : system_namespaces()) {
      const ObjectKey key{type::kNamespace, "", name};
      if (record_->replica().state().find(key) != nullptr) continue;
      // Of several processes one is first; the others' are refused, which is as good.
      record_->replica().append(api::own_entry(kUserAgent, {ObjectCreated{key, new_namespace(name)}}),
                                [all](Result<Outcome>) {});
    }
    if (!serves_api()) return;
    append_missing("access", api::missing_access(record_->replica().state()), all);
    append_missing("apiservices",
                   apiservice_registration::decide(record_->replica().state(), loop_.now(), Kinds::compiled()), all);
    if (!changes_options) begin_services(all);
  }

  /// The addresses of Services that lack them, and the Service of this API. `all`: released once it is durable or
  /// failed.
  void begin_services(const std::shared_ptr<void>& all) {
    if (!serves_api() || stopped_) return;
    addresses_.begin(record_->replica(), random_, kUserAgent);
    append_missing("kubernetes-service",
                   kubernetes_service::decide(record_->replica().state(), server_address(),
                                              kubernetes_service::Addresses::kReplace),
                   all);
  }

  /// What every control plane has from its start: the roles keep it from then on. Of several processes that start one
  /// is first; the others' entries are refused, which is as good.
  void append_missing(const char* what, const Decided& decided, const std::shared_ptr<void>& all) {
    if (const auto* decision = std::get_if<Decision>(&decided)) append_missing(what, decision->events, all);
  }
  void append_missing(const char* what, std::vector<Event> events, const std::shared_ptr<void>& all) {
    if (events.empty()) return;
    record_->replica().append(
        api::own_entry(kUserAgent, std::move(events)), [what, all](const Result<Outcome>& outcome) {
          if (!outcome)
            log::error("bootstrap.failed", {log::kv("what", what), log::kv("reason", outcome.error().message)});
        });
  }

  const ServeOptions& options_;
  std::atomic<bool> stopped_{false};
  std::function<void()> ready_;  ///< set by who serves the API
  int lock_ = -1;
  HostPort listen_;
  SystemRandom random_;
  Metrics metrics_;
  api::KindRegistry kind_registry_{Kinds::compiled()};
  api::Access access_;
  api::ServiceAllocator addresses_;
  api::Webhooks webhooks_;
  KeyPair authority_;  ///< of who serves the API; set before any role begins
  std::unique_ptr<api::TokenSigner> tokens_;
  std::unique_ptr<Vault> vault_;
  ThreadLoop loop_;
  std::unique_ptr<Stack> record_, ephemera_;
  std::unique_ptr<Snapshots> snapshots_;
  std::unique_ptr<Recorder> recorder_;
  std::shared_ptr<IoThreads> members_io_;
  std::unique_ptr<HttpsMembers> members_;
  std::unique_ptr<QuestionResolver> resolver_, estimators_;
  std::unique_ptr<Quarantine> quarantine_;
  std::unique_ptr<ScriptResolver> scripts_;
  std::unique_ptr<Election> election_;
  std::unique_ptr<Leaders> leaders_;
  std::unique_ptr<Roles> roles_;
  std::unique_ptr<api::ApiServer> api_;
};

}  // namespace

int serve(const ServeOptions& options) {
  ControlPlane plane{options};
  if (auto started = plane.start(); !started) {
    std::fprintf(stderr, "shiplogd: %s\n", started.error().message.c_str());
    return 1;
  }
  wait_for_stop();
  log::info("process.stopping", {});
  const StopDeadline deadline{Millis{2 * kStopDeadline.value}};
  plane.stop();
  return stopped_by_failure() ? 1 : 0;
}

}  // namespace shiplog
