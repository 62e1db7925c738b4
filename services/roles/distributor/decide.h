#pragma once

#include "events/decision.h"

namespace shiplog::distributor {

/// What follows from dependencies for one ResourceBinding; other keys need no decision. Pure.
/// As a referrer (spec.propagateDeps): records what its template refers to, and keeps a finalizer until all of that has
/// been released (B-28 to B-31, B-35). As the binding of a dependency, which need not exist
/// yet: follows its referrers, all of them at once (B-32 to B-35).
/// Error: kInvalid, the interpreter cannot compute the dependencies (B-29).
///
/// - Owns: spec.requiredBy of bindings, the bindings made for it, and the recorded dependencies of referrers.
/// - Trigger: a referrer or its template changes; a dependency changes.
/// - Failures: an interpreter fails or waits for an answer: the recorded dependencies stay.
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

}  // namespace shiplog::distributor
