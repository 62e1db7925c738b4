#pragma once

#include <optional>

#include "events/base/error.h"
#include "events/base/ids.h"
#include "services/api/auth/rbac/policy.h"

namespace shiplog::api {

/// The verb that is needed to write what the control plane itself writes of bindings and Works. No role that names its
/// verbs includes it; cluster-admin does, by "*".
inline constexpr const char* kManageVerb = "manage";

/// Bindings and Works are written by the control plane, and decide what members run. Without the verb "manage" on the
/// resource, a user may
/// - change spec.suspension and spec.gracefulEvictionTasks of a ResourceBinding or ClusterResourceBinding, and its
///   labels, annotations and finalizers outside the domains karmada.io and shiplog.io;
/// - delete bindings;
/// if the user's roles permit the request at all. Everything else is refused: creating bindings, their other fields and
/// status, and every write to a Work; but the agent of a cluster may write the status of its own Works, and the
/// finalizer that tells that its member still has their objects, and may delete them.
/// `old`: null on create. `object`: null on delete. Other types pass. Error: kForbidden, naming the field.
std::optional<Error> refuse_owned(const RbacPolicy& policy, const User& user, const ObjectKey& key, const Value& old,
                                  const Value& object);

}  // namespace shiplog::api
