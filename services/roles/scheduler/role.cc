#include "services/roles/scheduler/role.h"

#include <algorithm>
#include <set>
#include <string>

#include "events/state/binding.h"
#include "events/state/cluster.h"
#include "events/state/condition.h"
#include "events/state/placement.h"
#include "events/state/quota_check.h"
#include "services/roles/scheduler/cycles.h"
#include "services/roles/scheduler/decide.h"
#include "services/roles/scheduler/placement_index.h"
#include "services/roles/scheduler/turns.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

bool refused(const Value& binding) { return condition_of(binding, "Scheduled")["status"].as_string() == "False"; }

bool over_quota(const Value& binding) {
  return refused(binding) && condition_of(binding, "Scheduled")["reason"].as_string() == "QuotaExceeded";
}

/// Of some resource less is used than before.
bool usage_fell(const State& state, const Change& change) {
  if (change.object.type != type::kResourceBinding || change.before["spec"] == change.after["spec"]) return false;
  const bool components = state.gates().multiple_pod_templates;
  const ResourceList more = usage_difference(usage_of(change.before, components), usage_of(change.after, components));
  return std::ranges::any_of(more, [](const auto& item) { return item.second.negative(); });
}

/// The affinity in force matches the cluster, or is unknown (S-4). Of a placement with several affinity terms.
bool term_may_concern(const Placement& placement, const Value& object, const Cluster& cluster) {
  const Value& status = object["status"];
  if (status["schedulerObservedGeneration"].as_int() != object["metadata"]["generation"].as_int()) return true;
  const auto named = std::find_if(placement.terms.begin(), placement.terms.end(), [&](const AffinityTerm& term) {
    return term.name == status["schedulerObservingAffinityName"].as_string();
  });
  const AffinityTerm& term = named == placement.terms.end() ? placement.terms.front() : *named;
  // Overflow counts too, unlike upstream: a cluster that joins a lower tier is room all the same.
  return term.affinity.matches(cluster) || std::any_of(term.overflow.begin(), term.overflow.end(),
                                                       [&](const auto& tier) { return tier.matches(cluster); });
}

bool affinity_concerns(const Placement& placement, const Cluster& cluster) {
  return !placement.affinity || placement.affinity->matches(cluster);
}

bool places_on(const Value& object, std::string_view cluster) {
  const auto targets = object["spec"]["clusters"].items();
  return std::any_of(targets.begin(), targets.end(),
                     [&](const Value& target) { return target["name"].as_string() == cluster; });
}

/// S-3: what is upstream's beginning of a cycle for the bindings concerned.
bool begins_cycles(const Change& change) {
  if (change.created() || change.removed()) return false;
  return change.before["spec"] != change.after["spec"] ||
         change.before["metadata"]["labels"] != change.after["metadata"]["labels"];
}

class SchedulerRole final : public Role {
 public:
  SchedulerRole(QuestionResolver* estimators, Millis estimators_have) : estimators_{estimators} {
    if (estimators == nullptr) return;
    decide_ = [estimators_have](const State& state, const ObjectKey& key, UtcMillis now) {
      return scheduler::decide_with_estimators(state, key, now, estimators_have);
    };
  }

  std::string_view name() const override { return "scheduler"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    if (is_binding(change.object.type)) return on_binding(state, change, wake);
    if (change.object.type == type::kCluster) {
      const size_t first = wake.size();
      on_cluster(state, change, wake);
      if (begins_cycles(change)) cycles_.add(wake, first);
      return;
    }
    if (change.object.type == kFleetOptionsType) return trigger_all(state, wake);  // other plugins let others in
    if (change.object.type == kFeatureGatesType) wake.insert(wake.end(), refused_.begin(), refused_.end());
    if (change.object.type == type::kFederatedResourceQuota && change.before["spec"] != change.after["spec"]) {
      wake_over_quota(state, change.object.ns.str(), wake);
    }
  }

  /// S-6.
  int64_t priority(const State& state, const ObjectKey& key) const override {
    return state.value_of(key)["spec"]["schedulePriority"]["priority"].as_int();
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    cycles_.begin();
    trigger_all(state, wake);
  }

  void on_stop() override {
    cycles_.end();
    turns_->stop();
    turns_ = make_turns();
  }

  void reconcile(TaskPtr task) override {
    if (scheduler::ClusterCycles::is_key(task->key())) return cycles_.record(task, decide_);
    if (!task->state().gates().overcommit_protection) return step(task);
    const int64_t first = priority(task->state(), task->key());
    turns_->take(std::move(task), first);
  }

 private:
  void trigger_all(const State& state, std::vector<ObjectKey>& wake) {
    refused_.clear();
    placements_.clear();
    for (const char* type : {type::kResourceBinding, type::kClusterResourceBinding}) {
      for (const auto& [name, object] : state.objects(type)) {
        ObjectKey key{type, name.ns, name.name};
        if (refused(object.value)) refused_.insert(key);
        placements_.put(key, object.value["spec"]["placement"]);
        wake.push_back(std::move(key));
      }
    }
  }

  void step(const TaskPtr& task) { follow(decide_, task, {.resolver = estimators_}); }

  std::shared_ptr<scheduler::Turns> make_turns() {
    return std::make_shared<scheduler::Turns>([this](const TaskPtr& task) { step(task); });
  }

  void on_binding(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    if (!change.removed() && refused(change.after)) {
      refused_.insert(change.object);
    } else {
      refused_.erase(change.object);
    }
    if (change.before["spec"]["placement"] != change.after["spec"]["placement"]) {
      placements_.put(change.object, change.after["spec"]["placement"]);
    }
    // S-2: the status is written by the scheduler itself. Labels show whether the binding is claimed.
    const Value& before = change.before["metadata"];
    const Value& after = change.after["metadata"];
    // A placement triggers too: it may be that of a deposed scheduler, made from older clusters than ours.
    if (!change.removed() && (before["generation"] != after["generation"] || before["labels"] != after["labels"])) {
      wake.push_back(change.object);
    }
    wake_peers(state, change, wake);
    wake_defined(state, change, wake);
    // Room in a quota may have become free.
    if (usage_fell(state, change)) wake_over_quota(state, change.object.ns.str(), wake);
  }

  /// Refused ones are triggered when another of their group is placed, moves, is created or deleted (M-10 to M-12):
  /// upstream leaves them until another trigger.
  void wake_peers(const State& state, const Change& change, std::vector<ObjectKey>& wake) const {
    const Value& before = change.before["spec"];
    const Value& after = change.after["spec"];
    const Value& was = before["workloadAffinityGroups"];
    const Value& is = after["workloadAffinityGroups"];
    if ((!was.is_object() && !is.is_object()) || (was == is && before["clusters"] == after["clusters"])) return;
    const auto wake_refused = [&](const AffinityGroup* group) {
      if (group == nullptr) return;
      for (const auto& [key, targets] : group->members) {
        if (key != change.object && refused_.contains(key)) wake.push_back(key);
      }
    };
    for (const Value* groups : {&was, &is}) {
      wake_refused(state.affinities().together(change.object.ns, (*groups)["affinityGroup"].as_string()));
      wake_refused(state.affinities().apart(change.object.ns, (*groups)["antiAffinityGroup"].as_string()));
    }
  }

  /// The binding of a CustomResourceDefinition is placed, moved or refused: bindings of the kind that it defines
  /// follow.
  static void wake_defined(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    const Value& resource = change.latest()["spec"]["resource"];
    if (change.object.type != type::kClusterResourceBinding ||
        resource["kind"].as_string() != "CustomResourceDefinition" ||
        (change.before["spec"]["clusters"] == change.after["spec"]["clusters"] &&
         condition_of(change.before, "Scheduled")["status"] == condition_of(change.after, "Scheduled")["status"])) {
      return;
    }
    const Value& spec = state.value_of({type::kCustomResourceDefinition, "", resource["name"].str()})["spec"];
    const std::string group = spec["group"].str() + "/";
    for (const char* type : {type::kResourceBinding, type::kClusterResourceBinding}) {
      for (const auto& [name, object] : state.objects(type)) {
        const Value& defined = object.value["spec"]["resource"];
        if (defined["kind"] == spec["names"]["kind"] && defined["apiVersion"].as_string().starts_with(group)) {
          wake.push_back({type, name.ns, name.name});
        }
      }
    }
  }

  void on_cluster(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    const Value& before = change.before;
    const Value& after = change.after;
    // S-3, and beyond it: new clusters and APIs trigger as well, where upstream waits for the next
    // change of a taint or label.
    const bool anew = change.created() || change.removed() || before["spec"] != after["spec"] ||
                      before["metadata"]["labels"] != after["metadata"]["labels"] ||
                      deleting(before) != deleting(after) ||
                      before["status"]["apiEnablements"] != after["status"]["apiEnablements"];
    if (!anew) {
      // Room concerns those that found none; what is placed stays where it is.
      if (before["status"]["resourceSummary"] != after["status"]["resourceSummary"]) {
        wake.insert(wake.end(), refused_.begin(), refused_.end());
      }
      return;
    }
    const Cluster was = change.created() ? Cluster{} : cluster_from(before);
    const Cluster is = change.removed() ? Cluster{} : cluster_from(after);
    for (const auto& [content, group] : placements_.groups()) {
      if (!group.placement) continue;
      const Placement& placement = *group.placement;
      if (placement.terms.empty()) {
        const bool concerned = (!change.removed() && affinity_concerns(placement, is)) ||
                               (!change.created() && affinity_concerns(placement, was));
        if (concerned) wake.insert(wake.end(), group.bindings.begin(), group.bindings.end());
        continue;
      }
      for (const ObjectKey& key : group.bindings) {
        const Value& object = state.value_of(key);
        if ((!change.removed() && term_may_concern(placement, object, is)) ||
            (!change.created() && term_may_concern(placement, object, was))) {
          wake.push_back(key);
        }
      }
    }
    // What was divided stays on a cluster that its affinity has ceased to match (S-14), but not when that one leaves.
    if (!change.removed() && !deleting(after)) return;
    for (const char* type : {type::kResourceBinding, type::kClusterResourceBinding}) {
      for (const auto& [name, object] : state.objects(type)) {
        if (places_on(object.value, change.object.name)) wake.push_back({type, name.ns, name.name});
      }
    }
  }

  void wake_over_quota(const State& state, const std::string& ns, std::vector<ObjectKey>& wake) const {
    for (const ObjectKey& key : refused_) {
      if (key.ns == ns && over_quota(state.value_of(key))) wake.push_back(key);
    }
  }

  QuestionResolver* const estimators_;
  Decide decide_ = scheduler::decide;
  scheduler::ClusterCycles cycles_;
  scheduler::PlacementIndex placements_;                    // derived, as the next
  std::shared_ptr<scheduler::Turns> turns_ = make_turns();  // gate SchedulingOvercommitProtection
  std::set<ObjectKey>
      refused_;  // condition Scheduled is False: a derived index, rebuilt when this replica begins to act
};

}  // namespace

std::unique_ptr<Role> make_scheduler_role(QuestionResolver* estimators, Millis estimators_have) {
  return std::make_unique<SchedulerRole>(estimators, estimators_have);
}

}  // namespace shiplog
