#include "services/roles/taint/role.h"

#include <algorithm>
#include <map>

#include "events/state/binding.h"
#include "events/state/failover_record.h"
#include "events/state/work.h"
#include "services/roles/failover_evictions.h"
#include "services/roles/taint/decide.h"
#include "services/roles/taint/fleet_evictions.h"
#include "services/runtime/follow.h"
#include "services/runtime/metrics.h"

namespace shiplog {
namespace {

bool has_no_execute(const Value& cluster) {
  return std::ranges::any_of(cluster["spec"]["taints"].items(),
                             [](const Value& item) { return item["effect"].as_string() == "NoExecute"; });
}

/// One of the binding's clusters has a NoExecute taint.
bool on_tainted_cluster(const State& state, const Value& binding) {
  return std::ranges::any_of(binding["spec"]["clusters"].items(), [&](const Value& target) {
    const Cluster* cluster = state.cluster(target["name"].as_string());
    return cluster != nullptr &&
           std::ranges::any_of(cluster->taints, [](const Taint& taint) { return taint.effect == "NoExecute"; });
  });
}

bool same_annotation(const Value& before, const Value& after, std::string_view name) {
  return annotation_of(before, name) == annotation_of(after, name);
}

/// An application failover of the binding waits for its time, and then for its turn with all evictions.
bool will_take_a_turn(const State& state, const ObjectKey& binding) {
  return application_failover::evictions_take_turns(state) && failover_record_of(state, binding)["timers"].size() > 0;
}

/// The queue of evictions, in Karmada's metrics (OBS-7).
class EvictionQueueMetrics {
 public:
  /// Only the replica that decides exports it.
  void clear() { show({}); }

  void show(const taint::EvictionQueue& queue) {
    static const metrics::GaugeFamily depth{
        "eviction_queue_depth", "Evictions that are due and wait for their turn.", {"name"}};
    static const metrics::GaugeFamily kinds{"eviction_kind_total",
                                            "Evictions that are due and wait for their turn, by workload.",
                                            {"member_cluster", "resource_kind"}};
    for (const auto& [type, name] : {std::pair{type::kResourceBinding, "binding-eviction"},
                                     std::pair{type::kClusterResourceBinding, "cluster-binding-eviction"}}) {
      const auto waiting = queue.by_type.find(type);
      depth.with({name}).set(waiting == queue.by_type.end() ? 0 : static_cast<double>(waiting->second));
    }
    for (const auto& [kind, count] : shown_) {
      if (!queue.by_kind.contains(kind)) kinds.with({kind.first, kind.second}).set(0);
    }
    for (const auto& [kind, count] : queue.by_kind) {
      kinds.with({kind.first, kind.second}).set(static_cast<double>(count));
    }
    shown_ = queue.by_kind;
  }

 private:
  std::map<std::pair<std::string, std::string>, size_t> shown_;
};

class TaintRole final : public Role {
 public:
  std::string_view name() const override { return "taint"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    const Value& before = change.before;
    const Value& after = change.after;
    if (change.removed()) {
      if (change.object.type == type::kCluster) wake.push_back(taint::evictions_key());  // a part of fewer clusters
      return;
    }
    // What was dormant acts now, or the time that evictions have is another.
    if (change.object.type == kFeatureGatesType || change.object.type == kFleetOptionsType) {
      return on_start(state, wake);
    }
    if (change.object.type == kFailoverRecordType) {
      if (before["timers"] != after["timers"] && application_failover::evictions_take_turns(state)) {
        wake.push_back(taint::evictions_key());  // one more, or one less that waits
      }
      return;
    }
    if (is_binding(change.object.type)) {
      // Its targets, its tasks and its health decide; a binding without either needs no look.
      const bool replaced =
          before["spec"] != after["spec"] || !same_annotation(before, after, kAppliedPlacementAnnotation);
      if (replaced || evicting(after)) wake.push_back(change.object);
      if (replaced && (on_tainted_cluster(state, after) || will_take_a_turn(state, change.object))) {
        wake.push_back(taint::evictions_key());
      }
    } else if (change.object.type == type::kWork) {
      if (before["status"] != after["status"]) wake_evicting(state, after, wake);
    } else if (change.object.type == type::kCluster) {
      wake.push_back(change.object);
      if (change.created() || before["status"]["conditions"] != after["status"]["conditions"]) {
        wake.push_back(taint::policies_key(change.object.name.str()));
      }
      const bool tainted = has_no_execute(after);
      if (before["spec"]["taints"] != after["spec"]["taints"] && tainted) {
        wake_placed(state, change.object.name, wake);
      }
      const bool other_conditions = before["status"]["conditions"] != after["status"]["conditions"];
      if (tainted || has_no_execute(before) || other_conditions ||
          !same_annotation(before, after, taint::kEvictionsReleasedAnnotation)) {
        wake.push_back(taint::evictions_key());
      }
      // What is kept while it runs need not be kept any more, or can be placed there again.
      if (condition_of(before, "Ready")["status"] != condition_of(after, "Ready")["status"] ||
          before["spec"]["taints"] != after["spec"]["taints"]) {
        wake_leaving(state, change.object.name.str(), wake);
      }
    } else if (change.object.type == type::kClusterTaintPolicy && before["spec"] != after["spec"]) {
      for (const auto& [name, cluster] : state.clusters()) wake.push_back(taint::policies_key(name));
    }
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    wake.push_back(taint::evictions_key());
    for (const auto& [name, cluster] : state.clusters()) {
      wake.push_back({type::kCluster, "", name});
      wake.push_back(taint::policies_key(name));  // TN-5: once for each cluster at start
    }
    for (const char* type : {type::kResourceBinding, type::kClusterResourceBinding}) {
      for (const auto& [name, object] : state.objects(type)) wake.push_back({type, name.ns, name.name});
    }
  }

  void on_stop() override { queue_->clear(); }

  void reconcile(TaskPtr task) override {
    if (task->key() != taint::evictions_key()) return follow(taint::decide, task);
    follow(
        [queue = queue_](const State& state, const ObjectKey&, UtcMillis now) -> Result<Decided> {
          taint::FleetEvictions made = taint::decide_fleet_evictions(state, now);
          queue->show(made.waiting);
          return std::move(made.decided);
        },
        task);
  }

 private:
  static bool evicting(const Value& binding) { return binding["spec"]["gracefulEvictionTasks"].size() > 0; }

  /// An eviction waits for what the Works of the remaining targets report.
  static void wake_evicting(const State& state, const Value& work, std::vector<ObjectKey>& wake) {
    for (const char* id_label : {label::kBindingId, label::kClusterBindingId}) {
      const auto id = label_of(work, id_label);
      if (id.empty()) continue;
      for (const ObjectKey& key : state.labelled(id_label, id)) {
        if (is_binding(key.type) && evicting(state.value_of(key))) wake.push_back(key);
      }
    }
  }

  /// The bindings whose workload is being evicted from the cluster: their Works there still exist.
  static void wake_leaving(const State& state, const std::string& cluster, std::vector<ObjectKey>& wake) {
    for (const auto& [name, work] : state.objects(type::kWork, execution_space(cluster))) {
      wake_evicting(state, work.value, wake);
    }
  }

  static void wake_placed(const State& state, std::string_view cluster, std::vector<ObjectKey>& wake) {
    for (const auto& [alike, group] : state.view<TargetIndex>().on(cluster)) {
      wake.insert(wake.end(), group.bindings.begin(), group.bindings.end());
    }
  }

  const std::shared_ptr<EvictionQueueMetrics> queue_ = std::make_shared<EvictionQueueMetrics>();
};

}  // namespace

std::unique_ptr<Role> make_taint_role() { return std::make_unique<TaintRole>(); }

}  // namespace shiplog
