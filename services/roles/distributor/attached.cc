#include "services/roles/distributor/attached.h"

#include <algorithm>
#include <map>
#include <optional>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/state/binding.h"
#include "events/state/claim.h"
#include "events/state/new_binding.h"
#include "events/state/policy_author.h"
#include "events/state/served_kind.h"
#include "events/state/work.h"

namespace shiplog::distributor {
namespace {

constexpr std::string_view kDependedBy = "resourcebinding.karmada.io/depended-by-";

/// The object's name, derived from the name of its binding: those of namespaced kinds are lower case. nullopt: the
/// binding is not of this kind.
std::optional<std::string> named_by(const ObjectKey& attached, std::string_view kind) {
  const std::string suffix = binding_name(kind, "");
  if (!attached.name.ends_with(suffix) || attached.name.size() == suffix.size()) return std::nullopt;
  return std::string{attached.name.substr(0, attached.name.size() - suffix.size())};
}

/// As what a referrer means the template of `attached`, if it does.
std::optional<Referrer> meaning(const State& state, const ObjectKey& referrer, const ObjectKey& attached) {
  const Value& binding = state.value_of(referrer);
  if (!propagates_dependencies(binding)) return std::nullopt;
  const Value recorded = recorded_dependencies(binding);
  for (const Value& dependency : recorded.items()) {
    Referrer found{referrer,
                   &binding,
                   dependency["apiVersion"].str(),
                   dependency["kind"].str(),
                   dependency["namespace"].str(),
                   dependency["name"].str()};
    if (!found.name.empty()) {
      if (attached_binding(referrer, found.kind, found.name) == attached) return found;
      continue;
    }
    const auto name = named_by(attached, found.kind);
    if (!name) continue;
    const auto served = served_kind(state, found.api_version, found.kind);
    if (!served) continue;
    const Value& object = state.value_of(served->key(found.ns, *name));
    if (object.is_null() || !label_selector_from(dependency["labelSelector"]).matches(object["metadata"]["labels"]))
      continue;
    found.name = *name;
    return found;
  }
  return std::nullopt;
}

/// Decision 0028: what the author of the referrer's policy may not get is not propagated for it.
bool author_may_get(const State& state, const Referrer& referrer) {
  if (!state.options().checks_policy_authors()) return true;
  const auto served = served_kind(state, referrer.api_version, referrer.kind);
  if (!served) return true;  // there is nothing to propagate
  const auto claim = claim_of(*referrer.object);
  ObjectKey policy;  // without a policy there is no author either
  if (claim) {
    policy = {claim->policy.ns.empty() ? type::kClusterPropagationPolicy : type::kPropagationPolicy, claim->policy.ns,
              claim->policy.name};
  }
  return author_objection(state, policy, served->key(referrer.ns, referrer.name)).empty();
}

bool same_object(const Referrer& referrer, const Value& resource) {
  return referrer.api_version == resource["apiVersion"].as_string() && referrer.kind == resource["kind"].as_string() &&
         referrer.ns == resource["namespace"].as_string() && referrer.name == resource["name"].as_string();
}

const Value& template_of(const State& state, const Referrer& referrer) {
  const auto served = served_kind(state, referrer.api_version, referrer.kind);
  return served ? state.value_of(served->key(referrer.ns, referrer.name)) : state.value_of({});
}

std::string place(const ObjectKey& key) { return key.ns + "/" + key.name; }

Value snapshot_of(const Referrer& referrer) {
  Value snapshot = Value::object({{"namespace", referrer.binding.ns}, {"name", referrer.binding.name}});
  const Value& clusters = (*referrer.object)["spec"]["clusters"];
  if (clusters.size() > 0) snapshot.set("clusters", clusters);
  return snapshot;
}

ReferrerFollowed followed(const Value& snapshot, bool added) {
  ReferrerFollowed step{snapshot["namespace"].str(), snapshot["name"].str(), {}, added};
  for (const Value& cluster : snapshot["clusters"].items()) step.clusters.push_back(cluster["name"].str());
  return step;
}

/// spec.requiredBy and the labels: existing entries keep their position, new ones follow.
void set_required_by(Value& made, const std::vector<Referrer>& referrers, Explanation& why) {
  std::map<std::string, const Referrer*> missing;
  for (const Referrer& referrer : referrers) missing.emplace(place(referrer.binding), &referrer);
  Value required = Value::array();
  for (const Value& entry : made["spec"]["requiredBy"].items()) {
    const ObjectKey key{type::kResourceBinding, entry["namespace"].str(), entry["name"].str()};
    const auto wanted = missing.find(place(key));
    if (wanted != missing.end()) {
      Value snapshot = snapshot_of(*wanted->second);
      if (snapshot != entry) why.steps.emplace_back(followed(snapshot, false));
      required.push_back(std::move(snapshot));
      missing.erase(wanted);
    } else if (made["metadata"]["labels"].contains(depended_by_label(key))) {
      why.steps.emplace_back(ReferrerReleased{key.ns.str(), key.name.str()});
    } else {
      required.push_back(entry);  // of another writer
    }
  }
  for (const auto& [name, referrer] : missing) {
    Value snapshot = snapshot_of(*referrer);
    why.steps.emplace_back(followed(snapshot, true));
    required.push_back(std::move(snapshot));
  }
  if (required.size() > 0) {
    made.edit("spec").set("requiredBy", std::move(required));
  } else if (made["spec"].contains("requiredBy")) {
    made.edit("spec").erase("requiredBy");
  }
}

void set_labels(Value& made, const std::vector<Referrer>& referrers) {
  Value labels = Value::object();
  for (const auto& member : made["metadata"]["labels"].members()) {
    if (!member.key().starts_with(kDependedBy)) labels.set(member.key(), member.value);
  }
  for (const Referrer& referrer : referrers) {
    labels.set(depended_by_label(referrer.binding), label_of(*referrer.object, label::kBindingId));
  }
  made.edit("metadata").set("labels", std::move(labels));
}

/// Of how many referrers: those that overwrite, those that preserve.
struct ReferrerPolicies {
  size_t all = 0, overwrite = 0, preserve = 0;
};

ReferrerPolicies policies_of(const std::vector<Referrer>& referrers) {
  ReferrerPolicies found{referrers.size()};
  for (const Referrer& referrer : referrers) {
    const Value& theirs = (*referrer.object)["spec"];
    found.overwrite += theirs["conflictResolution"].as_string() == "Overwrite" ? 1 : 0;
    found.preserve += theirs["preserveResourcesOnDeletion"].as_bool() ? 1 : 0;
  }
  return found;
}

std::optional<DependencyPolicyConflict> conflict_of(const ReferrerPolicies& policies) {
  const auto mixed = [&](size_t count) { return count > 0 && count < policies.all; };
  const DependencyPolicyConflict conflict{mixed(policies.overwrite), mixed(policies.preserve)};
  if (!conflict.conflict_resolution && !conflict.preserve_resources_on_deletion) return std::nullopt;
  return conflict;
}

/// B-34, B-35: a placement means that these fields derive from a policy.
void set_policies(Value& made, const std::vector<Referrer>& referrers, Explanation& why) {
  if (!made["spec"]["placement"].is_null()) return;
  Value& spec = made.edit("spec");
  if (referrers.empty()) {
    spec.erase("conflictResolution");
    spec.erase("preserveResourcesOnDeletion");
    return;
  }
  const ReferrerPolicies policies = policies_of(referrers);
  spec.set("conflictResolution", policies.overwrite > 0 ? "Overwrite" : "Abort");
  spec.set("preserveResourcesOnDeletion", policies.preserve > 0);
  if (const auto conflict = conflict_of(policies)) why.steps.emplace_back(*conflict);
}

bool claimed(const Value& binding) {
  return !label_of(binding, label::kPolicyId).empty() || !label_of(binding, label::kClusterPolicyId).empty() ||
         !label_of(binding, kManagedByLabel).empty();
}

/// Fields that the binder sets on a binding that a policy claims; on any other, this role sets them.
void set_template(Value& made, const Value& existing, const Value& object, const ObjectKey& attached) {
  if (claimed(existing)) return;
  const std::string digest = template_digest(object);
  const bool same = annotation_of(existing, kTemplateDigestAnnotation) == digest;
  Value& metadata = made.edit("metadata");
  metadata.edit("annotations").set(kTemplateDigestAnnotation, digest);
  metadata.set("ownerReferences", Value::array({owner_reference_to(object)}));
  if (metadata["labels"][label::kBindingId].is_empty()) {
    metadata.edit("labels").set(label::kBindingId, binding_permanent_id(object, attached));
  }
  if (!has_finalizer(made, finalizer::kBinding)) metadata.edit("finalizers").push_back(finalizer::kBinding);
  made.edit("spec").set("resource", resource_reference_to(object, same ? existing["spec"]["resource"]["resourceVersion"]
                                                                       : object["metadata"]["resourceVersion"]));
}

bool attached_before(const Value& binding) {
  return std::ranges::any_of(binding["metadata"]["labels"].members(),
                             [](const auto& label) { return label.key().starts_with(kDependedBy); });
}

}  // namespace

bool propagates_dependencies(const Value& binding) {
  return binding["spec"]["propagateDeps"].as_bool() && !deleting(binding) &&
         has_finalizer(binding, kDistributorFinalizer);
}

std::string depended_by_label(const ObjectKey& referrer) {
  return std::string{kDependedBy} + safe_hash(place(referrer));  // N-6
}

bool follows(const Value& attached, const ObjectKey& referrer) {
  return attached["metadata"]["labels"].contains(depended_by_label(referrer));
}

std::vector<Referrer> referrers_of(const State& state, const ObjectKey& attached) {
  const DependencyIndex& index = state.dependencies();
  std::set<ObjectKey> keys = index.referrers(attached);
  keys.insert(index.selecting(attached.ns).begin(), index.selecting(attached.ns).end());
  const Value& existing = state.value_of(attached);
  const Value resource = existing["spec"]["resource"];
  std::vector<Referrer> found;
  keys.erase(attached);
  for (const ObjectKey& key : keys) {
    auto meant = meaning(state, key, attached);
    if (!meant || (!resource.is_null() && !same_object(*meant, resource))) continue;
    // A dependency that is attached already stays so: releasing it would delete it in the members.
    if (!follows(existing, key) && !author_may_get(state, *meant)) continue;
    // N-2: of another group's kind with the same name.
    const bool same = found.empty() || (meant->api_version == found.front().api_version &&
                                        meant->kind == found.front().kind && meant->ns == found.front().ns);
    if (same) found.push_back(std::move(*meant));
  }
  return found;
}

void follow(const State& state, const ObjectKey& attached, Decision& decision) {
  const Object* present = state.find(attached);
  const Value& existing = present == nullptr ? state.value_of(attached) : present->value;
  std::vector<Referrer> referrers = referrers_of(state, attached);
  if (referrers.empty() && !attached_before(existing)) return;

  const Value& object = referrers.empty() ? state.value_of({}) : template_of(state, referrers.front());
  const bool there = !object.is_null() && !deleting(object);
  if (present == nullptr && !there) return;  // it is picked up when it appears (B-32)
  if (present == nullptr && deleting(state.value_of({type::kNamespace, "", attached.ns}))) return;
  // Of an object that is deleted or terminating: attachments are removed, but none are added.
  const bool settled = present != nullptr && (deleting(existing) || !there || !belongs_to(existing, object));
  if (settled) {
    std::erase_if(referrers, [&](const Referrer& referrer) { return !follows(existing, referrer.binding); });
  }

  Value made = existing;
  AttachedBindingPut put{attached, {}, {}, {}};
  if (present == nullptr) {
    made = Value::object({{"apiVersion", "work.karmada.io/v1alpha2"},
                          {"kind", "ResourceBinding"},
                          {"metadata", Value::object({{"name", attached.name}, {"namespace", attached.ns}})}});
  }
  set_required_by(made, referrers, put.why);
  set_labels(made, referrers);
  set_policies(made, referrers, put.why);
  if (!settled && there) set_template(made, existing, object, attached);
  if (made == existing) return;

  for (const Referrer& referrer : referrers) put.referrers.push_back(referrer.binding);
  const Value& resource = made["spec"]["resource"];
  put.why.summary =
      DependencyAttached{resource["kind"].str(), resource["name"].str(), static_cast<int64_t>(referrers.size())};
  put.why.inputs_digest = to_string(siphash128(to_json(made["spec"])));
  made.erase("status");
  put.value = std::move(made);
  decision.events.push_back(std::move(put));
  decision.expects.push_back({attached, present == nullptr ? Revision{} : present->revision});
}

std::optional<DependencyPolicyConflict> policy_conflict(const State& state, const ObjectKey& attached) {
  const Value& existing = state.value_of(attached);
  if (existing.is_null() || deleting(existing) || !existing["spec"]["placement"].is_null()) return std::nullopt;
  return conflict_of(policies_of(referrers_of(state, attached)));
}

std::vector<ObjectKey> attachable(const State& state, const ObjectKey& referrer, const Value& binding) {
  std::vector<ObjectKey> keys;
  const Value recorded = recorded_dependencies(binding);
  for (const Value& dependency : recorded.items()) {
    const auto kind = dependency["kind"].as_string();
    if (!dependency["name"].is_empty()) {
      keys.push_back(attached_binding(referrer, kind, dependency["name"].as_string()));
      continue;
    }
    const auto served = served_kind(state, dependency["apiVersion"].as_string(), kind);
    if (!served) continue;
    const LabelSelector selector = label_selector_from(dependency["labelSelector"]);
    for (const auto& [name, object] : state.objects(served->type(), dependency["namespace"].as_string())) {
      if (selector.matches(object.value["metadata"]["labels"])) {
        keys.push_back(attached_binding(referrer, kind, name.name));
      }
    }
  }
  return keys;
}

}  // namespace shiplog::distributor
