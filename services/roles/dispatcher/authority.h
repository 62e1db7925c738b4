#pragma once

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog::dispatcher {

/// Whether `manifest`, made from the template `object`, is still the same object with no more authority: what its
/// author may do here was checked for the template only. Two rules:
/// - it is the same object: same_identity();
/// - of the kinds of rbac.authorization.k8s.io nothing that grants rights differs: roleRef, subjects, rules,
///   aggregationRule, and labels by which ClusterRoles are aggregated.
/// Errors: kInvalid, another object; kForbidden, other rights, with the field. Neither quotes values.
Result<void> check_authority(const Value& object, const Value& manifest);

}  // namespace shiplog::dispatcher
