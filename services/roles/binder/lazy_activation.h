#pragma once

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/policy.h"
#include "events/state/state.h"

namespace shiplog::binder {

// Lazy activation (D-47, D-48): a policy's spec reaches a template with the user's next change of the template, not
// before. What counts as a change by the user is in template_digest.

/// On a template that a Lazy policy claims and that has no binding of its own: its user digest as of the claim.
inline constexpr const char* kLazyDigestAnnotation = "binding.shiplog.io/lazy-digest";
/// On a Lazy policy: "<generation>@<revision>", the revision at which it got this generation.
inline constexpr const char* kEffectiveSinceAnnotation = "policy.shiplog.io/effective-since";

/// spec.activationPreference is Lazy.
bool lazy(const Policy& policy);

/// Records in `wanted`, the policy itself, since which revision its spec is as it is; only a Lazy policy needs it.
void note_effective_since(Value& wanted, const Policy& policy, Revision revision);

/// The binding records_template_digest what the template was when a policy was last applied to it.
bool records_template_digest(const Value& binding, const Value& object);

/// The user has changed the template since a policy was last applied to it, or since it was claimed only. Of a template
/// that was neither: since the current spec of `policy`; so a template that is created later counts as changed.
bool touched(const State& state, const Object& object, const Value& binding, const Policy& policy);

/// Claims the template for a Lazy policy, and nothing more.
void set_lazy_claim(Value& object, const Policy& policy, bool digest_recorded);

}  // namespace shiplog::binder
