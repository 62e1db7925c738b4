#include "services/roles/dispatcher/role.h"

#include <array>

#include "events/state/condition.h"
#include "events/state/drift.h"
#include "events/state/failover_record.h"
#include "events/state/policy_author.h"
#include "events/state/static_quota.h"
#include "events/state/work.h"
#include "services/interpreter/customizations.h"
#include "services/roles/dispatcher/apply_work.h"
#include "services/roles/dispatcher/decide.h"
#include "services/roles/dispatcher/put_work.h"
#include "services/roles/dispatcher/static_quota.h"
#include "services/roles/dispatcher/triggers.h"
#include "services/roles/recreations.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

using dispatcher::wants_dispatch;

void wake_all(const State& state, std::string_view type, std::vector<ObjectKey>& wake) {
  for (const auto& [name, object] : state.objects(type)) wake.push_back({std::string{type}, name.ns, name.name});
}

class DispatcherRole final : public Role {
 public:
  DispatcherRole(Members& members, dispatcher::Open open, QuestionResolver* resolver,
                 dispatcher::RevisionOf revision_of)
      : members_{members}, open_{std::move(open)}, resolver_{resolver}, revision_of_{std::move(revision_of)} {
    for (Slot& slot : slots_) slot = new_slot();
  }

  std::string_view name() const override { return "dispatcher"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    const ObjectKey& key = change.object;
    if (key.type == type::kWork) return on_work(state, change, wake);
    if (is_binding(key.type)) {
      // B-1: a change of the status alone does not count.
      const auto generation = [](const Value& object) { return object["metadata"]["generation"].as_int(); };
      if (!change.removed() &&
          (change.created() || deleting(change.after) || generation(change.before) != generation(change.after))) {
        wake.push_back(key);
      }
    } else if (key.type == type::kNamespace) {
      if (!change.removed() && !deleting(change.after)) wake.push_back(key);
      if (change.created() && !cluster_of_space(key.name).empty())
        wake_for_new(state, cluster_of_space(key.name), wake);
    } else if (key.type == type::kFederatedResourceQuota) {
      if (change.removed() || deleting(change.after) || change.before["spec"] != change.after["spec"]) {
        wake.push_back(key);
      }
    } else if (key.type == kFleetOptionsType) {  // other namespaces are left out, or other overrides
      wake_rendered(state, wake);
    } else if (rbac::is_rbac(key.type)) {  // authors of overrides may read other objects now
      if (state.options().checks_policy_authors()) wake_rendered(state, wake);
    } else if (key.type == type::kOverridePolicy || key.type == type::kClusterOverridePolicy) {
      dispatcher::trigger_overridden(state, change, wake);
    } else if (interpreter::interprets(key.type)) {
      wake_reinterpreted(state, change, wake);
    } else if (key.type == type::kCluster) {
      dispatcher::wake_for_cluster(state, change, wake);
      // An agent's execution space exists before its Cluster does.
      if (change.created()) wake_for_new(state, key.name.str(), wake);
      const auto ready = [](const Value& cluster) {
        return condition_of(cluster, "Ready")["status"].as_string() == "True";
      };
      const bool another_mode = change.before["spec"]["syncMode"] != change.after["spec"]["syncMode"];
      if (ready(change.before) != ready(change.after) || deleting(change.before) != deleting(change.after) ||
          another_mode) {
        for (const auto& [name, work] : state.objects(type::kWork, execution_space(key.name))) {
          if (wants_dispatch(work.value)) wake.push_back({type::kWork, name.ns, name.name});
        }
      }
    } else {
      dispatcher::wake_changed_back(state, change, wake);
    }
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    wake_rendered(state, wake);
    wake_all(state, type::kFederatedResourceQuota, wake);
    for (const auto& [name, work] : state.objects(type::kWork)) {
      // The quota may have been deleted meanwhile.
      if (const auto quota = quota_of_work(work.value); quota && state.find(*quota) == nullptr) wake.push_back(*quota);
      if (wants_dispatch(work.value) || reverts_limited(work.value)) wake.push_back({type::kWork, name.ns, name.name});
    }
  }

  /// Answers of members that still arrive go to the old ones, whose tasks are void.
  void on_stop() override {
    for (Slot& slot : slots_) slot = new_slot();
    recreations_ = {};
  }
  void on_slot_lost(int slot) override { slots_[static_cast<size_t>(slot)] = new_slot(); }

  /// A Work belongs to its member. What Works are rendered from may be for any members: its name decides.
  int slot_of_key(const ObjectKey& key) const override {
    const std::string member = key.type == type::kWork ? cluster_of_space(key.ns) : "";
    return slot_of(member.empty() ? to_string(key) : member);
  }

  /// That of its member.
  std::string lane_of_key(const ObjectKey& key) const override { return key.type == type::kWork ? key.ns.str() : ""; }

  void reconcile(TaskPtr task) override {
    if (task->key().type == type::kWork) {
      const Slot& slot = slots_[static_cast<size_t>(slot_of_key(task->key()))];
      return dispatcher::apply_work(task, members_, open_, slot.reports, slot.reverts, resolver_, revision_of_);
    }
    const auto decide = [this](const State& state, const ObjectKey& key, UtcMillis now) {
      return recreations_.hold_back(dispatcher::decide(state, key, now), now);
    };
    follow(decide, task, {.resolver = resolver_});
  }

 private:
  /// What is remembered of the members of one slot. Entries about several Works are under the lease of one slot.
  struct Slot {
    dispatcher::WorkReportsPtr reports;
    dispatcher::RevertsPtr reverts;
  };
  /// In an agent the collector does not report what is applied.
  Slot new_slot() const {
    return {std::make_shared<dispatcher::WorkReports>(!revision_of_), std::make_shared<dispatcher::Reverts>()};
  }

  /// A member that is ready to get Works gets those of all that was there before it.
  static void wake_for_new(const State& state, const std::string& cluster, std::vector<ObjectKey>& wake) {
    if (!dispatcher::open_for_works(state, cluster)) return;
    wake_rendered(state, wake);
    dispatcher::wake_assigned(state, cluster, wake);
  }

  /// All that Works are rendered from.
  static void wake_rendered(const State& state, std::vector<ObjectKey>& wake) {
    wake_all(state, type::kNamespace, wake);
    wake_all(state, type::kResourceBinding, wake);
    wake_all(state, type::kClusterResourceBinding, wake);
  }

  /// The replicas of a kind's manifests, and what members retain, may be interpreted differently now.
  static void wake_reinterpreted(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    for (const auto& [api_version, kind] : interpreter::concerned(state, change)) {
      for (const char* type : {type::kResourceBinding, type::kClusterResourceBinding}) {
        for (const auto& [name, binding] : state.objects(type)) {
          const Value& resource = binding.value["spec"]["resource"];
          if (resource["apiVersion"].as_string() != api_version || resource["kind"].as_string() != kind) continue;
          wake.push_back({type, name.ns, name.name});
        }
      }
    }
  }

  void on_work(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    const Value& before = change.before;
    const Value& after = change.after;
    if (change.removed() || before["spec"] != after["spec"]) {
      // Its binding may want it back, or wait for its removal (B-25), or it has been edited.
      if (const auto quota = quota_of_work(change.latest()); quota && !change.created()) wake.push_back(*quota);
      for (const char* label : {label::kBindingId, label::kClusterBindingId}) {
        const auto id = label_of(change.latest(), label);
        if (id.empty() || change.created()) continue;
        for (const ObjectKey& key : state.labelled(label, id)) {
          if (is_binding(key.type)) wake.push_back(key);
        }
      }
    }
    // What a hand-over waits for (handover.h).
    if (!change.removed() && before["status"] != after["status"]) wake_handover(state, after, wake);
    if (change.removed()) {
      recreations_.removed(state, change);
      const Slot& slot = slots_[static_cast<size_t>(slot_of_key(change.object))];
      slot.reverts->forget(change.object);
      slot.reports->forget(change.object);
      wake_successor(change.before, wake);
      return wake_owner(change, wake);
    }
    // What this service itself reports (Applied) must not trigger it again: only what it has to act upon.
    const bool began = change.created() || deleting(before) != deleting(after) || before["spec"] != after["spec"];
    const bool limited_again = reverts_limited(after) && applied(after) && !applied(before);
    if (began || limited_again || (dispatcher::doubtful(after) && !dispatcher::doubtful(before))) {
      wake.push_back(change.object);
    }
    // Whatever the member's answer: those that waited for it go next.
    const auto answer = [](const Value& work) { return condition_of(work, "Applied")["status"].as_string(); };
    if (dispatcher_namespace(after) && answer(after) != answer(before)) wake_tenants(state, change, wake);
  }

  static void wake_handover(const State& state, const Value& work, std::vector<ObjectKey>& wake) {
    const size_t first = wake.size();
    wake_successor(work, wake);
    for (size_t i = first; i < wake.size();) {
      const Value& record = failover_record_of(state, wake[i]);
      record["handovers"].size() > 0 ? ++i : (wake.erase(wake.begin() + static_cast<std::ptrdiff_t>(i)), i);
    }
  }

  /// A binding that was deleted and made anew waits for a Work of its predecessor, which carries another id, but the
  /// same name (B-25).
  static void wake_successor(const Value& work, std::vector<ObjectKey>& wake) {
    const auto in = annotation_of(work, annotation::kBindingNamespace);
    const auto name = annotation_of(work, annotation::kBindingName);
    const auto cluster_name = annotation_of(work, annotation::kClusterBindingName);
    if (!name.empty()) wake.push_back({type::kResourceBinding, std::string{in}, std::string{name}});
    if (!cluster_name.empty()) wake.push_back({type::kClusterResourceBinding, "", std::string{cluster_name}});
  }

  /// B-27: a deleted Work of a namespace may be wanted again.
  static void wake_owner(const Change& change, std::vector<ObjectKey>& wake) {
    for (const Value& owner : change.before["metadata"]["ownerReferences"].items()) {
      if (owner["kind"].as_string() == "Namespace") wake.push_back({type::kNamespace, "", owner["name"].str()});
    }
  }

  static bool dispatcher_namespace(const Value& work) {
    return work["spec"]["workload"]["manifests"][0]["kind"].as_string() == "Namespace";
  }

  /// The Works that waited for this namespace.
  static void wake_tenants(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    const Value& ns = change.after["spec"]["workload"]["manifests"][0]["metadata"]["name"];
    for (const auto& [name, work] : state.objects(type::kWork, change.object.ns)) {
      const Value& manifest = work.value["spec"]["workload"]["manifests"][0];
      if (manifest["metadata"]["namespace"] == ns && wants_dispatch(work.value)) {
        wake.push_back({type::kWork, name.ns, name.name});
      }
    }
  }

  Members& members_;
  const dispatcher::Open open_;
  QuestionResolver* const resolver_;
  const dispatcher::RevisionOf revision_of_;
  std::array<Slot, kSlots> slots_;
  Recreations recreations_;
};

}  // namespace

std::unique_ptr<Role> make_dispatcher_role(Members& members, std::function<Result<Value>(const Value& manifest)> open,
                                           QuestionResolver* resolver, dispatcher::RevisionOf revision_of) {
  return std::make_unique<DispatcherRole>(members, std::move(open), resolver, std::move(revision_of));
}

}  // namespace shiplog
