#include <algorithm>

#include "events/base/api_version.h"
#include "events/kinds/kinds.h"
#include "events/state/pod_template.h"
#include "events/state/protection.h"
#include "events/state/served_kind.h"
#include "events/state/work.h"
#include "services/roles/lifecycle/decide.h"

namespace shiplog::lifecycle {
namespace {

enum class Owner { kSolid, kWaiting, kAbsent };

/// What a reference leads to; an empty key: nothing that has a name here.
struct OwnerLookup {
  Owner owner = Owner::kAbsent;
  ObjectKey key = {};
};

/// The kind of a binding's template, in whichever version it is defined now. A binding is made of an object that was
/// here: when its kind is no longer defined, the object was deleted with the definition.
OwnerLookup owner_of_binding(const State& state, const ObjectKey& binding, const Value& reference) {
  const std::string_view group = split_api_version(reference["apiVersion"].as_string()).group;
  for (const auto& [name, definition] : state.objects(type::kCustomResourceDefinition)) {
    const Value& spec = definition.value["spec"];
    if (spec["group"].as_string() != group) continue;
    if (!defines_kind(state, definition.value, reference["kind"].as_string())) continue;
    const SharedText ns = spec["scope"].as_string() == "Namespaced" ? binding.ns : "";
    ObjectKey key{name.name, ns, reference["name"].str()};
    const bool there = uid_of(state.value_of(key)) == reference["uid"].as_string();
    return {there ? Owner::kSolid : Owner::kAbsent, std::move(key)};
  }
  return {};
}

bool is_stored_elsewhere(const Value& reference) {
  const Kind* kind = Kinds::compiled().find_kind(reference["apiVersion"].as_string(), reference["kind"].as_string());
  return kind != nullptr && kind->ephemeral;
}

/// Whether a reference names a ReplicaSet or ControllerRevision that the API computes from the rollout history of a
/// workload. Its name is that of the workload and the hash of the template; it lasts as long as the workload.
bool is_view(const State& state, const ObjectKey& owner, const Value& reference) {
  const size_t dash = owner.name.view().rfind('-');
  if (dash == std::string_view::npos) return false;
  const std::string_view workload = owner.name.view().substr(0, dash);
  const std::string_view hash = owner.name.view().substr(dash + 1);
  const auto has_workload = [&](const char* type) {
    const Value& object = state.value_of({type, owner.ns, workload});
    return !object.is_null() && template_view_uid(uid_of(object), hash) == reference["uid"].as_string();
  };
  if (owner.type == "replicasets.apps") return has_workload("deployments.apps");
  if (owner.type != "controllerrevisions.apps") return false;
  return has_workload("statefulsets.apps") || has_workload("daemonsets.apps");
}

/// What has become of the object that a reference names (DEL-12).
OwnerLookup owner_of(const State& state, const ObjectKey& dependent, const Value& reference) {
  const auto served = served_kind(state, reference["apiVersion"].as_string(), reference["kind"].as_string());
  const bool binding = is_binding(dependent.type);
  if (!served && binding) return owner_of_binding(state, dependent, reference);
  // Of a kind that we do not serve nothing is known: nothing is deleted on a guess. The same for a cluster-scoped
  // dependent of a namespaced owner, which is not allowed and so cannot be resolved.
  if (!served || (served->namespaced && dependent.ns.empty())) return {Owner::kSolid};
  // A Lease or an Event is in another journal, so whether it exists is not known here.
  if (is_stored_elsewhere(reference)) return {Owner::kSolid};
  ObjectKey key = served->key(dependent.ns, reference["name"].as_string());
  const Value& owner = state.value_of(key);
  if (owner.is_null() || uid_of(owner) != reference["uid"].as_string()) {
    if (is_view(state, key, reference)) return {Owner::kSolid};
    return {Owner::kAbsent, std::move(key)};
  }
  const bool waits = deleting(owner) && has_finalizer(owner, finalizer::kForeground);
  return {waits ? Owner::kWaiting : Owner::kSolid, std::move(key)};
}

const Value& reference_to(const Value& object, std::string_view uid) {
  static const Value kNone;
  for (const Value& reference : object["metadata"]["ownerReferences"].items()) {
    if (reference["uid"].as_string() == uid) return reference;
  }
  return kNone;
}

bool has_blocking_dependents(const State& state, std::string_view uid) {
  return std::ranges::any_of(state.dependents(uid), [&](const ObjectKey& dependent) {
    return reference_to(state.value_of(dependent), uid)["blockOwnerDeletion"].as_bool();
  });
}

/// Whether one of the object's dependents is itself waiting for its dependents, of which this object then is one, at
/// least through others.
bool has_waiting_dependents(const State& state, std::string_view uid) {
  return std::ranges::any_of(state.dependents(uid), [&](const ObjectKey& dependent) {
    const Value& object = state.value_of(dependent);
    return deleting(object) && has_finalizer(object, finalizer::kForeground);
  });
}

Value without_blocking(Value object) {
  for (Value& reference : object.edit("metadata").edit("ownerReferences").edit_items()) {
    if (reference["blockOwnerDeletion"].as_bool()) reference.set("blockOwnerDeletion", false);
  }
  return object;
}

template <class Drop>
Value without_references(Value object, Drop drop) {
  Value& metadata = object.edit("metadata");
  std::erase_if(metadata.edit("ownerReferences").edit_items(), drop);
  if (metadata["ownerReferences"].size() == 0) metadata.erase("ownerReferences");
  return object;
}

Value without_finalizer(Value object, std::string_view finalizer) {
  Value& metadata = object.edit("metadata");
  std::erase_if(metadata.edit("finalizers").edit_items(),
                [&](const Value& entry) { return entry.as_string() == finalizer; });
  if (metadata["finalizers"].size() == 0) metadata.erase("finalizers");
  return object;
}

Decided update(const ObjectKey& key, const Object& object, Value value) {
  return decide_one(ObjectUpdated{key, std::move(value)}, {key, object.revision});
}

/// DEL-14: the dependents lose their reference and stay.
Decided orphan(const State& state, const ObjectKey& key, const Object& owner) {
  const std::string uid{uid_of(owner.value)};
  DecisionBuilder decision{kMostAtOnce + 1};
  for (const ObjectKey& dependent : state.dependents(uid)) {
    if (decision.size() == kMostAtOnce) return std::move(decision).build();
    const Object& object = *state.find(dependent);
    Value freed =
        without_references(object.value, [&](const Value& reference) { return reference["uid"].as_string() == uid; });
    if (!decision.try_add(ObjectUpdated{dependent, std::move(freed)}, {dependent, object.revision})) {
      return std::move(decision).build();
    }
  }
  // Where it does not fit any more, it follows alone.
  static_cast<void>(
      decision.try_add(ObjectUpdated{key, without_finalizer(owner.value, finalizer::kOrphan)}, {key, owner.revision}));
  return std::move(decision).build();
}

/// A dependent, by what has become of its owners (DEL-12, DEL-13).
Decided dependent(const State& state, const ObjectKey& key, const Object& object, DeletionProtection protection) {
  size_t solid = 0;
  size_t waiting = 0;
  const auto references = object.value["metadata"]["ownerReferences"].items();
  ObjectKey because;
  for (const Value& reference : references) {
    OwnerLookup found = owner_of(state, key, reference);
    solid += found.owner == Owner::kSolid ? 1 : 0;
    waiting += found.owner == Owner::kWaiting ? 1 : 0;
    if (found.owner != Owner::kSolid && because.empty()) because = std::move(found.key);
  }
  if (solid == references.size()) return Nothing{};
  if (solid > 0) {
    return update(key, object, without_references(object.value, [&](const Value& reference) {
                    return owner_of(state, key, reference).owner != Owner::kSolid;
                  }));
  }
  if (protection == DeletionProtection::kOn && deletion_protected(object.value)) return Nothing{};  // D-41
  const bool foreground = waiting > 0 && has_blocking_dependents(state, uid_of(object.value));
  DecisionBuilder decision;
  decision.expect({key, object.revision});
  // Where owners own each other, each would wait for the next for ever: this one no longer holds its owner.
  if (foreground && has_waiting_dependents(state, uid_of(object.value))) {
    decision.add(ObjectUpdated{key, without_blocking(object.value)});
  }
  decision.add(deletion_because_of(state, key, std::move(because), foreground ? "Foreground" : "Background"));
  return std::move(decision).build();
}

}  // namespace

Decided decide_garbage(const State& state, const ObjectKey& key, const Object& object, DeletionProtection protection) {
  if (!deleting(object.value)) return dependent(state, key, object, protection);
  if (has_finalizer(object.value, finalizer::kOrphan)) return orphan(state, key, object);
  if (has_finalizer(object.value, finalizer::kForeground) && !has_blocking_dependents(state, uid_of(object.value))) {
    return update(key, object, without_finalizer(object.value, finalizer::kForeground));
  }
  return Nothing{};
}

}  // namespace shiplog::lifecycle
