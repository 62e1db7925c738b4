#include "services/collector/probe.h"

#include <deque>
#include <memory>
#include <utility>

#include "events/state/work.h"

namespace shiplog::collector {
namespace {

constexpr const char* kReady = "Ready";
constexpr const char* kComplete = "CompleteAPIEnablements";

class Probe : public std::enable_shared_from_this<Probe> {
 public:
  Probe(TaskPtr task, Members& members, std::shared_ptr<Damping> damping)
      : task_{std::move(task)}, members_{members}, damping_{std::move(damping)}, name_{task_->key().name} {}

  void start() {
    const Cluster* cluster = task_->state().cluster(name_);
    if (cluster == nullptr) damping_->forget(name_);
    // 1.14.1: not before lifecycle has taken the cluster in; its change of the Cluster wakes this key.
    const Value& object = task_->state().value_of(task_->key());
    if (cluster == nullptr || !has_finalizer(object, finalizer::kCluster)) return task_->done();
    get("/readyz", [this](const Result<MemberResponse>& response) {
      if (!response || response.value().status != 404) return judge(response);
      get("/healthz", [this](const Result<MemberResponse>& older) { judge(older); });
    });
  }

 private:
  void judge(const Result<MemberResponse>& response) {
    const Cluster* cluster = task_->state().cluster(name_);
    if (cluster == nullptr) return task_->done();
    const Health observed = response ? health_from(response.value().status) : health_from(response.error());
    health_ = damping_->damped(name_, observed, cluster->condition(kReady), task_->now());
    // 1.14.4, 1.15.5: while it is not both healthy and Ready, all else keeps its last value.
    if (observed.status != "True" || health_.status != "True") return report();
    get("/version", [this](const Result<MemberResponse>& version) {
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
            group_versions_.push_back("/apis/" + version["groupVersion"].str());
          }
        }
      }
      next_group();
    });
  }

  void next_group() {
    if (group_versions_.empty()) return list("/api/v1/nodes", nodes_, [this] { find_pods(); });
    std::string path = std::move(group_versions_.front());
    group_versions_.pop_front();
    get(std::move(path), [this](const Result<MemberResponse>& resources) {
      if (good(resources)) {
        resource_lists_.push_back(resources.value().body);
      } else {
        complete_ = false;
      }
      next_group();
    });
  }

  void find_pods() {
    list("/api/v1/pods", pods_, [this] { find_identity(); });
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
      if (nodes_.is_array()) observed.set("nodeSummary", node_summary(nodes_));
      if (nodes_.is_array() && pods_.is_array()) {
        const Value& models = state.value_of(key)["spec"]["resourceModels"];
        observed.set("resourceSummary", resource_summary(nodes_, pods_, models));
      }
      if (observed != status) events.push_back(ClusterObserved{key, std::move(observed)});
      condition(kComplete, completeness());
    }
    // Ready comes last: who waits for it finds the rest in place.
    condition(kReady, health_);
    if (events.empty()) return task_->done(kProbeEvery);
    task_->append_observation({std::move(events), {}}, [task = task_](Result<Revision> appended) {
      appended ? task->done(kProbeEvery) : task->retry(appended.error());
    });
  }

  /// 1.14.5.
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
    request.path = std::move(path);
    members_.request(name_, std::move(request),
                     [self = shared_from_this(), then](Result<MemberResponse> response) { then(response); });
  }

  /// All pages of a collection into `items`, which stays null when a page fails.
  template <class Then>
  void list(const std::string& path, Value& items, Then then, const std::string& token = "") {
    const std::string page = path + "?limit=500" + (token.empty() ? "" : "&continue=" + token);
    get(page, [this, path, &items, then](const Result<MemberResponse>& response) {
      if (!good(response)) {
        items = Value{};
        return then();
      }
      if (!items.is_array()) items = Value::array();
      for (const Value& item : response.value().body["items"].items()) items.push_back(item);
      const std::string more = response.value().body["metadata"]["continue"].str();
      more.empty() ? then() : list(path, items, then, more);
    });
  }

  const TaskPtr task_;
  Members& members_;
  const std::shared_ptr<Damping> damping_;
  const std::string name_;
  Health health_;
  std::deque<std::string> group_versions_;
  bool complete_ = true;
  bool collected_ = false;
  bool joined_ = false;
  std::string id_;
  Value version_, nodes_, pods_;
  Value resource_lists_ = Value::array();
};

}  // namespace

void probe(const TaskPtr& task, Members& members, const std::shared_ptr<Damping>& damping) {
  std::make_shared<Probe>(task, members, damping)->start();
}

}  // namespace shiplog::collector
