#include "services/programs/agent/member_agent.h"

#include <algorithm>
#include <utility>

#include "events/state/answers.h"
#include "events/state/object.h"
#include "events/state/work.h"
#include "services/http/same_target.h"
#include "services/interpreter/customizations.h"
#include "services/interpreter/scripts.h"
#include "services/programs/agent/credentials.h"
#include "services/programs/agent/secret_report.h"
#include "services/runtime/log.h"

namespace shiplog::agent {
namespace {

constexpr const char* kControlPlane = "control-plane";
constexpr const char* kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters";
/// How often kubeconfigs and tokens are read again; they are replaced before they expire.
constexpr Millis kReloadEvery{30'000};
constexpr Millis kListWorksEvery{10'000};
constexpr int64_t kLongestPauseMs = 30'000;

Error error_of(const MemberResponse& response, const std::string& what) {
  const bool denied = response.status == 401 || response.status == 403;
  return {denied ? ErrorCode::kForbidden : ErrorCode::kUnavailable, what + ": " + response.message()};
}

}  // namespace

MemberAgent::MemberAgent(AgentOptions options) : options_{std::move(options)} {}
MemberAgent::~MemberAgent() { stop(); }

Result<void> MemberAgent::start() {
  SHIPLOG_TRY(control_plane_file_, control_plane_target(options_));
  SHIPLOG_TRY(member_file_, member_target(options_));
  io_ = std::make_shared<IoThreads>(1);
  const auto access = [&](const std::string& name) {
    return std::make_unique<ApiAccess>(ApiAccess::Options{
        .name = name, .executor = &loop_, .random = &random_, .io = io_, .user_agent = options_.user_agent});
  };
  control_plane_ = access(kControlPlane);
  member_ = access(options_.cluster);
  control_plane_->use(control_plane_file_);
  member_->use(member_file_);
  loop_.post([this] { begin(); });
  return ok();
}

void MemberAgent::stop() {
  if (stopped_.exchange(true)) return;
  loop_.call([this] {
    *alive_ = false;
    mirrors_.clear();
    tunnels_.reset();
    rotation_.reset();
    copy_.reset();
    interpreter::run_scripts_elsewhere(nullptr);
  });
  scripts_.reset();
  webhooks_.reset();
  member_.reset();
  control_plane_.reset();
  // A callback of a watch holds its client, and the client these threads: without stop() they could outlive the loop.
  if (io_ != nullptr) io_->stop();
  loop_.stop();
}

void MemberAgent::begin() {
  webhooks_ = std::make_unique<WebhookResolver>(
      WebhookResolver::Options{.executor = &loop_, .random = &random_, .user_agent = options_.user_agent});
  scripts_ = std::make_unique<ScriptResolver>(
      ScriptResolver::Options{.executor = &loop_,
                              .others = webhooks_.get(),
                              .sandbox = {.clock = &loop_},
                              .overran = [this](const Question& question, const interpreter::Overrun& overrun,
                                                const std::function<void()>& then) {
                                if (copy_ != nullptr) copy_->quarantine(question, overrun);
                                then();
                              }});
  interpreter::run_scripts_elsewhere(scripts_.get());
  make_copy();
  later(kReloadEvery, [this] { reload_credentials(); });
  log::info("agent.started", {log::kv("cluster", options_.cluster), log::kv("member", member_->target().url),
                              log::kv("control_plane", control_plane_->target().url)});
  rotate_certificate();
  look_for_expiry();
  identify_member();
}

void MemberAgent::make_copy() {
  copy_ = std::make_unique<FleetCopy>(FleetCopy::Options{
      .cluster = options_.cluster,
      .executor = &loop_,
      .random = &random_,
      .member = &member_->server(),
      .control_plane = &control_plane_->server(),
      .control_plane_name = kControlPlane,
      .resolver = scripts_.get(),
      .collector = {.counts_resources = options_.counts_resources,
                    .summaries = options_.summaries,
                    .probe_every = options_.status_every,
                    .success_threshold = options_.success_threshold,
                    .failure_threshold = options_.failure_threshold,
                    .in_member = true},
      .works_at_once = options_.works_at_once,
      .failed =
          [](const std::string& what, const ObjectKey& key, const Error& error) {
            log::warn("agent.retry",
                      {log::kv("what", what), log::kv("key", to_string(key)), log::kv("reason", error.message)});
          },
      .doubts_works =
          [this] {
            if (works_ == nullptr || loop_.now() - works_listed_ < kListWorksEvery) return;
            works_listed_ = loop_.now();
            works_->list_again();
          }});
}

// --- access ----------------------------------------------------------------------------------------------------------

/// Files are replaced while the agent runs: a rotated certificate, a new control plane, the token of its pod. What is
/// in use stays until a file differs from what it was when it was read last.
void MemberAgent::reload_credentials() {
  later(kReloadEvery, [this] { reload_credentials(); });
  const auto read_again = [this](const char* what, Result<ClientTarget> read, ClientTarget& last,
                                 const std::function<void(const ClientTarget&)>& use) {
    if (read && !same_target(read.value(), last)) {
      last = read.value();
      use(last);
      log::info("agent.credentials_replaced", {log::kv("what", what), log::kv("url", last.url)});
    }
    trouble(what, read ? nullptr : &read.error());
  };
  read_again("karmada-kubeconfig", control_plane_target(options_), control_plane_file_,
             [this](const ClientTarget& target) {
               control_plane_->use(target);
               use_control_plane(target);
             });
  read_again("kubeconfig", member_target(options_), member_file_, [this](const ClientTarget& target) {
    member_->use(target);
    if (tunnels_ != nullptr) tunnels_->use(control_plane_->target(), target.url);
  });
  look_for_expiry();
}

/// Where certificates are rotated, the rotation reports it. Otherwise all there would be is that connections fail.
void MemberAgent::look_for_expiry() {
  if (options_.rotates_certificate) return;
  const auto error = expired(control_plane_->target().certificate_pem, options_.karmada_kubeconfig, loop_.now());
  trouble("certificate", error ? &*error : nullptr);
}

/// It may be another control plane now, under the same name: everything is read anew.
void MemberAgent::use_control_plane(const ClientTarget& target) {
  for (const auto& mirror : mirrors_) mirror->list_again();
  if (tunnels_ != nullptr) tunnels_->use(target, member_->target().url);
}

void MemberAgent::rotate_certificate() {
  if (!options_.rotates_certificate) return;
  rotation_ = std::make_unique<CertificateRotation>(
      CertificateRotation::Options{.agent = &options_,
                                   .executor = &loop_,
                                   .random = &random_,
                                   .member = &member_->server(),
                                   .control_plane = &control_plane_->server(),
                                   .control_plane_name = kControlPlane,
                                   .registered = [this] { return described_; },
                                   .present = [this]() -> const ClientTarget& { return control_plane_->target(); },
                                   .rotated =
                                       [this](const ClientTarget& target) {
                                         control_plane_->use(target);
                                         // Only the certificate is new: watches continue.
                                         if (tunnels_ != nullptr) tunnels_->use(target, member_->target().url);
                                         log::info("agent.certificate_rotated", {log::kv("cluster", options_.cluster)});
                                       },
                                   .trouble = [this](const Error* error) { trouble("certificate", error); }});
  rotation_->start();
}

void MemberAgent::ask_control_plane(MemberRequest request, Answered then) {
  control_plane_->server().request(kControlPlane, std::move(request),
                                   [alive = alive_, then = std::move(then)](const Result<MemberResponse>& response) {
                                     if (*alive) then(response);
                                   });
}

void MemberAgent::ask_member(std::string path, Answered then) {
  MemberRequest request;
  request.path = std::move(path);
  member_->server().request(options_.cluster, std::move(request),
                            [alive = alive_, then = std::move(then)](const Result<MemberResponse>& response) {
                              if (*alive) then(response);
                            });
}

void MemberAgent::later(Millis delay, std::function<void()> run) {
  loop_.post_after(delay, [alive = alive_, run = std::move(run)] {
    if (*alive) run();
  });
}

/// Logged when it begins, when its cause changes, and when it is over.
void MemberAgent::trouble(const std::string& what, const Error* error) {
  const std::lock_guard lock{troubles_mutex_};
  const auto known = troubles_.find(what);
  if (error == nullptr) {
    if (known == troubles_.end()) return;
    troubles_.erase(known);
    log::info("agent.recovered", {log::kv("what", what)});
  } else if (known == troubles_.end() || known->second != error->message) {
    troubles_[what] = error->message;
    log::warn("agent.trouble", {log::kv("what", what), log::kv("reason", error->message)});
  }
}

std::vector<HealthCheck> MemberAgent::health(std::string_view path) const {
  if (path != "/readyz") return {};
  std::string reason = following_ ? "" : "the Works of cluster " + options_.cluster + " have not been read yet";
  const std::lock_guard lock{troubles_mutex_};
  for (const auto& [what, why] : troubles_) reason += (reason.empty() ? "" : "; ") + what + ": " + why;
  return {{"control-plane", reason}};
}

// --- the Cluster -----------------------------------------------------------------------------------------------------

void MemberAgent::identify_member() {
  ask_member("/api/v1/namespaces/kube-system", [this](const Result<MemberResponse>& response) {
    if (response && response.value().status == 200) {
      member_id_ = response.value().body["metadata"]["uid"].str();
      trouble("member", nullptr);
    } else {
      const Error error =
          response ? error_of(response.value(), "reading namespace kube-system of the member") : response.error();
      trouble("member", &error);
    }
    find_cluster();
  });
}

/// Before the Cluster is created, as it cannot be changed by the agent to refer to them later; and once it is there, as
/// their owner, and known not to be that of another member, whose Secrets these would replace. `cluster` null: it is
/// not there.
void MemberAgent::report_secrets(const Value& cluster, std::function<void()> then) {
  const std::string uid{uid_of(cluster)};
  SecretReport::run({.agent = &options_,
                     .executor = &loop_,
                     .member = &member_->server(),
                     .control_plane = &control_plane_->server(),
                     .control_plane_name = kControlPlane,
                     .owner = uid.empty() ? Value{} : owner_of_secrets(cluster),
                     .ca_pem = member_->target().ca_pem,
                     .server_name = member_->target().server_name,
                     .done = [this, alive = alive_, uid, then = std::move(then)](const std::optional<Error>& error) {
                       if (!*alive) return;
                       secrets_reported_ = !error;
                       secrets_owner_ = error ? "" : uid;
                       trouble("report-secrets", error ? &*error : nullptr);
                       if (error && !uid.empty()) later(kReloadEvery, [this, uid] { report_secrets_again(uid); });
                       then();
                     }});
}

void MemberAgent::report_secrets_again(const std::string& uid) {
  const Value& cluster = copy_->remote_cluster();
  if (uid_of(cluster) == uid) report_secrets(cluster, [] {});
}

MemberDescription MemberAgent::describe_member() const {
  MemberDescription member;
  member.id = member_id_;
  member.api_endpoint = options_.api_endpoint.empty() ? member_->target().url : options_.api_endpoint;
  member.insecure = member_->target().insecure;
  member.has_secret = secrets_reported_ && options_.reports_credentials;
  member.has_impersonator = secrets_reported_ && options_.reports_impersonator;
  return member;
}

void MemberAgent::find_cluster() {
  MemberRequest request;
  request.path = std::string{kClusters} + "/" + options_.cluster;
  ask_control_plane(std::move(request), [this](const Result<MemberResponse>& response) { take_found(response); });
}

void MemberAgent::take_found(const Result<MemberResponse>& response) {
  if (!response) return retry_cluster(response.error());
  if (response.value().status == 404) {
    // A Cluster without the member's id could be entered twice under different names.
    if (member_id_.empty()) {
      return retry_cluster({ErrorCode::kUnavailable, "the Cluster cannot be created while the member is unreachable"});
    }
    if (secrets_reported_) return create_cluster();
    return report_secrets({}, [this] {
      if (secrets_reported_) return create_cluster();
      retry_cluster(
          {ErrorCode::kUnavailable, "the Cluster cannot be created before the Secrets of --report-secrets are stored"});
    });
  }
  if (response.value().status != 200) {
    return retry_cluster(error_of(response.value(), "reading cluster " + options_.cluster));
  }
  const std::string_view id = response.value().body["spec"]["id"].as_string();
  if (!id.empty() && !member_id_.empty() && id != member_id_) {
    return retry_cluster({ErrorCode::kConflict, "the cluster " + options_.cluster +
                                                    " is another member than this agent's: its spec.id is " +
                                                    std::string{id} + ", and the member's is " + member_id_});
  }
  const Value& cluster = response.value().body;
  const bool owned = secrets_reported_ && secrets_owner_ == uid_of(cluster);
  if (owned || member_id_.empty()) return take_own(cluster);
  report_secrets(cluster, [this, cluster] { take_own(cluster); });
}

void MemberAgent::take_own(const Value& cluster) {
  trouble("cluster", nullptr);
  tries_ = 0;
  if (!std::exchange(described_, true) && updated_cluster(cluster, options_, describe_member())) {
    log::warn("agent.cluster_differs",
              {log::kv("reason",
                       "the Cluster is described differently than by the flags of this agent, which has no "
                       "permission to update it: change it with kubectl")});
  }
  follow_cluster();
}

void MemberAgent::retry_cluster(const Error& error) {
  trouble("cluster", &error);
  const int64_t pause = std::min(kLongestPauseMs, int64_t{500} << std::min(tries_++, 10));
  later(Millis{pause / 2 + static_cast<int64_t>(random_below(random_, static_cast<uint64_t>(pause)) / 2)},
        [this] { secrets_reported_ ? find_cluster() : identify_member(); });
}

void MemberAgent::create_cluster() {
  MemberRequest request;
  request.method = "POST";
  request.path = kClusters;
  request.body = new_cluster(options_, describe_member());
  ask_control_plane(std::move(request), [this](const Result<MemberResponse>& response) {
    const int status = response ? response.value().status : 0;
    if (status == 201) log::info("agent.cluster_created", {log::kv("cluster", options_.cluster)});
    if (status == 201 || status == 409) return find_cluster();
    retry_cluster(response ? error_of(response.value(), "creating cluster " + options_.cluster) : response.error());
  });
}

// --- following the control plane -------------------------------------------------------------------------------------

std::unique_ptr<CollectionMirror> MemberAgent::mirror(const std::string& path, const std::string& query,
                                                      std::function<void(std::vector<Value>)> listed,
                                                      std::function<void(std::string_view, const Value&)> changed) {
  return std::make_unique<CollectionMirror>(
      CollectionMirror::Options{.server = &control_plane_->server(),
                                .name = kControlPlane,
                                .path = path,
                                .query = query,
                                .executor = &loop_,
                                .random = &random_,
                                .listed = std::move(listed),
                                .changed = std::move(changed),
                                .trouble = [this, path](const Error* error) { trouble(path, error); }});
}

void MemberAgent::follow_cluster() {
  mirrors_.push_back(mirror(
      kClusters, "fieldSelector=metadata.name%3D" + options_.cluster,
      [this](const std::vector<Value>& clusters) {
        for (const Value& cluster : clusters) {
          if (cluster["metadata"]["name"].as_string() == options_.cluster) {
            copy_->take_cluster(cluster);
            return follow_works();
          }
        }
        copy_->cluster_gone();
        log::warn("agent.cluster_gone", {log::kv("cluster", options_.cluster)});
      },
      [this](std::string_view type, const Value& cluster) {
        if (cluster["metadata"]["name"].as_string() != options_.cluster) return;
        if (type != "DELETED") {
          copy_->take_cluster(cluster);
          return follow_works();
        }
        copy_->cluster_gone();
        log::warn("agent.cluster_gone", {log::kv("cluster", options_.cluster)});
      }));
  mirrors_.back()->start();
  renew_lease();
}

/// Only once the Cluster is here: without it Works would be given up.
void MemberAgent::follow_works() {
  if (works_ != nullptr) return;
  follow_customizations(interpreter::kCustomizationType, "resourceinterpretercustomizations");
  follow_customizations(kInterpreterWebhookType, "resourceinterpreterwebhookconfigurations");
  mirrors_.push_back(mirror(
      "/apis/work.karmada.io/v1alpha1/namespaces/" + execution_space(options_.cluster) + "/works", "",
      [this](const std::vector<Value>& works) {
        works_listed_ = loop_.now();
        copy_->take_works(works);
        if (!following_.exchange(true)) {
          log::info("agent.following",
                    {log::kv("cluster", options_.cluster), log::kv("works", static_cast<int64_t>(works.size()))});
        }
      },
      [this](std::string_view type, const Value& work) {
        type == "DELETED" ? copy_->work_gone(work["metadata"]["name"].str()) : copy_->take_work(work);
      }));
  works_ = mirrors_.back().get();
  works_->start();
  open_tunnels();
}

void MemberAgent::open_tunnels() {
  tunnels_ = std::make_unique<TunnelKeeper>(
      TunnelKeeper::Options{.cluster = options_.cluster,
                            .executor = &loop_,
                            .random = &random_,
                            .io = io_,
                            .user_agent = options_.user_agent,
                            .trouble = [this](const Error* error) { trouble("tunnels", error); }});
  tunnels_->use(control_plane_->target(), member_->target().url);
}

void MemberAgent::follow_customizations(const std::string& type, const std::string& plural) {
  mirrors_.push_back(mirror(
      "/apis/config.karmada.io/v1alpha1/" + plural, "",
      [this, type](const std::vector<Value>& all) { copy_->take_customizations(type, all); },
      [this, type](std::string_view event, const Value& object) { copy_->take_customization(type, event, object); }));
  mirrors_.back()->start();
}

// --- the Lease -------------------------------------------------------------------------------------------------------

/// From the first time on that the member is ready (1.16.1).
void MemberAgent::renew_lease() {
  was_ready_ = was_ready_ || copy_->ready();
  const auto every =
      static_cast<int64_t>(static_cast<double>(options_.lease_duration.value) * options_.lease_renew_fraction);
  later(Millis{was_ready_ ? std::max<int64_t>(every, 100) : 500}, [this] { renew_lease(); });
  if (!was_ready_) return;
  MemberRequest request;
  request.path =
      "/apis/coordination.k8s.io/v1/namespaces/" + options_.cluster_namespace + "/leases/" + options_.cluster;
  ask_control_plane(std::move(request), [this](const Result<MemberResponse>& response) {
    std::optional<Error> error;
    if (!response) {
      error = response.error();
    } else if (response.value().status == 200 || response.value().status == 404) {
      return write_lease(response.value().status == 200 ? response.value().body : Value{});
    } else {
      error = error_of(response.value(), "reading the Lease");
    }
    trouble("lease", &*error);
  });
}

/// Only while there is a Cluster to own it: otherwise nothing would remove it.
void MemberAgent::write_lease(const Value& before) {
  if (!copy_->has_cluster()) return;
  MemberRequest request;
  request.method = before.is_null() ? "POST" : "PUT";
  request.path = "/apis/coordination.k8s.io/v1/namespaces/" + options_.cluster_namespace + "/leases";
  if (!before.is_null()) request.path += "/" + options_.cluster;
  request.body = renewed_lease(before, copy_->remote_cluster(), options_, loop_.now());
  ask_control_plane(std::move(request), [this](const Result<MemberResponse>& response) {
    const int status = response ? response.value().status : 0;
    if (status == 200 || status == 201 || status == 409) return trouble("lease", nullptr);
    const Error error = response ? error_of(response.value(), "renewing the Lease") : response.error();
    trouble("lease", &error);
  });
}

}  // namespace shiplog::agent
