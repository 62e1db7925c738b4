#pragma once

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/policy.h"
#include "events/state/state.h"

namespace shiplog::binder {

// Lazy activation (D-47, D-48): what a policy says reaches a template with the user's next change of the template, not
// before. What counts as the user's is in template_digest.

/// On a template that a Lazy policy claims and that has no binding of its own: its user digest as of the claim.
inline constexpr const char* kLazyDigestAnnotation = "binding.shiplog.io/lazy-digest";
/// On a Lazy policy: "<generation>@<revision>", the revision that this generation of it came with.
inline constexpr const char* kEffectiveSinceAnnotation = "policy.shiplog.io/effective-since";

/// spec.activationPreference is Lazy.
bool lazy(const Policy& policy);

/// Notes in `wanted`, the policy itself, since when it says what it says; what is not Lazy needs no such note.
void note_since_when(Value& wanted, const Policy& policy, Revision revision);

/// The binding tells what the template was when a policy was last applied to it.
bool tells(const Value& binding, const Value& object);

/// The user has changed the template since a policy was last applied to it, or since it was claimed only. Of a template
/// that was neither: since `policy` says what it says; so a template that comes later counts as changed.
bool touched(const State& state, const Object& object, const Value& binding, const Policy& policy);

/// Claims the template for a Lazy policy, and nothing more.
void set_lazy_claim(Value& object, const Policy& policy, bool binding_tells);

}  // namespace shiplog::binder
