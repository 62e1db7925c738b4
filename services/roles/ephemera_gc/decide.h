#pragma once

#include "events/decision.h"

namespace shiplog::ephemera_gc {

/// As kube-apiserver does by default.
inline constexpr Millis kEventLife{3'600'000};
inline constexpr Millis kSweepEvery{60'000};

/// The key of the sweep over everything. The other keys are Namespaces that were removed.
ObjectKey everything();

/// Removes what no longer belongs into the ephemera: Events after their time, objects of a deleted namespace, and
/// Leases whose owners are gone (DEL-12). Namespaces and owners are in the record, so that the fold of the ephemera
/// cannot know of them. Pure; what it decides is for the journal of the ephemera.
///
/// - Owns: the end of objects in the ephemera.
/// - Trigger: a minute has passed (everything()), or a Namespace is removed.
/// - Failures: none of its own. Refused when one of the objects has moved on: it is decided again.
Decided decide(const State& record, const State& ephemera, const ObjectKey& key, UtcMillis now);

}  // namespace shiplog::ephemera_gc
