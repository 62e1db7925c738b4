#include "services/roles/collector/probe.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "events/base/merge_patch.h"
#include "events/state/work.h"

namespace shiplog::collector {
namespace {

constexpr const char* kReady = "Ready";
constexpr const char* kComplete = "CompleteAPIEnablements";
constexpr const char* kWithinLimits = "WithinLimits";
constexpr std::array<const char*, 2> kSummaries = {"nodeSummary", "resourceSummary"};

/// Of the probe of a member that rests, to be sent and taken in together with those of others.
constexpr Millis kProbePatience{200};

/// A member that has kept within its limits for so long is reported to do so.
constexpr Millis kForgiven{300'000};

class Probe : public std::enable_shared_from_this<Probe> {
 public:
  Probe(TaskPtr task, Probed probed)
      : task_{std::move(task)},
        members_{probed.members},
        damping_{std::move(probed.damping)},
        member_{std::move(probed.member)},
        resources_{member_ == nullptr ? nullptr : member_->resources},
        thresholds_{probed.thresholds},
        short_of_room_{probed.short_of_room},
        name_{task_->key().name},
        every_{probed.every} {}

  void start() {
    const Cluster* cluster = task_->state().cluster(name_);
    if (cluster == nullptr) damping_->forget(name_);
    // CL-15: not before lifecycle has prepared the cluster; its change of the Cluster triggers this key.
    const Value& object = task_->state().value_of(task_->key());
    if (cluster == nullptr || member_ == nullptr || !has_finalizer(object, finalizer::kCluster)) return task_->done();
    if (resources_ != nullptr && std::exchange(member_->ends, resources_->ends()) != resources_->ends()) {
      member_->apis->doubt();
    }
    // A member that has been ready is asked for its APIs at once; the answer counts if it is ready now.
    look_ = member_->apis->plan(task_->trace(), task_->now());
    MemberRequest request = status_request("/readyz");
    if (member_->rests) {
      request.next = std::make_shared<const MemberRequest>(member_->apis->first_request(look_));
      request.patience = kProbePatience;
    }
    send(std::move(request), [this](const Result<MemberResponse>& response) {
      if (!response || response.value().status != 404) return judge(response);
      send(status_request("/healthz"), [this](const Result<MemberResponse>& older) { judge(older); });
    });
  }

 private:
  void judge(const Result<MemberResponse>& response) {
    const Cluster* cluster = task_->state().cluster(name_);
    if (cluster == nullptr) return task_->done();
    const Health observed = response ? health_from(response.value().status) : health_from(response.error());
    health_ = damping_->damped(name_, observed, cluster->condition(kReady), task_->now());
    // CL-18, CL-27: while it is not both healthy and Ready, all else keeps its last value.
    if (observed.status != "True" || health_.status != "True") return report();
    // Moved, not copied: the look holds this until it is done, and it never is when no answer comes.
    member_->apis->look(std::exchange(look_, nullptr), response.value().next,
                        [self = shared_from_this()] { self->find_resources(); });
  }

  void find_resources() {
    if (resources_ == nullptr) return find_identity();
    resources_->follow(task_->trace(), task_->now(), [self = shared_from_this()] { self->find_identity(); });
  }

  void find_identity() {
    collected_ = true;
    if (!task_->state().value_of(task_->key())["status"]["kubernetesVersion"].is_empty()) return report();
    MemberRequest request;
    request.trace = task_->trace();
    request.path = "/api/v1/namespaces/kube-system";
    send(std::move(request), [this](const Result<MemberResponse>& ns) {
      joined_ = true;
      if (good(ns)) id_ = member_id_from(ns.value().body);
      report();
    });
  }

  void report() {
    const State& state = task_->state();
    const Cluster* cluster = state.cluster(name_);
    if (cluster == nullptr) return task_->done();
    const ObjectKey& key = task_->key();
    if (const std::string* other = joined_ ? registered_as(state) : nullptr) {
      health_ = {"False", "MemberRegistered", "the member is registered as the cluster " + *other};
      joined_ = collected_ = false;
    }
    std::vector<Event> events;
    // Once: a member whose version is not known is asked for its identity with every probe.
    const bool known = member_->joined && (id_.empty() || id_ == cluster->id);
    if (joined_ && !known) events.push_back(ClusterJoined{key, id_});
    const auto condition = [&](const char* type, const Health& now) {
      const Cluster::Condition* before = cluster->condition(type);
      if (before != nullptr && Health{before->status, before->reason, before->message} == now) return;
      events.push_back(ClusterConditionChanged{key, type, now.status, now.reason, now.message});
    };
    if (collected_) {
      if (auto observed = difference(state)) events.push_back(*std::move(observed));
      condition(kComplete, member_->apis->completeness());
    }
    if (const auto excess = members_.excess(name_); excess && task_->now() - excess->at < kForgiven) {
      condition(kWithinLimits, {"False", "LimitExceeded", excess->what});
    } else if (cluster->condition(kWithinLimits) != nullptr) {
      condition(kWithinLimits, {"True", "LimitsRespected", "no answer has exceeded its limit in the last 5 minutes"});
    }
    // Ready is written last: a client that waits for it finds the rest complete.
    condition(kReady, health_);
    member_->rests = events.empty() && health_.status == "True";
    member_->joined = member_->joined || joined_;
    if (events.empty()) return task_->done(pause());
    task_->append_observation({std::move(events), {}}, [self = shared_from_this()](Result<Revision> appended) {
      appended ? self->task_->done(self->pause()) : self->task_->retry(appended.error());
    });
  }

  /// A member that is ready is probed at times of its own, whatever the answers take: they are taken in together with
  /// those of others, and members that were answered together would be due together from then on.
  Millis pause() {
    if (health_.status != "True") return every_;
    const UtcMillis now = task_->now();
    UtcMillis& next = member_->next_probe_at;
    next = next + every_;
    if (next <= now || next - now > every_) next = now + every_;
    return next - now;
  }

  /// What is to be reported now; nullopt: it is reported already, or may wait.
  std::optional<ClusterObserved> difference(const State& state) {
    const FollowedMember::Compared now{.cluster = state.revision_of(task_->key()),
                                       .apis = member_->apis->changes(),
                                       .totals = resources_ == nullptr ? 0 : resources_->totals().changes(),
                                       .counted = resources_ != nullptr && resources_->known()};
    if (member_->reported == now) return std::nullopt;
    const Value status = status_of(state);
    Value observed = observed_of(status, state.value_of(task_->key())["spec"]["resourceModels"]);
    if (observed == status) {
      member_->differs_since.reset();
      member_->reported = now;
      return std::nullopt;
    }
    if (!is_due(status, observed)) return std::nullopt;
    member_->differs_since.reset();
    return report_of(state, status, std::move(observed));
  }

  /// As a patch where all processes of the fleet can fold one. If another change of the Cluster comes in between, the
  /// next probe finds what differs then.
  ClusterObserved report_of(const State& state, const Value& reported, Value observed) const {
    if (state.fold_version() >= kClusterPatchFoldVersion) {
      if (auto patch = merge_patch(reported, observed)) return {task_->key(), *std::move(patch), true};
    }
    return {task_->key(), std::move(observed)};
  }

  /// The status with all that this probe has found out.
  Value observed_of(const Value& status, const Value& models) const {
    Value observed = status;
    const MemberApis& apis = *member_->apis;
    if (!apis.version().is_empty()) observed.set("kubernetesVersion", apis.version());
    if (!apis.enablements().is_null()) observed.set("apiEnablements", apis.enablements());
    if (resources_ == nullptr) {
      for (const char* summary : kSummaries) {
        if (observed.contains(summary)) observed.erase(summary);
      }
    } else if (resources_->known()) {
      observed.set("nodeSummary", resources_->totals().node_summary());
      observed.set("resourceSummary", resources_->totals().resource_summary(models));
    }
    return observed;
  }

  /// Whether a difference is reported now. Of nodes and pods little ones are left until they have lasted.
  bool is_due(const Value& status, const Value& observed) {
    if (resources_ == nullptr || joined_ || significant(status, observed, thresholds_.percent, short_of_room_)) {
      return true;
    }
    Value before = status;
    for (const char* summary : kSummaries) {
      if (observed.contains(summary)) before.set(summary, observed[summary]);
    }
    if (before != observed) return true;
    if (!member_->differs_since) member_->differs_since = task_->now();
    return task_->now() - *member_->differs_since >= thresholds_.at_latest;
  }

  /// The other Cluster of this member, which is registered once (1.3.2); nullptr: there is none.
  const std::string* registered_as(const State& state) const {
    for (const auto& [name, cluster] : state.clusters()) {
      if (name != name_ && !id_.empty() && cluster.id == id_) return &name;
    }
    return nullptr;
  }

  /// The Cluster's status without its conditions, which have events of their own.
  Value status_of(const State& state) const {
    Value status = state.value_of(task_->key())["status"];
    if (status.contains("conditions")) status.erase("conditions");
    return status;
  }

  static bool good(const Result<MemberResponse>& response) { return response && response.value().status == 200; }

  MemberRequest status_request(std::string path) {
    MemberRequest request;
    request.trace = task_->trace();
    request.path = std::move(path);
    request.max_response_bytes = kMostStatusBytes;
    return request;
  }

  template <class Then>
  void send(MemberRequest request, Then then) {
    members_.request(name_, std::move(request),
                     [self = shared_from_this(), then](Result<MemberResponse> response) { then(response); });
  }

  const TaskPtr task_;
  Members& members_;
  const std::shared_ptr<Damping> damping_;
  const std::shared_ptr<FollowedMember> member_;
  const std::shared_ptr<MemberResources> resources_;
  const SummaryThresholds thresholds_;
  const bool short_of_room_;
  const std::string name_;
  const Millis every_;
  Health health_;
  MemberApis::LookPtr look_;
  bool collected_ = false;
  bool joined_ = false;
  std::string id_;
};

}  // namespace

void probe(const TaskPtr& task, Probed probed) { std::make_shared<Probe>(task, std::move(probed))->start(); }

}  // namespace shiplog::collector
