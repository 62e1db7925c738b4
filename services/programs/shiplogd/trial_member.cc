#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <vector>

#include <unistd.h>

#include "events/base/hash.h"
#include "events/base/system.h"
#include "events/journal/memory_journal.h"
#include "services/adapters/vault/vault.h"
#include "services/api/api_server.h"
#include "services/api/auth/access.h"
#include "services/api/auth/rbac/bootstrap.h"
#include "services/api/auth/token_signer.h"
#include "services/api/own_entry.h"
#include "services/programs/member/accounts.h"
#include "services/programs/member/member.h"
#include "services/programs/member/switches.h"
#include "services/programs/shiplogd/process.h"
#include "services/programs/shiplogd/stack.h"
#include "services/roles/registry.h"
#include "services/runtime/election.h"
#include "services/runtime/log.h"
#include "services/runtime/roles.h"
#include "services/runtime/thread_loop.h"

namespace shiplog {
namespace {

constexpr const char* kUserAgent = "shiplogd-member/" SHIPLOG_VERSION;

/// A member is alone: it always leads.
class Alone final : public Election {
 public:
  Alone(std::string identity, Executor& executor) : identity_{std::move(identity)}, executor_{executor} {}
  const std::string& identity() const override { return identity_; }
  void campaign(const std::string&, std::function<void(bool)> changed) override {
    executor_.post([changed = std::move(changed)] { changed(true); });
  }
  void resign() override {}

 private:
  std::string identity_;
  Executor& executor_;
};

/// A folder that goes with the process.
struct TemporaryFolder {
  std::string path;
  ~TemporaryFolder() {
    std::error_code none;
    if (!path.empty()) std::filesystem::remove_all(path, none);
  }
};

class TrialMember {
 public:
  explicit TrialMember(const TrialMemberOptions& options) : options_{options} {}
  ~TrialMember() { stop(); }

  Result<void> start() {
    SHIPLOG_TRY(const HostPort listen, parse_host_port(options_.common.listen));  // before anything is made
    SHIPLOG_TRY(const std::string folder, make_working_folder());
    // Objects live in memory and are gone with the process; the identity stays, and the accounts of control planes,
    // when there is a place for them.
    const std::string& data_dir = options_.common.data_dir;
    SHIPLOG_TRY(identity_, load_identity(data_dir.empty() ? folder : data_dir, listen, {}));

    // The projection is a file: Secrets are sealed in it. Their keys last as long as what outlives the process
    // (Accounts).
    if (data_dir.empty()) {
      vault_ = Vault::in_memory();
    } else {
      SHIPLOG_TRY(vault_, Vault::open_folder(data_dir));
    }

    MemoryJournalOptions journal;
    journal.max_records = 50'000;
    SHIPLOG_TRY(stack_, Stack::open({.name = "member",
                                     .journal = make_memory_journal(journal),
                                     .projection = folder + "/projection.db",
                                     .executor = &loop_,
                                     .random = &random_}));
    stack_->replica().add_observer(kind_registry_);
    stack_->replica().add_observer(access_);
    if (!data_dir.empty()) {
      accounts_ = std::make_unique<Accounts>(data_dir + "/accounts.json");
      SHIPLOG_TRY(logged_in_, accounts_->restored());
      stack_->replica().add_observer(*accounts_);
    }
    stack_->replica().add_observer(*vault_);
    roles_ = std::make_unique<Roles>(Roles::Options{.replica = &stack_->replica(),
                                                    .executor = &loop_,
                                                    .random = &random_,
                                                    .election = &election_,
                                                    .user_agent = kUserAgent});
    Switches::Settings settings;
    settings.latency = Millis{options_.latency_ms};
    settings.refuse = options_.refuse;
    settings.flap_seconds = options_.flap_seconds;
    settings.ready_delay = options_.member.ready_delay;
    SHIPLOG_TRY(switches_, Switches::make(loop_, settings));
    MemberOptions member = options_.member;
    member.switches = switches_;
    for (auto& service : make_member_services(member)) roles_->add(std::move(service));
    for (const char* name : {"lifecycle", "clusterrole-aggregation", "serviceaccount-token"}) {
      roles_->add(find_role(name)->make({}));
    }
    SHIPLOG_TRY(stack_->start([this](const State& state) { vault_->load(state); },
                              [](const Error& error) {
                                log::error("process.stopping", {log::kv("reason", error.message)});
                                stop_process();
                              }));
    api::ApiServer::Options api;
    api.limits = options_.common.limits;
    api.http = http_options(options_.common, listen, identity_);
    api.record = &stack_->store();
    api.ephemera = &stack_->store();
    api.kinds = &kind_registry_;
    api.clock = &loop_;
    api.random = &random_;
    api.vault = vault_.get();
    api.metrics = &metrics_;
    SHIPLOG_TRY(tokens_, api::TokenSigner::from_key(identity_.tokens.key_pem));
    api.access = &access_;
    api.tokens = tokens_.get();
    api.authority_pem = identity_.authority.certificate_pem;
    api.version = SHIPLOG_VERSION;
    api.stuck = [this](Millis longest) { return stuck(loop_, longest); };
    api.intercept = [switches = switches_](const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer) {
      return switches->intercept(request, writer);
    };
    SHIPLOG_TRY(api_, api::ApiServer::start(std::move(api)));
    switches_->resume_with([this](HttpRequest request, std::shared_ptr<ResponseWriter> writer) {
      api_->handle(std::move(request), std::move(writer));
    });
    log::info("member.listening", {log::kv("name", options_.member.name), log::kv("url", api_->url())});
    loop_.post([this] { begin(); });
    return ok();
  }

  void stop() {
    if (stopped_) return;
    stopped_ = true;
    if (api_) api_->stop(Millis{2'000});
    if (stack_) stack_->stop();
    loop_.call([this] {
      if (roles_) roles_->stop();
    });
    loop_.stop();
  }

 private:
  /// For the projection. A process that is killed leaves it behind: in the data folder the next one clears it away.
  Result<std::string> make_working_folder() {
    const std::string& data_dir = options_.common.data_dir;
    if (!data_dir.empty()) {
      SHIPLOG_TRY(make_folder(data_dir));
      SHIPLOG_TRY(lock_, lock_folder(data_dir));
      working_.path = data_dir + "/working";
      std::error_code none;
      std::filesystem::remove_all(working_.path, none);
      SHIPLOG_TRY(make_folder(working_.path));
      return working_.path;
    }
    std::error_code trouble;
    std::string folder = (std::filesystem::temp_directory_path(trouble) / "shiplog-member-XXXXXX").string();
    if (trouble || ::mkdtemp(folder.data()) == nullptr) {
      return Error{ErrorCode::kIo, "cannot make a temporary folder " + folder + ": set TMPDIR to a folder that exists"};
    }
    return working_.path = folder;
  }

  void begin() {
    Entry entry;
    // The same cluster after a restart: its objects' uids (kube-system's is the cluster's id) come from its identity.
    const Hash128 digest = siphash128(options_.member.name + "\n" + identity_.authority.certificate_pem);
    for (size_t at = 0; at < 8; ++at) {
      entry.id.bytes[at] = static_cast<uint8_t>(digest.lo >> (8 * at));
      entry.id.bytes[8 + at] = static_cast<uint8_t>(digest.hi >> (8 * at));
    }
    entry.actor = {.user = "system:shiplog",
                   .groups = {"system:shiplog"},
                   .service = "member",
                   .source_ip = "",
                   .user_agent = kUserAgent};
    entry.events = initial_objects(options_.member);
    std::ranges::move(logged_in_, std::back_inserter(entry.events));
    entry.events.emplace_back(FoldVersionActivated{kFoldVersion});
    stack_->replica().append(std::move(entry), [this](Result<Outcome> outcome) {
      if (!outcome || outcome.value().refusal) {
        log::error("member.start_failed",
                   {log::kv("reason", outcome ? outcome.value().refusal->reason : outcome.error().message)});
        return stop_process();
      }
      roles_->start();
      stack_->replica().append(api::own_entry(kUserAgent, api::missing_access(stack_->replica().state())),
                               [](const Result<Outcome>& bootstrapped) {
                                 if (bootstrapped) return;
                                 log::error("bootstrap.failed", {log::kv("reason", bootstrapped.error().message)});
                               });
      if (auto written =
              write_admin_kubeconfig(options_.common.kubeconfig_out, options_.member.name, api_->url(), identity_);
          !written) {
        log::error("kubeconfig.failed", {log::kv("reason", written.error().message)});
        stop_process();
      }
    });
  }

  const TrialMemberOptions& options_;
  bool stopped_ = false;
  int lock_ = -1;
  TemporaryFolder working_;
  Identity identity_;
  SystemRandom random_;
  Metrics metrics_;
  api::KindRegistry kind_registry_{Kinds::compiled()};
  api::Access access_;
  std::unique_ptr<Accounts> accounts_;  ///< nullptr: there is no place for them
  std::vector<Event> logged_in_;        ///< of the life before
  std::unique_ptr<api::TokenSigner> tokens_;
  std::unique_ptr<Vault> vault_;
  ThreadLoop loop_;
  std::shared_ptr<Switches> switches_;
  Alone election_{"member", loop_};
  std::unique_ptr<Stack> stack_;
  std::unique_ptr<Roles> roles_;
  std::unique_ptr<api::ApiServer> api_;
};

}  // namespace

int trial_member(const TrialMemberOptions& options) {
  TrialMember member{options};
  if (auto started = member.start(); !started) {
    std::fprintf(stderr, "shiplogd: %s\n", started.error().message.c_str());
    return 1;
  }
  wait_for_stop();
  const StopDeadline deadline{Millis{10'000}};
  member.stop();
  return stopped_by_failure() ? 1 : 0;
}

}  // namespace shiplog
