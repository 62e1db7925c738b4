#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "events/base/value.h"

namespace shiplog::api {

/// Who sent a request, once authenticated (or, impersonated, who it is to be treated as).
struct User {
  std::string name;
  std::vector<std::string> groups;
  std::string uid;
  std::map<std::string, std::vector<std::string>> extra;
};

/// Members may do everything, whatever is stored (AUTHZ-1).
inline constexpr const char* kMastersGroup = "system:masters";
inline constexpr const char* kAuthenticatedGroup = "system:authenticated";
inline constexpr const char* kUnauthenticatedGroup = "system:unauthenticated";
inline constexpr const char* kAnonymousUser = "system:anonymous";
inline constexpr const char* kServiceAccountPrefix = "system:serviceaccount:";

bool in_group(const User& user, std::string_view group);

/// What a request wants to do (AUTHZ-1).
struct Attributes {
  std::string verb;
  std::string group;  ///< "" for core
  std::string resource;
  std::string subresource;
  std::string ns;
  std::string name;
  std::string path;         ///< of a request that is about no resource
  bool is_resource = true;  ///< false: only verb and path count
};

/// One PolicyRule of a Role or ClusterRole.
struct Rule {
  std::vector<std::string> verbs, api_groups, resources, resource_names, non_resource_urls;
  auto operator<=>(const Rule&) const = default;
};
using Rules = std::vector<Rule>;

Rules rules_from(const Value& rules);
/// As PolicyRules; empty lists are left out.
Value to_value(const Rules& rules);
/// `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}`, as kube-apiserver prints a rule.
std::string to_string(const Rule& rule);

/// AUTHZ-3.
bool allows(const Rule& rule, const Attributes& wanted);

/// How many combinations of verb, group, resource and name (or of verb and URL) the rules name.
size_t combinations(const Rules& rules);

/// The parts of `wanted` that no rule of `held` covers, in few rules, sorted; empty: all of it is held (AUTHZ-5).
/// Takes time for each combination of `wanted` and each rule of `held`.
Rules not_held(const Rules& held, const Rules& wanted);

}  // namespace shiplog::api
