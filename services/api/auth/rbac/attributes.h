#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/base/error.h"
#include "events/base/ids.h"
#include "events/base/result.h"
#include "services/api/auth/rbac/rule.h"

namespace shiplog::api {

/// What a request wants, from nothing but its method, path and query: known before it is checked whether the resource
/// exists (AUTHZ-1, PATH-1). `path` has no trailing slash; `query` is decoded.
Attributes attributes_of(std::string_view method, std::string_view path,
                         const std::vector<std::pair<std::string, std::string>>& query);

/// "clusterroles" of "clusterroles.rbac.authorization.k8s.io".
std::string resource_of(std::string_view type);

/// Of a GET of the object.
Attributes attributes_of_get(const ObjectKey& object);

/// The 403 in kube-apiserver's words. `reason`: why not, may be empty.
Error forbidden(const User& user, const Attributes& wanted, const std::string& reason = {});

/// The user that a request impersonates (AUTHZ-9).
struct Impersonation {
  User as;                         ///< with the groups it will have
  std::vector<Attributes> needed;  ///< each must be permitted to the requester
};
/// From the Impersonate-* headers; nullopt: there are none. Error: kBadRequest, some of them without a user.
Result<std::optional<Impersonation>> impersonation_of(const std::vector<std::pair<std::string, std::string>>& headers);

/// {namespace, name} of "system:serviceaccount:NAMESPACE:NAME".
std::optional<std::pair<std::string, std::string>> service_account_of(std::string_view user);
/// The groups every ServiceAccount of a namespace is in.
std::vector<std::string> service_account_groups(const std::string& ns);

}  // namespace shiplog::api
