#include "services/binder/claim.h"

#include <tuple>

#include "events/state/object.h"

namespace shiplog::binder {
namespace {

/// Erases a member of metadata.labels or metadata.annotations, and the map itself once it is empty.
void erase_from(Value& object, const char* map, const char* key) {
  if (!object["metadata"][map].contains(key)) return;
  Value& metadata = object.edit("metadata");
  Value& members = metadata.edit(map);
  members.erase(key);
  if (members.size() == 0) metadata.erase(map);
}

void strip_policy_claim(Value& object) {
  erase_from(object, "labels", label::kPolicyId);
  erase_from(object, "annotations", kPolicyNamespaceAnnotation);
  erase_from(object, "annotations", kPolicyNameAnnotation);
}

void strip_cluster_policy_claim(Value& object) {
  erase_from(object, "labels", label::kClusterPolicyId);
  erase_from(object, "annotations", kClusterPolicyNameAnnotation);
}

/// Most policies select other things: say so before anything is looked up in the object.
struct Subject {
  std::string_view api_version, kind, ns, name;

  bool may_match(const Policy& policy) const {
    for (const ResourceSelector& selector : policy.selectors) {
      if ((selector.name.empty() || selector.name == name) && selector.kind == kind &&
          (selector.ns.empty() || selector.ns == ns) && selector.api_version == api_version) {
        return true;
      }
    }
    return false;
  }
};

Candidate best_in_namespace(const State& state, const std::string& ns, const Subject& subject, const Value& object,
                            std::vector<Candidate>& considered) {
  Candidate best;
  const auto& policies = state.policies();
  for (const std::string_view name : state.policy_index().candidates(ns, subject.kind, subject.ns, subject.name)) {
    const Policy& policy = policies.at({ns, std::string{name}});
    if (policy.deleting || !subject.may_match(policy)) continue;
    const SelectorMatch how = match(policy, object);
    if (how == SelectorMatch::kNone) continue;
    considered.push_back({&policy, how});
    // Policies come by name, so the first of equals has the smaller one.
    if (best.policy == nullptr || std::tie(policy.priority, how) > std::tie(best.policy->priority, best.match)) {
      best = {&policy, how};
    }
  }
  return best;
}

}  // namespace

std::optional<Claim> claim_of(const Value& object) {
  const auto ns = annotation_of(object, kPolicyNamespaceAnnotation);
  const auto name = annotation_of(object, kPolicyNameAnnotation);
  const auto id = label_of(object, label::kPolicyId);
  if (!ns.empty() && !name.empty() && !id.empty()) {
    return Claim{{std::string{ns}, std::string{name}}, std::string{id}};
  }
  const auto cluster_name = annotation_of(object, kClusterPolicyNameAnnotation);
  const auto cluster_id = label_of(object, label::kClusterPolicyId);
  if (cluster_name.empty() || cluster_id.empty()) return std::nullopt;
  return Claim{{"", std::string{cluster_name}}, std::string{cluster_id}};
}

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

void strip_claim(Value& object) {
  strip_policy_claim(object);
  strip_cluster_policy_claim(object);
}

std::string described(const Policy& policy) {
  return policy.cluster_scoped() ? "ClusterPropagationPolicy " + policy.name
                                 : "PropagationPolicy " + policy.ns + "/" + policy.name;
}

Candidate choose_policy(const State& state, const Value& object, std::vector<Candidate>& considered) {
  const Value& meta = object["metadata"];
  const Subject subject{object["apiVersion"].as_string(), object["kind"].as_string(), meta["namespace"].as_string(),
                        meta["name"].as_string()};
  if (!subject.ns.empty()) {
    const Candidate own = best_in_namespace(state, std::string{subject.ns}, subject, object, considered);
    if (own.policy != nullptr) return own;  // a ClusterPropagationPolicy never beats one of the namespace
  }
  return best_in_namespace(state, "", subject, object, considered);
}

}  // namespace shiplog::binder
