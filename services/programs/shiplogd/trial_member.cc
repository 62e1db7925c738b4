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
#include "services/api/listing.h"
#include "services/programs/member/accounts.h"
#include "services/programs/member/fault_switches.h"
#include "services/programs/member/member.h"
#include "services/programs/member/metrics.h"
#include "services/programs/member/pod_service.h"
#include "services/programs/member/resource_quota.h"
#include "services/programs/shiplogd/api_wiring.h"
#include "services/programs/shiplogd/probes.h"
#include "services/programs/shiplogd/process_metrics.h"
#include "services/programs/shiplogd/start_up.h"
#include "services/roles/lifecycle/role.h"
#include "services/roles/registry.h"
#include "services/runtime/append_without_lease.h"
#include "services/runtime/election.h"
#include "services/runtime/log.h"
#include "services/runtime/roles.h"
#include "services/runtime/thread_loop.h"

namespace shiplog {
namespace {

constexpr const char* kMemberUserAgent = "shiplogd-member/" SHIPLOG_VERSION;

/// A member is alone: it always leads.
class Alone final : public Election {
 public:
  Alone(std::string identity, Executor& executor) : identity_{std::move(identity)}, executor_{executor} {}
  const std::string& identity() const override { return identity_; }
  void campaign(const std::string&, std::function<void(bool)> changed) override {
    executor_.post([changed = std::move(changed)] { changed(true); });
  }
  void withdraw(const std::string&) override {}
  void announce(const std::string&) override {}
  std::vector<std::string> candidates(const std::string&) override { return {identity_}; }
  void resign() override {}

 private:
  std::string identity_;
  Executor& executor_;
};

/// A folder that is removed with the process.
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
    // Objects live in memory and are lost with the process; the identity stays, and the accounts of control planes,
    // when there is a place for them.
    const std::string& data_dir = options_.common.data_dir;
    SHIPLOG_TRY(identity_, load_identity(data_dir.empty() ? folder : data_dir, listen, {}));

    SHIPLOG_TRY(open_stack(folder));
    SHIPLOG_TRY(make_roles());
    SHIPLOG_TRY(stack_->start([this](const State& state) { wiring_.load(state); }, stop_after_failure));
    SHIPLOG_TRY(start_api(listen));
    SHIPLOG_TRY(probes_,
                start_probes(options_.common.probes, [this](std::string_view path) { return wiring_.health(path); }));
    log::info("member.listening", {log::kv("name", options_.member.name), log::kv("url", api_->url())});
    loop_.post([this] { begin(); });
    return ok();
  }

  void stop() {
    if (stopped_) return;
    stopped_ = true;
    probes_.clear();
    pods_.stop();
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

  Result<void> open_stack(const std::string& folder) {
    const std::string& data_dir = options_.common.data_dir;
    // The projection is a file: Secrets are sealed in it. Their keys last as long as what outlives the process
    // (Accounts).
    if (data_dir.empty()) {
      vault_ = Vault::in_memory();
    } else {
      SHIPLOG_TRY(vault_, Vault::open_folder(data_dir));
    }
    MemoryJournalOptions journal;
    journal.max_records = 50'000;
    SHIPLOG_TRY(stack_, JournalStack::open({.name = "member",
                                            .journal = make_memory_journal(journal),
                                            .projection = folder + "/projection.db",
                                            .executor = &loop_,
                                            .random = &random_}));
    wiring_.observe(
        {.record = stack_.get(), .ephemera = stack_.get(), .loop = &loop_, .random = &random_, .vault = vault_.get()});
    stack_->replica().add_observer(pods_);
    if (!data_dir.empty()) {
      accounts_ = std::make_unique<Accounts>(data_dir + "/accounts.json");
      SHIPLOG_TRY(logged_in_, accounts_->restored());
      stack_->replica().add_observer(*accounts_);
    }
    return ok();
  }

  Result<void> make_roles() {
    roles_ = std::make_unique<Roles>(Roles::Options{.replica = &stack_->replica(),
                                                    .executor = &loop_,
                                                    .random = &random_,
                                                    .election = &election_,
                                                    .user_agent = kMemberUserAgent});
    FaultSwitches::Settings settings;
    settings.latency = Millis{options_.latency_ms};
    settings.refuse = options_.refuse;
    settings.flap_seconds = options_.flap_seconds;
    settings.ready_delay = options_.member.ready_delay;
    SHIPLOG_TRY(switches_, FaultSwitches::make(loop_, settings));
    MemberOptions member = options_.member;
    member.switches = switches_;
    for (auto& role : make_member_services(member)) roles_->add(std::move(role));
    // The label of protected objects comes along with them; the webhook that reads it is the control plane's.
    roles_->add(make_lifecycle_role(false));
    for (const char* name : {"clusterrole-aggregation", "serviceaccount-token"}) {
      roles_->add(find_role(name)->make({}));
    }
    return ok();
  }

  Result<void> start_api(const HostPort& listen) {
    SHIPLOG_TRY(api::ApiServer::Options api, wiring_.api_options(options_.common, listen, identity_));
    api.intercept = [switches = switches_](const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer) {
      return switches->intercept(request, writer);
    };
    api.admit_pod = [](const Value& pod, const std::vector<Value>& quotas) {
      member::PodQuotas judged{quotas};
      std::string refusal = judged.admit(pod);
      return api::PodAdmission{std::move(refusal), judged.charged()};
    };
    api.pod_actions = [this](const api::RequestContextPtr& context, const Value& pod,
                             const api::StoredObjects& objects) { pods_.serve(context, pod, objects); };
    api.metrics = [this](const Kind& kind, const std::string& ns, const api::StoredObjects& objects) {
      return metrics_of(kind, ns, objects);
    };
    SHIPLOG_TRY(api_, api::ApiServer::start(std::move(api)));
    switches_->resume_with([this](HttpRequest request, std::shared_ptr<ResponseWriter> writer) {
      api_->handle(std::move(request), std::move(writer));
    });
    return ok();
  }

  Result<std::vector<Value>> metrics_of(const Kind& kind, const std::string& ns,
                                        const api::StoredObjects& objects) const {
    const bool nodes = kind.kind == "NodeMetrics";
    const UtcMillis now = loop_.now();
    SHIPLOG_TRY(const auto pods, stored(objects, "pods", nodes ? "" : ns));
    std::vector<Value> workloads;
    for (const char* plural : {"deployments", "replicasets", "statefulsets"}) {
      SHIPLOG_TRY(auto listed, stored(objects, plural, nodes ? "" : ns, "apps"));
      std::ranges::move(listed, std::back_inserter(workloads));
    }
    if (!nodes) return member::pod_metrics(pods, workloads, now);
    SHIPLOG_TRY(const auto all_nodes, stored(objects, "nodes", ""));
    return member::node_metrics(all_nodes, pods, workloads, now);
  }

  static Result<std::vector<Value>> stored(const api::StoredObjects& objects, const char* plural, const std::string& ns,
                                           const char* group = "") {
    SHIPLOG_TRY(auto listed, api::list_collection(objects, *Kinds::compiled().find(group, "v1", plural), ns, {}));
    return std::move(listed.items);
  }

  void begin() {
    EntryOrigin origin{.service = "member", .user_agent = kMemberUserAgent};
    // The same cluster after a restart: its objects' uids (kube-system's is the cluster's id) derive from its identity.
    const Hash128 digest = siphash128(options_.member.name + "\n" + identity_.authority.certificate_pem);
    for (size_t index = 0; index < 8; ++index) {
      origin.id.bytes[index] = static_cast<uint8_t>(digest.lo >> (8 * index));
      origin.id.bytes[8 + index] = static_cast<uint8_t>(digest.hi >> (8 * index));
    }
    Decision initial{initial_objects(options_.member), {}};
    Value metrics = member::metrics_api_service();
    const ObjectKey key{"apiservices.apiregistration.k8s.io", "", metrics["metadata"]["name"].str()};
    initial.events.emplace_back(ObjectCreated{key, std::move(metrics)});
    std::ranges::move(logged_in_, std::back_inserter(initial.events));
    initial.events.emplace_back(FoldVersionActivated{kFoldVersion});
    append_without_lease(stack_->replica(), std::move(origin), std::move(initial),
                         [this](const Result<Outcome>& outcome) { on_begun(outcome); });
  }

  void on_begun(const Result<Outcome>& outcome) {
    if (!outcome || outcome.value().refusal) {
      log::error("member.start_failed",
                 {log::kv("reason", outcome ? outcome.value().refusal->reason : outcome.error().message)});
      return stop_process();
    }
    roles_->start();
    append_in_turn(stack_->replica(), {.service = "api", .user_agent = kMemberUserAgent}, {{"access", decide_access}},
                   [] {});
    if (auto written =
            write_admin_kubeconfig(options_.common.kubeconfig_out, options_.member.name, api_->url(), identity_);
        !written) {
      log::error("kubeconfig.failed", {log::kv("reason", written.error().message)});
      stop_process();
    }
  }

  const TrialMemberOptions& options_;
  bool stopped_ = false;
  int lock_ = -1;
  TemporaryFolder working_;
  Identity identity_;
  SystemRandom random_;
  ApiWiring wiring_{member::with_metrics(Kinds::compiled())};
  std::unique_ptr<metrics::ScrapeHook> process_metrics_ = export_process_metrics();
  std::unique_ptr<Accounts> accounts_;  ///< nullptr: there is no place for them
  std::vector<Event> logged_in_;        ///< of the life before
  std::unique_ptr<Vault> vault_;
  ThreadLoop loop_;
  std::shared_ptr<FaultSwitches> switches_;
  Alone election_{"member", loop_};
  member::PodService pods_;
  std::unique_ptr<JournalStack> stack_;
  std::unique_ptr<Roles> roles_;
  std::unique_ptr<api::ApiServer> api_;
  std::vector<std::unique_ptr<ProbeServer>> probes_;
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
