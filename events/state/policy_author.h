#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/fleet_options.h"
#include "events/state/rbac.h"
#include "events/state/state.h"

// What a policy may propagate or override beyond its selectors: options --enable-policy-author-check and
// --namespaced-policy-apis (decision 0028).

namespace shiplog {

/// On the four kinds of policies while the check is on: the user who last wrote the spec, as JSON {user, groups}. The
/// API server alone writes it.
inline constexpr const char* kPolicyAuthorAnnotation = "policy.shiplog.io/author";

std::string author_text(const rbac::User& user);

/// The roles and bindings of the state permit it. Deny is the absence of allow.
bool permits(const State& state, const rbac::User& user, const rbac::Attributes& wanted);
using Permits = std::function<bool(const rbac::User&, const rbac::Attributes&)>;

/// Why a policy may not propagate or override an object of this key, in a half-sentence; empty: it may, as always while
/// both options are at their defaults. `policy`: one of the four kinds. `object`: has apiVersion and kind.
std::string policy_objection(const FleetOptions& options, const Permits& permitted, const Value& policy,
                             const ObjectKey& key, const Value& object);
/// The same by the state's options and roles.
std::string policy_objection(const State& state, const ObjectKey& policy, const ObjectKey& key, const Value& object);

/// The part of it that is about the author, for what a policy propagates without selecting it: dependencies. `policy`:
/// {} if there is none.
std::string author_objection(const State& state, const ObjectKey& policy, const ObjectKey& key);

/// Cheaper than a check of each object.
inline bool restricts_policies(const FleetOptions& options) {
  return options.checks_policy_authors() || !options.namespaced_policy_apis.empty();
}

}  // namespace shiplog
