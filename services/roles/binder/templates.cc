#include "services/roles/binder/templates.h"

#include <algorithm>
#include <array>

#include "events/state/api_selector.h"
#include "events/state/policy_identity.h"
#include "events/state/propagation_skips.h"
#include "events/state/served_kind.h"
#include "events/state/work.h"

namespace shiplog::binder {
namespace {

constexpr std::array<std::string_view, 12> kExcludedGroups = {
    "cluster.karmada.io",    "policy.karmada.io",      "work.karmada.io",    "config.karmada.io",
    "networking.karmada.io", "autoscaling.karmada.io", "remedy.karmada.io",  "apps.karmada.io",
    "coordination.k8s.io",   "events.k8s.io",          "control.shiplog.io", "audit.shiplog.io"};

/// What an API server keeps for its extensions (D-4).
const ObjectKey kApiServersOwn{"configmaps", "kube-system", "extension-apiserver-authentication"};

bool reserved(std::string_view ns) {
  return ns == "karmada-system" || ns == "karmada-cluster" || ns.starts_with("karmada-es-");
}

void select(const State& state, const Policy& policy, const ResourceSelector& selector, std::vector<ObjectKey>& keys) {
  const auto served = served_kind(state, selector.api_version, selector.kind);
  if (!served || !propagates(served->type())) return;
  const std::string type = served->type();
  const auto consider = [&](const ObjectKey& key, const Value& object) {
    if (propagates(state.options(), key, object) && match(policy, object) != SelectorMatch::kNone) keys.push_back(key);
  };
  if (!selector.name.empty() && (!selector.ns.empty() || !served->namespaced)) {
    const ObjectKey key = served->key(selector.ns, selector.name);
    if (const Object* object = state.find(key)) consider(key, object->value);
    return;
  }
  if (!selector.ns.empty()) {
    for (const auto& [name, object] : state.objects(type, selector.ns))
      consider({type, name.ns, name.name}, object.value);
    return;
  }
  for (const auto& [name, object] : state.objects(type)) consider({type, name.ns, name.name}, object.value);
}

}  // namespace

bool propagates(std::string_view type) {
  const size_t dot = type.find('.');
  if (dot == std::string_view::npos) return type != "events";
  return std::find(kExcludedGroups.begin(), kExcludedGroups.end(), type.substr(dot + 1)) == kExcludedGroups.end();
}

std::string_view not_propagated_because(const FleetOptions& options, const ObjectKey& key, const Value& object) {
  if (!propagates(key.type)) return "objects of its kind are for the control plane alone";
  // The execution namespaces are the fleet's own, as what lies in them.
  if (reserved(key.type == type::kNamespace ? key.name : key.ns))
    return "its namespace is reserved for the control plane";
  if (skips_namespace(options, key.ns)) return "--skipped-propagating-namespaces leaves its namespace out";
  if (key == kApiServersOwn) return "it is for the servers of APIServices";
  if (selects_api(options.skipped_apis, object["apiVersion"].as_string(), object["kind"].as_string())) {
    return "--skipped-propagating-apis leaves its kind out";
  }
  return "";
}

bool propagates(const FleetOptions& options, const ObjectKey& key, const Value& object) {
  return not_propagated_because(options, key, object).empty();
}

std::vector<ObjectKey> selected_by(const State& state, const Policy& policy) {
  std::vector<ObjectKey> keys;
  for (const ResourceSelector& selector : policy.selectors) select(state, policy, selector, keys);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

std::vector<ObjectKey> claimed_by(const State& state, const Policy& policy) {
  std::vector<ObjectKey> keys;
  if (policy.permanent_id.empty()) return keys;
  for (const ObjectKey& key : state.labelled(policy_id_label(policy.cluster_scoped()), policy.permanent_id)) {
    if (propagates(key.type)) keys.push_back(key);  // leaves out the policy itself and its bindings
  }
  return keys;
}

std::optional<ObjectKey> template_key(const State& state, const Value& binding) {
  const Value& resource = binding["spec"]["resource"];
  const auto served = served_kind(state, resource["apiVersion"].as_string(), resource["kind"].as_string());
  if (!served) return std::nullopt;
  return served->key(resource["namespace"].as_string(), resource["name"].as_string());
}

}  // namespace shiplog::binder
