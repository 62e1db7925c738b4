#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/value.h"

/// Who a user is, and what one rule of a Role or ClusterRole permits.
namespace shiplog::rbac {

inline constexpr const char* kGroup = "rbac.authorization.k8s.io";
inline constexpr const char* kRole = "roles.rbac.authorization.k8s.io";
inline constexpr const char* kClusterRole = "clusterroles.rbac.authorization.k8s.io";
inline constexpr const char* kRoleBinding = "rolebindings.rbac.authorization.k8s.io";
inline constexpr const char* kClusterRoleBinding = "clusterrolebindings.rbac.authorization.k8s.io";
/// One of the four above.
bool is_rbac(std::string_view type);

/// The requester, once authenticated (or the impersonated user).
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

/// AUTHZ-3.
bool allows(const Rule& rule, const Attributes& wanted);

/// The rule is "*", the path itself, or a prefix that ends with "*".
bool url_matches(std::string_view rule, std::string_view path);

/// The user that a subject of a RoleBinding or ClusterRoleBinding means, by kind and name.
struct Subject {
  enum class Kind { kNothing, kUserName, kGroupName };
  Kind kind = Kind::kNothing;
  std::string name;  ///< of a ServiceAccount: its user name
};
/// `ns`: of the binding, which a ServiceAccount without a namespace is in.
Subject subject_from(const Value& subject, std::string_view ns);

}  // namespace shiplog::rbac
