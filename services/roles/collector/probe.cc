#include "services/roles/collector/probe.h"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "events/state/work.h"

namespace shiplog::collector {
namespace {

constexpr const char* kReady = "Ready";
constexpr const char* kComplete = "CompleteAPIEnablements";
constexpr const char* kWithinLimits = "WithinLimits";

// What a cluster may have. The first and the third are Kubernetes' own limits for a large cluster, doubled.
constexpr size_t kMostNodes = 10'000;
constexpr size_t kMostGroupVersions = 1'000;
constexpr size_t kMostPods = 300'000;
constexpr size_t kMostResources = 20'000;
constexpr size_t kEmptyPage = 1'000;  // counts as so many objects
/// A member that has kept within its limits for so long is reported to do so.
constexpr Millis kForgiven{300'000};

class Probe : public std::enable_shared_from_this<Probe> {
 public:
  Probe(TaskPtr task, Members& members, std::shared_ptr<Damping> damping, bool counts_resources, Millis every)
      : task_{std::move(task)},
        members_{members},
        damping_{std::move(damping)},
        name_{task_->key().name},
        counts_resources_{counts_resources},
        every_{every} {}

  void start() {
    const Cluster* cluster = task_->state().cluster(name_);
    if (cluster == nullptr) damping_->forget(name_);
    // CL-15: not before lifecycle has prepared the cluster; its change of the Cluster triggers this key.
    const Value& object = task_->state().value_of(task_->key());
    if (cluster == nullptr || cluster->sync_mode == "Pull" || !has_finalizer(object, finalizer::kCluster))
      return task_->done();
    get_status("/readyz", [this](const Result<MemberResponse>& response) {
      if (!response || response.value().status != 404) return judge(response);
      get_status("/healthz", [this](const Result<MemberResponse>& older) { judge(older); });
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
    get_status("/version", [this](const Result<MemberResponse>& version) {
      if (good(version)) version_ = version.value().body["gitVersion"];
      find_groups();
    });
  }

  void find_groups() {
    group_versions_.push_back("/api/v1");
    get("/apis", [this](const Result<MemberResponse>& groups) {
      complete_ = good(groups);
      if (complete_) {
        for (const Value& group : groups.value().body["groups"].items()) {
          for (const Value& version : group["versions"].items()) {
            if (group_versions_.size() < kMostGroupVersions) {
              group_versions_.push_back("/apis/" + version["groupVersion"].str());
            } else {
              complete_ = false;
            }
          }
        }
      }
      next_group();
    });
  }

  void next_group() {
    if (group_versions_.empty()) return find_nodes();
    std::string path = std::move(group_versions_.front());
    group_versions_.pop_front();
    get(std::move(path), [this](const Result<MemberResponse>& resources) {
      if (good(resources)) {
        Value slim = slim_resources(resources.value().body, kMostResources - resources_);
        resources_ += slim["resources"].size();
        resource_lists_.push_back(std::move(slim));
      } else {
        complete_ = false;
      }
      next_group();
    });
  }

  void find_nodes() {
    if (!counts_resources_) return find_identity();
    nodes_ = Value::array();
    const auto take = [this](const Value& node) { nodes_.push_back(slim_node(node)); };
    list({"/api/v1/nodes", kPageLimit, "", 0, kMostNodes, take, [this](bool complete) {
            if (!complete) nodes_ = Value{};
            find_pods();
          }});
  }

  void find_pods() {
    usage_.emplace(nodes_);
    const auto take = [this](const Value& pod) { usage_->add(pod); };
    list({"/api/v1/pods", kPodsAtOnce, "", 0, kMostPods, take, [this](bool complete) {
            if (!complete) usage_.reset();
            find_identity();
          }});
  }

  void find_identity() {
    collected_ = true;
    if (!status_of(task_->state())["kubernetesVersion"].is_empty()) return report();
    get("/api/v1/namespaces/kube-system", [this](const Result<MemberResponse>& ns) {
      joined_ = true;
      if (good(ns)) id_ = ns.value().body["metadata"]["uid"].str();
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
    if (joined_) events.push_back(ClusterJoined{key, id_});
    const auto condition = [&](const char* type, const Health& now) {
      const Cluster::Condition* before = cluster->condition(type);
      if (before != nullptr && Health{before->status, before->reason, before->message} == now) return;
      events.push_back(ClusterConditionChanged{key, type, now.status, now.reason, now.message});
    };
    if (collected_) {
      Value status = status_of(state);
      Value observed = status;
      if (!version_.is_empty()) observed.set("kubernetesVersion", version_);
      if (resource_lists_.size() > 0) observed.set("apiEnablements", api_enablements(resource_lists_));
      if (!counts_resources_) {
        for (const char* summary : {"nodeSummary", "resourceSummary"}) {
          if (observed.contains(summary)) observed.erase(summary);
        }
      }
      if (nodes_.is_array()) observed.set("nodeSummary", node_summary(nodes_));
      if (nodes_.is_array() && usage_) {
        const Value& models = state.value_of(key)["spec"]["resourceModels"];
        observed.set("resourceSummary", resource_summary(nodes_, *usage_, models));
      }
      if (observed != status) events.push_back(ClusterObserved{key, std::move(observed)});
      condition(kComplete, completeness());
    }
    if (const auto excess = members_.excess(name_); excess && task_->now() - excess->at < kForgiven) {
      condition(kWithinLimits, {"False", "LimitExceeded", excess->what});
    } else if (cluster->condition(kWithinLimits) != nullptr) {
      condition(kWithinLimits, {"True", "LimitsRespected", "no answer has exceeded its limit in the last 5 minutes"});
    }
    // Ready is written last: a client that waits for it finds the rest complete.
    condition(kReady, health_);
    if (events.empty()) return task_->done(every_);
    task_->append_observation({std::move(events), {}}, [task = task_, every = every_](Result<Revision> appended) {
      appended ? task->done(every) : task->retry(appended.error());
    });
  }

  /// The other Cluster of this member, which is registered once (1.3.2); nullptr: there is none.
  const std::string* registered_as(const State& state) const {
    for (const auto& [name, cluster] : state.clusters()) {
      if (name != name_ && !id_.empty() && cluster.id == id_) return &name;
    }
    return nullptr;
  }

  /// CL-19.
  Health completeness() const {
    const size_t found = resource_lists_.size();
    if (complete_) return {"True", "Complete", "collected complete APIEnablements from the cluster"};
    if (found == 0) return {"False", "Empty", "collected empty APIEnablements from the cluster"};
    return {"False", "Partial", "might collect partial APIEnablements(" + std::to_string(found) + ") from the cluster"};
  }

  /// The Cluster's status without its conditions, which have events of their own.
  Value status_of(const State& state) const {
    Value status = state.value_of(task_->key())["status"];
    if (status.contains("conditions")) status.erase("conditions");
    return status;
  }

  static bool good(const Result<MemberResponse>& response) { return response && response.value().status == 200; }

  template <class Then>
  void get(std::string path, Then then) {
    MemberRequest request;
    request.trace = task_->trace();
    request.path = std::move(path);
    members_.request(name_, std::move(request),
                     [self = shared_from_this(), then](Result<MemberResponse> response) { then(response); });
  }

  template <class Then>
  void get_status(std::string path, Then then) {
    MemberRequest request;
    request.trace = task_->trace();
    request.path = std::move(path);
    request.max_response_bytes = kMostStatusBytes;
    members_.request(name_, std::move(request),
                     [self = shared_from_this(), then](Result<MemberResponse> response) { then(response); });
  }

  /// A collection that is read page by page; of each object only what `take` keeps stays in memory.
  struct Listing {
    std::string path;
    int limit;  ///< of a page
    std::string token;
    size_t taken, most;
    std::function<void(const Value&)> take;
    std::function<void(bool complete)> then;
  };
  static constexpr int kPodsAtOnce = 250;

  void list(Listing listing) {
    MemberRequest request;
    request.trace = task_->trace();
    request.path = listing.path + "?limit=" + std::to_string(listing.limit) +
                   (listing.token.empty() ? "" : "&continue=" + listing.token);
    request.max_response_bytes = kMostPageBytes;
    request.asks_for_less = listing.limit > kSmallPageLimit;
    members_.request(name_, std::move(request),
                     [self = shared_from_this(), listing = std::move(listing)](Result<MemberResponse> page) mutable {
                       self->take_page(std::move(listing), page);
                     });
  }

  void take_page(Listing listing, const Result<MemberResponse>& page) {
    if (!page && page.error().code == ErrorCode::kTooLarge && listing.limit > kSmallPageLimit) {
      listing.limit = kSmallPageLimit;
      return list(std::move(listing));
    }
    if (!good(page)) return listing.then(false);
    for (const Value& item : page.value().body["items"].items()) {
      if (++listing.taken > listing.most) return listing.then(false);
      listing.take(item);
    }
    // A page may be empty, but not one after the other for ever.
    if (page.value().body["items"].size() == 0) listing.taken += kEmptyPage;
    listing.token = page.value().body["metadata"]["continue"].str();
    listing.token.empty() ? listing.then(true) : list(std::move(listing));
  }

  const TaskPtr task_;
  Members& members_;
  const std::shared_ptr<Damping> damping_;
  const std::string name_;
  const bool counts_resources_;
  const Millis every_;
  Health health_;
  std::deque<std::string> group_versions_;
  bool complete_ = true;
  bool collected_ = false;
  bool joined_ = false;
  std::string id_;
  Value version_, nodes_;
  std::optional<Usage> usage_;
  size_t resources_ = 0;
  Value resource_lists_ = Value::array();
};

}  // namespace

void probe(const TaskPtr& task, Members& members, const std::shared_ptr<Damping>& damping, bool counts_resources,
           Millis every) {
  std::make_shared<Probe>(task, members, damping, counts_resources, every)->start();
}

}  // namespace shiplog::collector
