#include "services/roles/binder/role.h"

#include <algorithm>

#include "events/state/object.h"
#include "events/state/policy.h"
#include "events/state/policy_author.h"
#include "events/state/served_kind.h"
#include "services/interpreter/customizations.h"
#include "services/roles/binder/claim.h"
#include "services/roles/binder/decide.h"
#include "services/roles/binder/templates.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

using binder::claim_of;

/// Nothing but status and bookkeeping differs (D-5).
bool only_status_differs(const Value& before, const Value& after) {
  const auto relevant = [](const Value& object) {
    Value copy = object;
    copy.erase("status");
    Value& metadata = copy.edit("metadata");
    metadata.erase("resourceVersion");
    metadata.erase("managedFields");
    return copy;
  };
  return relevant(before) == relevant(after);
}

class BinderRole final : public Role {
 public:
  explicit BinderRole(QuestionResolver* resolver) : resolver_{resolver} {}

  std::string_view name() const override { return "binder"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    if (is_propagation_policy(change.object.type)) return on_policy(state, change, wake);
    if (is_binding(change.object.type)) return on_binding(state, change, wake);
    // Components may be reported, or no longer; other namespaces and kinds are left out.
    if (change.object.type == kFeatureGatesType || change.object.type == kFleetOptionsType) {
      return on_start(state, wake);
    }
    // The authors of policies may read other objects now.
    if (rbac::is_rbac(change.object.type) && state.options().checks_policy_authors()) on_start(state, wake);
    if (change.object.type == kOverridePolicy || change.object.type == kClusterOverridePolicy) return;
    wake_reinterpreted(state, change, wake);
    if (!binder::propagates(state.options(), change.object, change.latest())) return;
    if (!change.created() && !change.removed() && only_status_differs(change.before, change.after)) return;
    if (!change.removed()) wake.push_back(change.object);
    wake_policy_let_go(change, wake);
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    // Policies first: what they select waits for their permanent ids.
    for (const char* type : {type::kPropagationPolicy, type::kClusterPropagationPolicy}) {
      for (const auto& [name, object] : state.objects(type)) wake.push_back({type, name.ns, name.name});
    }
    for (const std::string& type : state.types()) {
      if (!binder::propagates(type)) continue;
      for (const auto& [name, object] : state.objects(type)) {
        ObjectKey key{type, name.ns, name.name};
        if (binder::propagates(state.options(), key, object.value)) wake.push_back(std::move(key));
      }
    }
  }

  void reconcile(TaskPtr task) override { follow(binder::decide, task, {.resolver = resolver_}); }

 private:
  /// The replicas of a kind's objects may be interpreted differently now.
  static void wake_reinterpreted(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    for (const auto& [api_version, kind] : interpreter::concerned(state, change)) {
      const auto served = served_kind(state, api_version, kind);
      if (!served || !binder::propagates(served->type())) continue;
      for (const auto& [name, object] : state.objects(served->type())) {
        wake.push_back({served->type(), name.ns, name.name});
      }
    }
  }

  // Their creation can end a wait (D-13), but the waiting template is retried anyway, with backoff.
  static constexpr const char* kOverridePolicy = "overridepolicies.policy.karmada.io";
  static constexpr const char* kClusterOverridePolicy = "clusteroverridepolicies.policy.karmada.io";

  /// A deleted policy waits for the last object to drop its claim.
  static void wake_policy_let_go(const Change& change, std::vector<ObjectKey>& wake) {
    const auto before = claim_of(change.before);
    if (!before) return;
    const auto after = claim_of(change.after);
    if (after && after->permanent_id == before->permanent_id) return;
    wake.push_back({before->policy.ns.empty() ? type::kClusterPropagationPolicy : type::kPropagationPolicy,
                    before->policy.ns, before->policy.name});
  }

  static void on_policy(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    if (!change.removed()) wake.push_back(change.object);
    const Policy before = change.created() ? Policy{} : policy_from(change.before);
    const Policy after = change.removed() ? Policy{} : policy_from(change.after);
    if (!change.created() && !change.removed() && before.generation == after.generation &&
        before.permanent_id == after.permanent_id && before.deleting == after.deleting &&
        annotation_of(change.before, kPolicyAuthorAnnotation) == annotation_of(change.after, kPolicyAuthorAnnotation)) {
      return;  // D-36: only labels, annotations or finalizers
    }
    const auto add = [&](const std::vector<ObjectKey>& keys) { wake.insert(wake.end(), keys.begin(), keys.end()); };
    if (!change.created()) add(binder::claimed_by(state, before));
    // Templates may wait for the permanent id of a policy that now leaves them to another one.
    if (!change.created() && before.permanent_id.empty()) add(binder::selected_by(state, before));
    if (!change.removed() && !after.deleting && !after.permanent_id.empty()) {
      add(binder::claimed_by(state, after));
      add(binder::selected_by(state, after));
    }
  }

  static void on_binding(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    wake_policy_let_go(change, wake);
    const Value& before = change.before;
    const Value& after = change.after;
    const auto differs = [&](const char* field) { return before["spec"][field] != after["spec"][field]; };
    // What others write on a binding all the time (targets, evictions, status) is none of the binder's.
    const bool ours = change.removed() || before["metadata"]["labels"] != after["metadata"]["labels"] ||
                      before["metadata"]["ownerReferences"] != after["metadata"]["ownerReferences"] ||
                      differs("resource") || differs("placement") || differs("replicas") ||
                      differs("replicaRequirements") || differs("components") || differs("suspension");
    if (!ours || change.created()) return;
    if (const auto key = binder::template_key(state, change.latest())) wake.push_back(*key);
  }

  QuestionResolver* const resolver_;
};

}  // namespace

std::unique_ptr<Role> make_binder_role(QuestionResolver* resolver) { return std::make_unique<BinderRole>(resolver); }

}  // namespace shiplog
