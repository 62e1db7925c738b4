#pragma once

#include <optional>

#include "events/base/ids.h"
#include "services/api/auth/access.h"
#include "services/api/auth/rbac/attributes.h"
#include "services/http/http.h"

namespace shiplog::api {

/// Whether the user has the permission. `access`: nullptr if only system:masters may do anything. Threads: any.
RbacPolicy::Decision decide(const Access* access, const User& user, const Attributes& wanted);

/// What depends on the object: a role or binding that would grant more than its author holds (AUTHZ-5), a field that
/// only the control plane writes (rbac/owned_kinds.h), or a patch that would create without the permission to, unless
/// `creation` states that this was checked. `old`: null if there is none. nullopt: the write is allowed.
enum class CreationCheck { kNeeded, kDone };
std::optional<Error> refuse_write(const Access* access, const User& user, const HttpRequest& request,
                                  const ObjectKey& key, const Value& old, const Value& object, CreationCheck creation);
/// The same of a deletion.
std::optional<Error> refuse_deletion(const Access* access, const User& user, const ObjectKey& key, const Value& old);

}  // namespace shiplog::api
