#pragma once

#include <optional>

#include "events/base/error.h"
#include "events/base/ids.h"
#include "services/api/auth/rbac/policy.h"

namespace shiplog::api {

/// Whether writing `object` (a Role, ClusterRole, RoleBinding or ClusterRoleBinding; other types pass) would give
/// permissions that `user` does not hold (AUTHZ-5). `old`: null on create. nullopt: it is permitted.
/// Errors: kForbidden, with the rules that are missing; kNotFound, a binding's role is not there.
std::optional<Error> escalation(const RbacPolicy& policy, const User& user, const ObjectKey& key, const Value& old,
                                const Value& object);

}  // namespace shiplog::api
