#pragma once

#include <cstddef>
#include <string>

#include "events/base/value.h"
#include "events/state/rbac.h"

namespace shiplog::api {

using rbac::allows;
using rbac::Attributes;
using rbac::in_group;
using rbac::kAnonymousUser;
using rbac::kAuthenticatedGroup;
using rbac::kMastersGroup;
using rbac::kServiceAccountPrefix;
using rbac::kUnauthenticatedGroup;
using rbac::Rule;
using rbac::Rules;
using rbac::rules_from;
using rbac::User;

/// As PolicyRules; empty lists are left out.
Value to_value(const Rules& rules);
/// `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}`, as kube-apiserver prints a rule.
std::string to_string(const Rule& rule);

/// How many combinations of verb, group, resource and name (or of verb and URL) the rules name.
size_t combinations(const Rules& rules);

/// The parts of `wanted` that no rule of `held` covers, in few rules, sorted; empty: all of it is held (AUTHZ-5).
/// Takes time for each combination of `wanted` and each rule of `held`.
Rules not_held(const Rules& held, const Rules& wanted);

}  // namespace shiplog::api
