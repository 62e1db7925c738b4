#include "events/state/policy_author.h"

#include <algorithm>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "events/state/api_selector.h"
#include "events/state/object.h"

namespace shiplog {
namespace {

bool means(const rbac::Subject& subject, const rbac::User& user) {
  if (subject.kind == rbac::Subject::Kind::kUserName) return subject.name == user.name;
  return subject.kind == rbac::Subject::Kind::kGroupName && rbac::in_group(user, subject.name);
}

bool grants(const State& state, const State::Name& name, const Value& binding, const rbac::User& user,
            const rbac::Attributes& wanted) {
  const auto subjects = binding["subjects"].items();
  if (std::ranges::none_of(subjects,
                           [&](const Value& subject) { return means(rbac::subject_from(subject, name.ns), user); })) {
    return false;
  }
  const bool own = binding["roleRef"]["kind"].as_string() == "Role";
  const ObjectKey role{own ? rbac::kRole : rbac::kClusterRole, own ? name.ns : "", binding["roleRef"]["name"].str()};
  const rbac::Rules rules = rbac::rules_from(state.value_of(role)["rules"]);
  return std::ranges::any_of(rules, [&](const rbac::Rule& rule) { return rbac::allows(rule, wanted); });
}

/// "secrets" and "" of "secrets", "deployments" and "apps" of "deployments.apps".
rbac::Attributes reading(const ObjectKey& key) {
  const size_t dot = key.type.find('.');
  rbac::Attributes wanted;
  wanted.verb = "get";
  wanted.resource = key.type.substr(0, dot);
  wanted.group = dot == std::string::npos ? "" : key.type.substr(dot + 1);
  wanted.ns = key.ns;
  wanted.name = key.name;
  return wanted;
}

rbac::User author_from(std::string_view text) {
  rbac::User user;
  const auto parsed = parse_stored_json(text);
  if (!parsed) return user;
  user.name = parsed.value()["user"].str();
  for (const Value& group : parsed.value()["groups"].items()) user.groups.push_back(group.str());
  return user;
}

std::string author_objection(const Permits& permitted, const Value& policy, const ObjectKey& key) {
  const rbac::User author = author_from(annotation_of(policy, kPolicyAuthorAnnotation));
  if (author.name.empty()) {
    return "it has no recorded author, because it was last written before --enable-policy-author-check was set: any "
           "write to it records one";
  }
  const rbac::Attributes wanted = reading(key);
  if (permitted(author, wanted)) return {};
  return "its author " + printable(author.name, 253) + " may not get " + wanted.resource +
         (wanted.group.empty() ? "" : "." + wanted.group) +
         (key.ns.empty() ? " at the cluster scope" : " in namespace " + key.ns);
}

Permits by_roles_of(const State& state) {
  return [&state](const rbac::User& user, const rbac::Attributes& wanted) { return permits(state, user, wanted); };
}

}  // namespace

std::string author_text(const rbac::User& user) {
  Value groups = Value::array();
  for (const std::string& group : user.groups) groups.push_back(group);
  return to_json(Value::object({{"user", user.name}, {"groups", std::move(groups)}}));
}

bool permits(const State& state, const rbac::User& user, const rbac::Attributes& wanted) {
  if (rbac::in_group(user, rbac::kMastersGroup)) return true;
  const auto granted = [&](const auto& bindings) {
    return std::ranges::any_of(bindings, [&](const auto& binding) {
      return grants(state, binding.first, binding.second.value, user, wanted);
    });
  };
  if (granted(state.objects(rbac::kClusterRoleBinding))) return true;
  return !wanted.ns.empty() && granted(state.objects(rbac::kRoleBinding, wanted.ns));
}

std::string policy_objection(const FleetOptions& options, const Permits& permitted, const Value& policy,
                             const ObjectKey& key, const Value& object) {
  const bool namespaced = !policy["metadata"]["namespace"].is_empty();
  if (namespaced && !options.namespaced_policy_apis.empty() &&
      !selects_api(options.namespaced_policy_apis, object["apiVersion"].as_string(), object["kind"].as_string())) {
    return "policies of namespaces may not select " + object["kind"].str() +
           ": it is not among --namespaced-policy-apis";
  }
  return options.checks_policy_authors() ? author_objection(permitted, policy, key) : std::string{};
}

std::string policy_objection(const State& state, const ObjectKey& policy, const ObjectKey& key, const Value& object) {
  if (!restricts_policies(state.options())) return {};
  return policy_objection(state.options(), by_roles_of(state), state.value_of(policy), key, object);
}

std::string author_objection(const State& state, const ObjectKey& policy, const ObjectKey& key) {
  if (!state.options().checks_policy_authors()) return {};
  return author_objection(by_roles_of(state), state.value_of(policy), key);
}

}  // namespace shiplog
