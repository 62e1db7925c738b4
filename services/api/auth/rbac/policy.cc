#include "services/api/auth/rbac/policy.h"

#include <algorithm>
#include <set>
#include <utility>

#include "events/base/json.h"

namespace shiplog::api {
namespace {

// Index keys: users and groups may bear the same name.
std::string user_key(const std::string& name) { return "u" + name; }
std::string group_key(const std::string& name) { return "g" + name; }

std::string json_quoted(const std::string& text) { return to_json(Value{text}); }

std::string not_found(const std::string& role_kind, const std::string& name) {
  return std::string{role_kind == "Role" ? "role" : "clusterrole"} + "." + rbac::kGroup + " " + json_quoted(name) +
         " not found";
}

/// The index key of a subject, and how it is named in a reason. Empty key: the subject denotes no user or group.
std::pair<std::string, std::string> read_subject(const Value& subject, const std::string& ns) {
  const rbac::Subject meant = rbac::subject_from(subject, ns);
  const std::string kind = subject["kind"].str();
  switch (meant.kind) {
    case rbac::Subject::Kind::kNothing:
      return {};
    case rbac::Subject::Kind::kUserName:
      break;
    case rbac::Subject::Kind::kGroupName:
      return {group_key(meant.name), "Group " + json_quoted(meant.name)};
  }
  if (kind != "ServiceAccount") return {user_key(meant.name), "User " + json_quoted(meant.name)};
  const std::string in = subject["namespace"].is_empty() ? ns : subject["namespace"].str();
  return {user_key(meant.name), "ServiceAccount " + json_quoted(subject["name"].str() + "/" + in)};
}

}  // namespace

void RbacPolicy::put(const ObjectKey& key, const Value& object) {
  if (key.type == rbac::kRole || key.type == rbac::kClusterRole) {
    roles_[key] = rules_from(object["rules"]);
    return;
  }
  if (key.type != rbac::kRoleBinding && key.type != rbac::kClusterRoleBinding) return;
  erase(key);
  auto binding = std::make_shared<Binding>(
      Binding{key.ns.str(), key.name.str(), object["roleRef"]["kind"].str(), object["roleRef"]["name"].str(), {}});
  for (const Value& subject : object["subjects"].items()) {
    auto read = read_subject(subject, key.ns.str());
    if (!read.first.empty()) binding->subjects.push_back(std::move(read));
  }
  BySubject& index = index_[key.ns.str()];
  for (const auto& [where, description] : binding->subjects)
    index[where].emplace(key.name, Entry{binding, description});
  bindings_[key] = std::move(binding);
}

void RbacPolicy::erase(const ObjectKey& key) {
  roles_.erase(key);
  const auto old = bindings_.find(key);
  if (old == bindings_.end()) return;
  BySubject& index = index_[key.ns.str()];
  for (const auto& [where, description] : old->second->subjects) {
    const auto found = index.find(where);
    if (found == index.end()) continue;
    found->second.erase(key.name.str());
    if (found->second.empty()) index.erase(found);
  }
  if (index.empty()) index_.erase(key.ns.str());
  bindings_.erase(old);
}

const Rules* RbacPolicy::role(const char* type, const std::string& ns, const std::string& name) const {
  const auto found = roles_.find({type, type == std::string_view{rbac::kRole} ? ns : "", name});
  return found == roles_.end() ? nullptr : &found->second;
}

template <class See>
void RbacPolicy::visit(const User& user, const std::string& ns, See see) const {
  const auto among = [&](const BySubject& index, const std::string& key) {
    const auto found = index.find(key);
    if (found == index.end()) return true;
    return std::ranges::all_of(found->second, [&](const auto& named) {
      const Binding& binding = *named.second.binding;
      return see(binding, named.second.subject, role(binding.role_type(), binding.ns, binding.role_name));
    });
  };
  for (const std::string& where : ns.empty() ? std::vector<std::string>{""} : std::vector<std::string>{"", ns}) {
    const auto index = index_.find(where);
    if (index == index_.end()) continue;
    if (!among(index->second, user_key(user.name))) return;
    for (const std::string& group : user.groups) {
      if (!among(index->second, group_key(group))) return;
    }
  }
}

RbacPolicy::Decision RbacPolicy::decide(const User& user, const Attributes& wanted) const {
  if (in_group(user, kMastersGroup)) return {true, ""};
  Decision decision;
  std::vector<std::string> missing;
  // What is about no resource is granted by ClusterRoleBindings alone.
  visit(user, wanted.is_resource ? wanted.ns : "",
        [&](const Binding& binding, const std::string& subject, const Rules* rules) {
          if (rules == nullptr) {
            const std::string words = not_found(binding.role_kind, binding.role_name);
            if (std::ranges::find(missing, words) == missing.end()) missing.push_back(words);
            return true;
          }
          if (!std::ranges::any_of(*rules, [&](const Rule& rule) { return allows(rule, wanted); })) return true;
          decision.allowed = true;
          decision.reason = "RBAC: allowed by ";
          decision.reason += binding.ns.empty() ? "ClusterRoleBinding " + json_quoted(binding.name)
                                                : "RoleBinding " + json_quoted(binding.name + "/" + binding.ns);
          decision.reason += " of " + binding.role_kind + " " + json_quoted(binding.role_name) + " to " + subject;
          return false;
        });
  if (!decision.allowed && !missing.empty()) {
    decision.reason = "RBAC: ";
    if (missing.size() > 1) decision.reason += "[";
    for (size_t i = 0; i < missing.size(); ++i) decision.reason += (i == 0 ? "" : ", ") + missing[i];
    if (missing.size() > 1) decision.reason += "]";
  }
  return decision;
}

RbacPolicy::Held RbacPolicy::held(const User& user, const std::string& ns) const {
  Held held;
  if (in_group(user, kMastersGroup)) {
    held.rules = {{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}};
    return held;
  }
  std::set<Rule> known;
  visit(user, ns, [&](const Binding& binding, const std::string&, const Rules* rules) {
    if (rules == nullptr) {
      held.missing.push_back(not_found(binding.role_kind, binding.role_name));
      return true;
    }
    for (const Rule& rule : *rules) {
      // A RoleBinding grants nothing outside its namespace.
      if (!binding.ns.empty() && !rule.non_resource_urls.empty()) continue;
      if (known.insert(rule).second) held.rules.push_back(rule);
    }
    return true;
  });
  return held;
}

}  // namespace shiplog::api
