#include <algorithm>
#include <set>
#include <string>

#include "events/base/hash.h"
#include "events/base/ids.h"
#include "events/base/json.h"
#include "events/state/manifest.h"
#include "events/state/object.h"
#include "events/state/work.h"
#include "services/api/admission/rules.h"

// Bindings and Works that are written through the API (KIND-9). These rules hold for every user, administrators too.
// Who may write what else of them: services/api/auth/rbac/owned_kinds.h.

namespace shiplog::api {
namespace {

/// A UUID that follows from what is written and when.
std::string permanent_id(const Value& object, const Write& write) {
  const std::string seed = object["metadata"]["namespace"].str() + "/" + object["metadata"]["name"].str() + " " +
                           std::to_string(write.now.value);
  const Hash128 hash = siphash128(seed);
  EntryId id;
  for (size_t i = 0; i < 8; ++i) {
    id.bytes[i] = static_cast<uint8_t>(hash.hi >> (8 * i));
    id.bytes[8 + i] = static_cast<uint8_t>(hash.lo >> (8 * i));
  }
  return uid_from(id, 0);
}

// --- ResourceBinding and ClusterResourceBinding

/// The label that ties Works to the binding (B-3).
const char* id_label(const Write& write) {
  return write.kind.namespaced ? label::kBindingId : label::kClusterBindingId;
}

void fill_binding(Value& object, const Write& write) {
  const char* key = id_label(write);
  if (write.old == nullptr) {
    // A copy of a binding carries its id too: two bindings would share their Works.
    object.edit("metadata").edit("labels").set(key, permanent_id(object, write));
    if (write.kind.namespaced && object["spec"]["resource"].is_object() &&
        object["spec"]["resource"]["namespace"].is_empty()) {
      object.edit("spec").edit("resource").set("namespace", object["metadata"]["namespace"]);
    }
  } else if (label_of(object, key).empty() && !label_of(*write.old, key).empty()) {
    object.edit("metadata").edit("labels").set(key, label_of(*write.old, key));
  }
}

/// A right to write bindings in one namespace must not send what lies elsewhere to members.
void check_reference(const Value& object, const Write& write, Causes& causes) {
  const Value& resource = object["spec"]["resource"];
  if (write.old != nullptr) {
    if ((*write.old)["spec"]["resource"] != resource) {
      causes.invalid("spec.resource", resource, "field is immutable: a binding stays with its template");
    }
    return;
  }
  if (resource["namespace"].as_string() != object["metadata"]["namespace"].as_string()) {
    causes.invalid("spec.resource.namespace", resource["namespace"],
                   write.kind.namespaced ? "must be the namespace of the binding"
                                         : "must be empty: a ClusterResourceBinding is about a cluster-scoped object");
  }
  const Kind* kind = write.kinds.find_kind(resource["apiVersion"].as_string(), resource["kind"].as_string());
  if (kind != nullptr && kind->namespaced != write.kind.namespaced) {
    causes.invalid("spec.resource.kind", resource["kind"],
                   write.kind.namespaced ? "must be a namespaced kind: use a ClusterResourceBinding for this one"
                                         : "must be a cluster-scoped kind: use a ResourceBinding for this one");
  }
}

void check_binding_id(const Value& object, const Write& write, Causes& causes) {
  if (write.old == nullptr) return;
  const char* key = id_label(write);
  const auto id = label_of(*write.old, key);
  if (!id.empty() && label_of(object, key) != id) {
    causes.invalid("metadata.labels." + std::string{key}, Value{label_of(object, key)}, "label is immutable");
  }
}

void check_binding(const Value& object, const Write& write, Causes& causes) {
  check_reference(object, write, causes);
  check_binding_id(object, write, causes);
  const std::string_view dependencies = annotation_of(object, "resourcebinding.karmada.io/dependencies");
  if (!dependencies.empty()) {
    const auto list = parse_json(dependencies);
    if (!list || !list.value().is_array()) {
      causes.invalid("metadata.annotations[resourcebinding.karmada.io/dependencies]", Value{dependencies},
                     "annotation value must be a valid JSON list");
    }
  }
  std::set<std::string> names;
  const Value& components = object["spec"]["components"];
  for (size_t i = 0; i < components.size(); ++i) {
    const Value& name = components[i]["name"];
    if (name.is_empty()) {
      causes.invalid(at("spec.components", i) + ".name", Value{""}, "component names must be non-empty");
    } else if (!names.insert(name.str()).second) {
      causes.invalid(at("spec.components", i) + ".name", name, "component names must be unique");
    }
  }
}

// --- Work

/// B-14, B-23: what the dispatcher sees to in the Works that it renders. Those are found as they should be.
void fill_work(Value& object, const Write& write) {
  if (label_of(object, label::kWorkId).empty()) {
    const std::string kept{write.old == nullptr ? "" : label_of(*write.old, label::kWorkId)};
    object.edit("metadata").edit("labels").set(label::kWorkId, kept.empty() ? permanent_id(object, write) : kept);
  }
  if (object["spec"]["workload"]["manifests"].size() == 0) return;
  const Value id{label_of(object, label::kWorkId)};
  for (Value& manifest : object.edit("spec").edit("workload").edit("manifests").edit_items()) {
    if (!manifest.is_object()) continue;
    manifest = pruned(std::move(manifest));
    manifest.edit("metadata").edit("labels").set(label::kWorkId, id);
    record_managed_keys(manifest);
  }
}

/// Rendered by the dispatcher, for a binding or for a Namespace that every member gets.
bool rendered(const Value& work) {
  for (const char* key : {label::kBindingId, label::kClusterBindingId}) {
    if (!label_of(work, key).empty()) return true;
  }
  const auto owners = work["metadata"]["ownerReferences"].items();
  return std::ranges::any_of(owners, [](const Value& owner) {
    return owner["apiVersion"].as_string() == "v1" && owner["kind"].as_string() == "Namespace";
  });
}

/// What ties a Work to its binding decides which status it counts towards, and with which object it is deleted.
void check_work(const Value& object, const Write& write, Causes& causes) {
  const Value none;
  const Value& before = write.old == nullptr ? none : *write.old;
  for (const char* key : {label::kBindingId, label::kClusterBindingId}) {
    if (label_of(object, key) == label_of(before, key)) continue;
    causes.forbidden("metadata.labels." + std::string{key}, "it is set on Works that are rendered for a binding only");
  }
  for (const char* key : {annotation::kBindingNamespace, annotation::kBindingName, annotation::kClusterBindingName}) {
    if (annotation_of(object, key) == annotation_of(before, key)) continue;
    causes.forbidden("metadata.annotations." + std::string{key},
                     "it is set on Works that are rendered for a binding only");
  }
  if (rendered(before) && before["spec"]["workload"] != object["spec"]["workload"]) {
    causes.forbidden(
        "spec.workload",
        "this Work is rendered from a template: change the template, or override it with an OverridePolicy");
  }
}

}  // namespace

const std::vector<Rules>& binding_rules() {
  static const std::vector<Rules> kRules = {
      {.type = type::kResourceBinding,
       .webhook = "resourcebinding.karmada.io",
       .fill = fill_binding,
       .check = check_binding},
      {.type = type::kClusterResourceBinding, .fill = fill_binding, .check = check_binding},
      {.type = type::kWork, .webhook = "work.karmada.io", .fill = fill_work, .check = check_work},
  };
  return kRules;
}

}  // namespace shiplog::api
