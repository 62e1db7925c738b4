#include "services/roles/binder/claim.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "events/explain/text.h"
#include "events/state/object.h"
#include "events/state/policy_author.h"

namespace shiplog::binder {
namespace {

/// Most policies select other objects: that is found before anything is looked up in the object.
struct SelectorInput {
  std::string_view api_version, kind, ns, name;

  explicit SelectorInput(const Value& object)
      : api_version{object["apiVersion"].as_string()},
        kind{object["kind"].as_string()},
        ns{object["metadata"]["namespace"].as_string()},
        name{object["metadata"]["name"].as_string()} {}

  bool may_match(const Policy& policy) const {
    for (const ResourceSelector& selector : policy.selectors) {
      if ((selector.name.empty() || selector.name == name) && selector.kind == kind &&
          (selector.ns.empty() || selector.ns == ns) && selector.api_version == api_version) {
        return true;
      }
    }
    return false;
  }
  /// A selector is about this very object, whatever its labels (D-42).
  bool named_by(const Policy& policy) const {
    return std::ranges::any_of(policy.selectors, [&](const ResourceSelector& selector) {
      return selector.name == name && selector.kind == kind && selector.ns == ns && selector.api_version == api_version;
    });
  }
};

PolicyCandidate best_in_namespace(const State& state, const std::string& ns, const SelectorInput& subject,
                                  const ObjectKey& key, const Value& object, Considered& considered) {
  PolicyCandidate best;
  const auto& policies = state.policies();
  for (const std::string_view name : state.policy_index().candidates(ns, subject.kind, subject.ns, subject.name)) {
    const Policy& policy = policies.at({ns, std::string{name}});
    if (policy.deleting || !subject.may_match(policy)) continue;
    const SelectorMatch how = match(policy, object);
    if (how == SelectorMatch::kNone) continue;
    if (std::string why_not = objection(state, policy, key, object); !why_not.empty()) {
      considered.objections.emplace_back(&policy, std::move(why_not));
      continue;
    }
    considered.candidates.push_back({&policy, how});
    // Policies are sorted by name, so the first of equals has the smaller one.
    if (best.policy == nullptr || std::tie(policy.priority, how) > std::tie(best.policy->priority, best.match)) {
      best = {&policy, how};
    }
  }
  return best;
}

const Policy* best_preemptor(const State& state, const std::string& ns, const SelectorInput& subject,
                             const ObjectKey& key, const Value& object, int64_t above) {
  const Policy* best = nullptr;
  const auto& policies = state.policies();
  for (const std::string_view name : state.policy_index().candidates(ns, subject.kind, subject.ns, subject.name)) {
    const Policy& policy = policies.at({ns, std::string{name}});
    if (policy.spec["preemption"].as_string() != "Always" || policy.deleting || policy.permanent_id.empty()) continue;
    if (policy.priority <= above) continue;
    if (!subject.named_by(policy) || !objection(state, policy, key, object).empty()) continue;
    if (best == nullptr || policy.priority > best->priority) best = &policy;
  }
  return best;
}

}  // namespace

bool has_claim_metadata(const Value& object) {
  Value stripped = object;
  strip_claim(stripped);
  return stripped != object;
}

void set_claim(Value& object, const Policy& policy) {
  // The other kind's claim goes, also from a binding: upstream leaves a PropagationPolicy's there (D-31), which only
  // matters to code that would then read two claims.
  if (policy.cluster_scoped()) {
    strip_policy_claim(object);
    object.edit("metadata").edit("labels").set(label::kClusterPolicyId, policy.permanent_id);
    object.edit("metadata").edit("annotations").set(kClusterPolicyNameAnnotation, policy.name);
    return;
  }
  strip_cluster_policy_claim(object);
  object.edit("metadata").edit("labels").set(label::kPolicyId, policy.permanent_id);
  object.edit("metadata").edit("annotations").set(kPolicyNamespaceAnnotation, policy.ns);
  object.edit("metadata").edit("annotations").set(kPolicyNameAnnotation, policy.name);
}

void erase_annotation(Value& object, const char* key) { erase_from_metadata(object, "annotations", key); }

std::string described(const Policy& policy) { return propagation_policy_text(policy.ns.str(), policy.name.str()); }

std::string objection(const State& state, const Policy& policy, const ObjectKey& key, const Value& object) {
  const ObjectKey of_policy{policy.cluster_scoped() ? type::kClusterPropagationPolicy : type::kPropagationPolicy,
                            policy.ns, policy.name};
  return policy_objection(state, of_policy, key, object);
}

PolicyCandidate choose_policy(const State& state, const ObjectKey& key, const Value& object, Considered& considered) {
  const SelectorInput subject{object};
  if (!subject.ns.empty()) {
    const PolicyCandidate own = best_in_namespace(state, std::string{subject.ns}, subject, key, object, considered);
    if (own.policy != nullptr) return own;  // a ClusterPropagationPolicy never wins against one of the namespace
  }
  return best_in_namespace(state, "", subject, key, object, considered);
}

PolicyCandidate preemptor(const State& state, const ObjectKey& key, const Value& object, const Policy& holder) {
  if (!state.gates().policy_preemption) return {};
  const SelectorInput subject{object};
  const Policy* by = nullptr;
  if (!subject.ns.empty()) {
    // The claim of a ClusterPropagationPolicy yields to any priority.
    const int64_t above = holder.cluster_scoped() ? std::numeric_limits<int64_t>::min() : holder.priority;
    by = best_preemptor(state, std::string{subject.ns}, subject, key, object, above);
  }
  if (by == nullptr && holder.cluster_scoped()) by = best_preemptor(state, "", subject, key, object, holder.priority);
  if (by == nullptr) return {};
  return {by, SelectorMatch::kName};
}

PolicyPreempted preemption(const Policy& by, const Policy& holder) {
  return {by.ns.str(), by.name.str(), by.priority, holder.ns.str(), holder.name.str(), holder.priority};
}

}  // namespace shiplog::binder
