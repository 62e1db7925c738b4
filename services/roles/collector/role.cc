#include "services/roles/collector/role.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "events/state/condition.h"
#include "events/state/served_kind.h"
#include "events/state/work.h"
#include "services/interpreter/customizations.h"
#include "services/roles/collector/aggregation_pace.h"
#include "services/roles/collector/decide.h"
#include "services/roles/collector/followed_members.h"
#include "services/roles/collector/pods.h"
#include "services/roles/collector/probe.h"
#include "services/roles/collector/slice_collection.h"
#include "services/roles/collector/watch.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

class CollectorRole final : public Role {
 public:
  CollectorRole(Members& members, QuestionResolver* resolver, UnreadStatus unread, const CollectorSettings& settings)
      : members_{members},
        resolver_{resolver},
        settings_{settings},
        watches_{members, resolver, std::move(unread), settings.in_member},
        pods_{members},
        slices_{members},
        followed_{members} {
    for (auto& damping : damping_) damping = new_damping();
  }

  std::string_view name() const override { return "collector"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    const ObjectKey& key = change.object;
    if (key.type == type::kWork) {
      if (change.removed()) watches_.forget_work(key);
      slices_.note(key, change.after, wake);
      if (change.before["status"] != change.after["status"] || change.removed() || deleting(change.latest())) {
        const bool in_part = !change.removed() && !deleting(change.after) && !collector::has_reported(change.before) &&
                             !collector::has_reported(change.after);
        wake_binding(state, change.latest(), wake, in_part);
      }
      if (!change.removed() && change.before["spec"] != change.after["spec"]) {
        watches_.want(state, key, change.after, wake);
        // Its binding names what holds it back (T-7): a cluster that was not ready before, too.
        const Cluster* cluster = state.cluster(cluster_of_space(key.ns));
        if (cluster != nullptr && !cluster->ready()) wake_binding(state, change.after, wake);
      }
      if (!change.removed()) {
        watches_.look_again(key, change.after);
        if (change.before["status"] != change.after["status"]) collector::PodProblems::want(key, change.after, wake);
      }
    } else if (is_binding(key.type)) {
      note_room(key, change.after);
      if (change.before["spec"] != change.after["spec"]) {
        watches_.follow_evictions(state, key, change.latest(), change.removed());
      }
      // T-6: the Works trigger it; of itself, once it has been scheduled or others require it, only its targets.
      const auto placed = [](const Value& object) {
        return !object["status"]["lastScheduledTime"].is_empty() || object["spec"]["requiredBy"].size() > 0;
      };
      if (!change.removed() && placed(change.after) &&
          (change.before["spec"] != change.after["spec"] || !placed(change.before)) &&
          collector::has_works(state, key, change.after)) {
        wake.push_back(key);
      }
    } else if (key.type == type::kCluster) {
      on_cluster(state, change, wake);
    } else if (interpreter::interprets(key.type)) {
      on_customization(state, change, wake);
    } else if (key.type == type::kSecret && !change.removed()) {
      for (const auto& [name, cluster] : state.clusters()) {
        if (cluster.secret_namespace == key.ns && cluster.secret_name == key.name) {
          wake.push_back({type::kCluster, "", name});
        }
      }
    } else if (!change.created() && !change.removed() &&
               change.before["metadata"]["generation"] != change.after["metadata"]["generation"]) {
      // A template that is changed and changed back leaves its binding as it is, but its status is of a generation.
      const ObjectKey binding = binding_key(key, change.after["kind"].as_string());
      if (state.find(binding) != nullptr) wake.push_back(binding);
    }
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    for (const auto& [name, cluster] : state.clusters()) wake.push_back({type::kCluster, "", name});
    for (const char* type : {type::kResourceBinding, type::kClusterResourceBinding}) {
      for (const auto& [name, object] : state.objects(type)) {
        wake.push_back({type, name.ns, name.name});
        note_room(wake.back(), object.value);
        watches_.follow_evictions(state, wake.back(), object.value);
      }
    }
    for (const auto& [name, work] : state.objects(type::kWork)) {
      const ObjectKey key{type::kWork, name.ns, name.name};
      watches_.want(state, key, work.value, wake);
      slices_.note(key, work.value, wake);
      collector::PodProblems::want(key, work.value, wake);
    }
    // What was already recorded on standby.
    for (int slot = 0; slot < kSlots; ++slot) wake.push_back(collector::MemberWatches::flush_key(slot));
    for (const auto& [name, cluster] : state.clusters()) {
      watches_.wake_cluster(name, wake);
      slices_.wake_cluster(name, wake);
    }
  }

  void on_stop() override {
    for (int slot = 0; slot < kSlots; ++slot) on_slot_lost(slot);
  }

  void on_slot_lost(int slot) override {
    watches_.forget_slot(slot);
    followed_.forget_slot(slot);
    pods_.forget_slot(slot);
    slices_.forget_slot(slot);
    damping_[static_cast<size_t>(slot)] = new_damping();
    pace_.forget([&](const ObjectKey& key) { return slot_of_key(key) == slot; });
  }

  /// What is reported is in front of what is read: after a start the reports of a few do not wait until all have been
  /// read once.
  int64_t priority(const State&, const ObjectKey& key) const override {
    return collector::MemberWatches::is_flush(key) ? 1 : 0;
  }

  /// What is done for a member belongs to its slot. A binding may be for any members: its name decides.
  int slot_of_key(const ObjectKey& key) const override {
    if (const auto slot = collector::MemberWatches::slot_of_key(key)) return *slot;
    if (const auto slot = collector::PodProblems::slot_of_key(key)) return *slot;
    if (const auto slot = collector::SliceCollection::slot_of_key(key)) return *slot;
    return slot_of(key.type == type::kCluster ? key.name : to_string(key));
  }

  /// That of its member: one for what it is watched for, and one for its probe, which does not wait for lists.
  std::string lane_of_key(const ObjectKey& key) const override {
    if (collector::MemberWatches::is_watch(key) || collector::SliceCollection::is_slices(key)) return key.name.str();
    if (collector::PodProblems::is_pods(key)) return key.ns.str();
    return key.type == type::kCluster ? "probe/" + key.name : "";
  }

  void reconcile(TaskPtr task) override {
    const ObjectKey& queued = task->key();
    const bool follows_watch = collector::MemberWatches::is_watch(queued) || collector::MemberWatches::is_flush(queued);
    // What members do of their own accord is not part of the request that this key was queued for.
    const bool follows_slices = collector::SliceCollection::is_slices(queued);
    if (follows_watch || follows_slices || collector::PodProblems::is_pods(queued) || queued.type == type::kCluster) {
      task->begin_trace();
    }
    if (collector::MemberWatches::is_watch(queued)) return watches_.reconcile_watch(task);
    if (collector::MemberWatches::is_flush(queued)) return watches_.flush(task);
    if (follows_slices) return slices_.reconcile(task);
    if (collector::PodProblems::is_pods(queued)) return pods_.reconcile(task);
    if (queued.type == type::kCluster) {
      return probe(task);
    }
    const auto aggregated = [this](const State& state, const ObjectKey& key, UtcMillis now) {
      return aggregate(state, key, now);
    };
    follow(aggregated, task, {.resolver = resolver_});
  }

 private:
  std::shared_ptr<collector::Damping> new_damping() const {
    return std::make_shared<collector::Damping>(settings_.success_threshold, settings_.failure_threshold);
  }

  void probe(const TaskPtr& task) {
    const ObjectKey& key = task->key();
    collector::Probed probed{.members = members_,
                             .damping = damping_[static_cast<size_t>(slot_of_key(key))],
                             .member = nullptr,
                             .thresholds = settings_.summaries,
                             .short_of_room = !short_of_room_.empty(),
                             .every = settings_.probe_every};
    const Cluster* cluster = task->state().cluster(key.name);
    if (cluster != nullptr && cluster->sync_mode != "Pull") {
      const Value& spec = task->state().value_of(key)["spec"];
      const Value route = Value::array({spec["apiEndpoint"], spec["secretRef"], spec["proxyURL"]});
      probed.member = followed_.of(key.name.str(), route, settings_.counts_resources);
    } else {
      followed_.forget(key.name.str());
    }
    collector::probe(task, std::move(probed));
  }

  void note_room(const ObjectKey& binding, const Value& value) {
    const Value& scheduled = condition_of(value, "Scheduled");
    if (scheduled["status"].as_string() == "False" && scheduled["reason"].as_string() == "Unschedulable") {
      short_of_room_.insert(binding);
    } else {
      short_of_room_.erase(binding);
    }
  }

  /// collector::decide, once it is worth while.
  Result<Decided> aggregate(const State& state, const ObjectKey& key, UtcMillis now) {
    if (const auto later = pace_.wait(state, key, now)) return LookAgain{*later};
    auto decided = collector::decide(state, key, now);
    if (decided && std::holds_alternative<Decision>(decided.value())) pace_.reported(key, now);
    return decided;
  }

  /// `in_part`: has_reported() does not hold for the Work yet. A binding that waits for it is not woken.
  void wake_binding(const State& state, const Value& work, std::vector<ObjectKey>& wake, bool in_part = false) const {
    for (const char* label : {label::kBindingId, label::kClusterBindingId}) {
      const auto id = label_of(work, label);
      if (id.empty()) continue;
      for (const ObjectKey& key : state.labelled(label, id)) {
        if (is_binding(key.type) && !(in_part && pace_.awaits(key))) wake.push_back(key);
      }
    }
  }

  /// The status of members' objects of the kind is read and aggregated again.
  void on_customization(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    for (const auto& [api_version, kind] : interpreter::concerned(state, change)) {
      if (const auto served = served_kind(state, api_version, kind)) watches_.list_again(served->type(), wake);
      for (const char* type : {type::kResourceBinding, type::kClusterResourceBinding}) {
        for (const auto& [name, binding] : state.objects(type)) {
          const Value& resource = binding.value["spec"]["resource"];
          if (resource["apiVersion"].as_string() != api_version || resource["kind"].as_string() != kind) continue;
          wake.push_back({type, name.ns, name.name});
        }
      }
    }
  }

  void on_cluster(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    const std::string cluster = change.object.name.str();
    if (change.removed()) {
      watches_.forget_cluster(cluster);
      slices_.forget_cluster(cluster);
      followed_.forget(cluster);
      wake.push_back(change.object);  // the probe forgets it too
      return;
    }
    const auto ready = [](const Value& object) {
      return condition_of(object, "Ready")["status"].as_string() == "True";
    };
    if (ready(change.before) != ready(change.after)) {
      watches_.wake_cluster(cluster, wake);
      slices_.wake_cluster(cluster, wake);
      // Their bindings name what holds them back.
      for (const auto& [name, work] : state.objects(type::kWork, execution_space(cluster))) {
        if (!applied(work.value)) wake_binding(state, work.value, wake);
      }
    }
    // Another one observes its objects from now on.
    if (change.before["spec"]["syncMode"] != change.after["spec"]["syncMode"]) {
      watches_.wake_cluster(cluster, wake);
      slices_.wake_cluster(cluster, wake);
    }
    const bool taken_in = has_finalizer(change.after, finalizer::kCluster);
    if (change.before["spec"] != change.after["spec"] ||
        taken_in != has_finalizer(change.before, finalizer::kCluster)) {
      wake.push_back(change.object);
    }
  }

  Members& members_;
  QuestionResolver* const resolver_;
  const CollectorSettings settings_;
  std::array<std::shared_ptr<collector::Damping>, kSlots> damping_;
  collector::MemberWatches watches_;
  collector::PodProblems pods_;
  collector::SliceCollection slices_;
  collector::FollowedMembers followed_;
  std::set<ObjectKey> short_of_room_;  // bindings that no room was found for
  collector::AggregationPace pace_;
};

}  // namespace

std::unique_ptr<Role> make_collector_role(Members& members, QuestionResolver* resolver, UnreadStatus unread,
                                          bool counts_resources) {
  return make_collector_role(members, resolver, std::move(unread),
                             CollectorSettings{.counts_resources = counts_resources});
}

std::unique_ptr<Role> make_collector_role(Members& members, QuestionResolver* resolver, UnreadStatus unread,
                                          const CollectorSettings& settings) {
  return std::make_unique<CollectorRole>(members, resolver, std::move(unread), settings);
}

}  // namespace shiplog
