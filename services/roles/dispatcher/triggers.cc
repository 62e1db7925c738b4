#include "services/roles/dispatcher/triggers.h"

#include <algorithm>

#include "events/dispatch.h"
#include "events/state/new_binding.h"
#include "events/state/policy_author.h"
#include "events/state/served_kind.h"
#include "events/state/work.h"
#include "services/roles/binding_aim.h"

namespace shiplog::dispatcher {
namespace {

void wake_if_there(const State& state, ObjectKey key, std::vector<ObjectKey>& wake) {
  if (state.find(key) != nullptr) wake.push_back(std::move(key));
}

void wake_type(const State& state, const char* type, std::string_view ns, std::vector<ObjectKey>& wake) {
  const auto add = [&](const State::Name& name) { wake.push_back({type, name.ns, name.name}); };
  if (ns.empty()) {
    for (const auto& [name, object] : state.objects(type)) add(name);
  } else {
    for (const auto& [name, object] : state.objects(type, ns)) add(name);
  }
}

/// What renders a template: its binding; a Namespace does so itself (B-27).
void wake_renderer(const State& state, const Value& object, std::string_view kind, const State::Name& name,
                   std::vector<ObjectKey>& wake) {
  if (object["apiVersion"].as_string() == "v1" && kind == "Namespace") {
    wake.push_back({type::kNamespace, "", name.name});
  }
  wake_if_there(state, binding_key({"", name.ns, name.name}, kind), wake);
}

void wake_selected(const State& state, const ResourceSelector& selector, std::vector<ObjectKey>& wake) {
  const auto served = served_kind(state, selector.api_version, selector.kind);
  if (!served) return;
  const std::vector<ResourceSelector> alone{selector};
  const auto look = [&](const State::Name& name, const Object& object) {
    if (strongest_match(alone, object.value) != SelectorMatch::kNone) {
      wake_renderer(state, object.value, selector.kind, name, wake);
    }
  };
  const std::string type = served->type();
  if (!selector.name.empty() && (!selector.ns.empty() || !served->namespaced)) {
    const State::Name name{served->namespaced ? selector.ns : SharedText{}, selector.name};
    const Object* object = state.find({type, name.ns, name.name});
    if (object != nullptr) look(name, *object);
  } else if (!selector.ns.empty()) {
    for (const auto& [name, object] : state.objects(type, selector.ns)) look(name, object);
  } else {
    for (const auto& [name, object] : state.objects(type)) look(name, object);
  }
}

void wake_selected(const State& state, const Value& object, std::vector<ObjectKey>& wake) {
  if (object.is_null()) return;
  const OverridePolicy policy = override_policy_from(object);
  for (const ResourceSelector& selector : policy.selectors) wake_selected(state, selector, wake);
  if (!policy.selectors.empty()) return;
  wake_type(state, type::kResourceBinding, policy.ns, wake);
  if (!policy.cluster_scoped()) return;
  wake_type(state, type::kClusterResourceBinding, "", wake);
  wake_type(state, type::kNamespace, "", wake);
}

}  // namespace

void trigger_overridden(const State& state, const Change& policy, std::vector<ObjectKey>& wake) {
  if (policy.before["spec"] == policy.after["spec"] &&
      annotation_of(policy.before, kPolicyAuthorAnnotation) == annotation_of(policy.after, kPolicyAuthorAnnotation)) {
    return;
  }
  const size_t first = wake.size();
  wake_selected(state, policy.before, wake);
  wake_selected(state, policy.after, wake);
  const auto begin = wake.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, wake.end());
  wake.erase(std::unique(begin, wake.end()), wake.end());
}

void wake_for_cluster(const State& state, const Change& cluster, std::vector<ObjectKey>& wake) {
  const auto same = [&](const char* field) { return cluster.before["spec"][field] == cluster.after["spec"][field]; };
  if (cluster.before["metadata"]["labels"] == cluster.after["metadata"]["labels"] && same("provider") &&
      same("region") && same("zone") && same("zones")) {
    return;
  }
  const bool selected = std::ranges::any_of(
      state.override_policies(), [](const auto& policy) { return policy.second.selects_by_cluster_fields(); });
  if (!selected) return;
  // There may be no Work yet: what could not be rendered for it, and what is being rendered from the cluster as it was.
  wake_type(state, type::kNamespace, "", wake);
  for (const char* type : {type::kResourceBinding, type::kClusterResourceBinding}) {
    for (const auto& [name, object] : state.objects(type)) {
      if (condition_of(object.value, kWorksSyncedCondition)["status"].as_string() == "False" ||
          aims_at(object.value["spec"], cluster.object.name)) {
        wake.push_back({type, name.ns, name.name});
      }
    }
  }
  for (const auto& [name, work] : state.objects(type::kWork, execution_space(cluster.object.name))) {
    for (const char* label : {label::kBindingId, label::kClusterBindingId}) {
      const auto id = label_of(work.value, label);
      if (id.empty()) continue;
      for (const ObjectKey& key : state.labelled(label, id)) {
        if (key.type != type::kWork) wake.push_back(key);
      }
    }
    for (const Value& owner : work.value["metadata"]["ownerReferences"].items()) {
      if (owner["kind"].as_string() == "Namespace") wake.push_back({type::kNamespace, "", owner["name"].str()});
    }
  }
}

void wake_changed_back(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
  const Value& object = change.after;
  if (change.created() || change.removed() ||
      change.before["metadata"]["generation"] == object["metadata"]["generation"]) {
    return;
  }
  const ObjectKey key = binding_key(change.object, object["kind"].as_string());
  const std::string_view bound = annotation_of(state.value_of(key), kTemplateDigestAnnotation);
  if (!bound.empty() && bound == template_digest(object)) wake.push_back(key);
}

}  // namespace shiplog::dispatcher
