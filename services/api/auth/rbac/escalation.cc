#include "services/api/auth/rbac/escalation.h"

#include <algorithm>
#include <string>

#include "events/base/json.h"
#include "services/api/auth/rbac/attributes.h"
#include "services/api/status.h"

namespace shiplog::api {
namespace {

bool may(const RbacPolicy& policy, const User& user, const char* verb, std::string_view type, const std::string& ns,
         const std::string& name) {
  Attributes wanted;
  wanted.verb = verb;
  wanted.group = rbac::kGroup;
  wanted.resource = resource_of(type);
  wanted.ns = ns;
  wanted.name = name;
  return policy.decide(user, wanted).allowed;
}

/// Why not; empty: the user holds all of `rules` in the namespace.
std::string granting_too_much(const RbacPolicy& policy, const User& user, const std::string& ns, const Rules& rules) {
  const RbacPolicy::Held held = policy.held(user, ns);
  // A rule with 100 verbs, 100 groups and 100 resources is short, but has a million combinations.
  constexpr size_t kMostCombinations = 50'000;
  constexpr size_t kMostComparisons = 20'000'000;
  const size_t wanted = combinations(rules);
  if (wanted > std::min(kMostCombinations, kMostComparisons / std::max<size_t>(1, held.rules.size()))) {
    return "the rules name " + std::to_string(wanted) +
           " combinations of verbs, API groups, resources and names, too many to compare with those that user " +
           to_json(Value{user.name}) + " holds: grant them in several roles, or with *";
  }
  const Rules missing = not_held(held.rules, rules);
  if (missing.empty()) return {};
  std::string groups;
  for (const std::string& group : user.groups) groups += (groups.empty() ? "" : " ") + to_json(Value{group});
  std::string why = "user " + to_json(Value{user.name}) + " (groups=[" + groups +
                    "]) is attempting to grant RBAC permissions not currently held:";
  constexpr size_t kMostShown = 100;
  for (size_t i = 0; i < std::min(kMostShown, missing.size()); ++i) why += "\n" + to_string(missing[i]);
  if (missing.size() > kMostShown) why += "\nand " + std::to_string(missing.size() - kMostShown) + " more rules";
  if (!held.missing.empty()) {
    why += "; resolution errors: [";
    for (size_t i = 0; i < held.missing.size(); ++i) why += (i == 0 ? "" : ", ") + held.missing[i];
    why += "]";
  }
  return why;
}

std::optional<Error> refused(const ObjectKey& key, const std::string& why) {
  if (why.empty()) return std::nullopt;
  return forbidden(StatusDetails{rbac::kGroup, "", resource_of(key.type), key.name.str()}, why);
}

/// The object but for what garbage collection needs to change, and the server by itself.
Value what_counts(Value object) {
  Value& metadata = object.edit("metadata");
  for (const char* field : {"ownerReferences", "finalizers", "managedFields", "resourceVersion"}) metadata.erase(field);
  return object;
}

/// All else can grant permissions: a label makes a role part of those that aggregate it.
bool grants_nothing(const Value& old, const Value& object) {
  return !old.is_null() && what_counts(old) == what_counts(object);
}

std::optional<Error> role_written(const RbacPolicy& policy, const User& user, const ObjectKey& key, const Value& old,
                                  const Value& object) {
  if (grants_nothing(old, object) || may(policy, user, "escalate", key.type, key.ns.str(), key.name.str())) {
    return std::nullopt;
  }
  const Rules everything = {{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}};
  const bool gathers = object["aggregationRule"]["clusterRoleSelectors"].size() > 0 ||
                       old["aggregationRule"]["clusterRoleSelectors"].size() > 0;
  if (gathers && !granting_too_much(policy, user, key.ns.str(), everything).empty()) {
    return refused(key, "must have cluster-admin privileges to use an aggregationRule");
  }
  return refused(key, granting_too_much(policy, user, key.ns.str(), rules_from(object["rules"])));
}

std::optional<Error> binding_written(const RbacPolicy& policy, const User& user, const ObjectKey& key, const Value& old,
                                     const Value& object) {
  if (grants_nothing(old, object)) return std::nullopt;
  const char* type = object["roleRef"]["kind"].as_string() == "Role" ? rbac::kRole : rbac::kClusterRole;
  const std::string name = object["roleRef"]["name"].str();
  if (may(policy, user, "bind", type, key.ns.str(), name)) return std::nullopt;
  const Rules* rules = policy.role(type, key.ns.str(), name);
  // Upstream names the resource of the request there, not that of the role; Flux's tests compare the message.
  if (rules == nullptr) return not_found(StatusDetails{rbac::kGroup, "", resource_of(key.type), name});
  return refused(key, granting_too_much(policy, user, key.ns.str(), *rules));
}

}  // namespace

std::optional<Error> escalation(const RbacPolicy& policy, const User& user, const ObjectKey& key, const Value& old,
                                const Value& object) {
  if (!rbac::is_rbac(key.type) || in_group(user, kMastersGroup)) return std::nullopt;
  const bool role = key.type == rbac::kRole || key.type == rbac::kClusterRole;
  return role ? role_written(policy, user, key, old, object) : binding_written(policy, user, key, old, object);
}

}  // namespace shiplog::api
