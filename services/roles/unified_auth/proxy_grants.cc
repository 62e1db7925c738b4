#include "services/roles/unified_auth/proxy_grants.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "events/state/rbac.h"

namespace shiplog::unified_auth {
namespace {

bool permits(const rbac::Rule& rule, std::string_view group, std::string_view resource) {
  // The verb and the name are taken from the rule itself: whatever it has, it permits.
  const rbac::Attributes wanted{.verb = rule.verbs.empty() ? std::string{} : rule.verbs.front(),
                                .group = std::string{group},
                                .resource = std::string{resource},
                                .subresource = "proxy",
                                .ns = {},
                                .name = rule.resource_names.empty() ? std::string{} : rule.resource_names.front(),
                                .path = {}};
  return rbac::allows(rule, wanted);
}

/// The role of a ClusterRoleBinding; it can refer to no other kind.
std::string role_of(const Value& binding) {
  return binding["roleRef"]["kind"].as_string() == "ClusterRole" ? binding["roleRef"]["name"].str() : std::string{};
}

Value impersonation_rule(const char* resource, const std::set<std::string>& names) {
  Value listed = Value::array();
  for (const std::string& name : names) listed.push_back(name);
  return Value::object({{"apiGroups", Value::array({""})},
                        {"resourceNames", std::move(listed)},
                        {"resources", Value::array({resource})},
                        {"verbs", Value::array({"impersonate"})}});
}

void add_to(ProxyScope& scope, const ProxyScope& more) {
  scope.all = scope.all || more.all;
  scope.clusters.insert(more.clusters.begin(), more.clusters.end());
}

}  // namespace

ProxyScope proxy_scope(const Value& rules) {
  ProxyScope scope;
  for (const rbac::Rule& rule : rbac::rules_from(rules)) {
    if (permits(rule, "search.karmada.io", "proxying")) return {.all = true, .clusters = {}};
    if (!permits(rule, "cluster.karmada.io", "clusters")) continue;
    if (rule.resource_names.empty()) return {.all = true, .clusters = {}};
    scope.clusters.insert(rule.resource_names.begin(), rule.resource_names.end());
  }
  return scope;
}

ProxyGrants::Subjects ProxyGrants::subjects_from(const Value& binding) {
  Subjects subjects;
  for (const Value& subject : binding["subjects"].items()) {
    subjects.insert({subject["kind"].str(), subject["name"].str()});
  }
  return subjects;
}

void ProxyGrants::put_role(const std::string& name, const Value& role) {
  ProxyScope scope = proxy_scope(role["rules"]);
  if (scope.empty()) {
    roles_.erase(name);
  } else {
    roles_[name] = std::move(scope);
  }
}

void ProxyGrants::put_binding(const std::string& name, const Value& binding) {
  const std::string role = role_of(binding);
  if (!role.empty()) bindings_[role][name] = subjects_from(binding);
}

void ProxyGrants::drop_binding(const std::string& name, const Value& binding) {
  const auto of_role = bindings_.find(role_of(binding));
  if (of_role == bindings_.end()) return;
  of_role->second.erase(name);
  if (of_role->second.empty()) bindings_.erase(of_role);
}

ProxyGrants ProxyGrants::of(const State& state) {
  ProxyGrants grants;
  for (const auto& [name, role] : state.objects(rbac::kClusterRole)) grants.put_role(name.name.str(), role.value);
  for (const auto& [name, binding] : state.objects(rbac::kClusterRoleBinding)) {
    grants.put_binding(name.name.str(), binding.value);
  }
  return grants;
}

void ProxyGrants::follow(const Change& change, ProxyScope& concerned) {
  const std::string name = change.object.name.str();
  const auto concerns = [&](const std::string& role) {
    const auto scope = roles_.find(role);
    if (scope != roles_.end() && bindings_.contains(role)) add_to(concerned, scope->second);
  };
  if (change.object.type == rbac::kClusterRole) {
    if (change.before["rules"] == change.after["rules"]) return;
    concerns(name);
    put_role(name, change.after);
    concerns(name);
  } else if (change.object.type == rbac::kClusterRoleBinding) {
    if (change.before["subjects"] == change.after["subjects"] && change.before["roleRef"] == change.after["roleRef"]) {
      return;
    }
    concerns(role_of(change.before));
    drop_binding(name, change.before);
    put_binding(name, change.after);
    concerns(role_of(change.after));
  }
}

Value ProxyGrants::impersonation_rules(const std::string& cluster) const {
  std::map<std::string, std::set<std::string>> names;
  for (const auto& [role, scope] : roles_) {
    const auto bindings = bindings_.find(role);
    if (bindings == bindings_.end() || !scope.contains(cluster)) continue;
    for (const auto& [binding, subjects] : bindings->second) {
      for (const Subject& subject : subjects) names[subject.kind].insert(subject.name);
    }
  }
  constexpr std::pair<const char*, const char*> kKinds[] = {
      {"User", "users"}, {"ServiceAccount", "serviceaccounts"}, {"Group", "groups"}};
  Value rules = Value::array();
  for (const auto& [kind, resource] : kKinds) {
    if (names.contains(kind)) rules.push_back(impersonation_rule(resource, names[kind]));
  }
  return rules;
}

}  // namespace shiplog::unified_auth
