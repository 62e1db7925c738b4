#include "services/roles/cluster_monitor/role.h"

#include <map>
#include <optional>
#include <string>

#include "services/roles/cluster_monitor/decide.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

using cluster_monitor::AgentHeartbeat;

constexpr Millis kUntilCaughtUp{1000};
constexpr const char* kLeases = "leases.coordination.k8s.io";
constexpr const char* kClusterNamespace = "karmada-cluster";

class ClusterMonitorRole final : public Role {
 public:
  ClusterMonitorRole(const Replica& ephemera, const cluster_monitor::Periods& periods)
      : ephemera_{ephemera}, periods_{periods} {}

  std::string_view name() const override { return "cluster-monitor"; }

  void on_change(const State&, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == type::kCluster) wake.push_back(change.object);
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    for (const auto& [name, cluster] : state.clusters()) wake.push_back({type::kCluster, "", name});
  }

  /// What another replica sees meanwhile is not known here: a cluster gets its whole grace period again.
  void on_stop() override { heartbeats_.clear(); }

  void reconcile(TaskPtr task) override {
    const std::string name = task->key().name.str();
    const Cluster* cluster = task->state().cluster(name);
    if (cluster == nullptr || cluster->sync_mode != "Pull") {
      heartbeats_.erase(name);
      return task->done();
    }
    if (!ephemera_.caught_up()) return task->done(kUntilCaughtUp);
    task->begin_trace();  // that an agent is silent follows from no request
    const auto decide = [this](const State& state, const ObjectKey& key, UtcMillis now) -> Result<Decided> {
      const std::string monitored_name = key.name.str();
      const Cluster* monitored = state.cluster(monitored_name);
      if (monitored == nullptr) return Nothing{};
      const Value& lease = ephemera_.state().value_of({kLeases, kClusterNamespace, monitored_name});
      std::optional<AgentHeartbeat> before;
      if (const auto known = heartbeats_.find(monitored_name); known != heartbeats_.end()) before = known->second;
      AgentHeartbeat& heartbeat = heartbeats_[monitored_name];
      heartbeat = cluster_monitor::observed(before, cluster_monitor::signs_of(*monitored, lease), now);
      return cluster_monitor::decide(state, key, now, heartbeat, periods_);
    };
    follow(decide, task, {.recomputable = false});
  }

 private:
  const Replica& ephemera_;
  const cluster_monitor::Periods periods_;
  std::map<std::string, AgentHeartbeat> heartbeats_;
};

}  // namespace

std::unique_ptr<Role> make_cluster_monitor_role(const Replica& ephemera, const cluster_monitor::Periods& periods) {
  return std::make_unique<ClusterMonitorRole>(ephemera, periods);
}

}  // namespace shiplog
