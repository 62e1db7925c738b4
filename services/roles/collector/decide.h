#pragma once

#include <string_view>
#include <vector>

#include "events/decision.h"

namespace shiplog::collector {

/// Aggregates the Works of a ResourceBinding or ClusterResourceBinding: its aggregatedStatus and FullyApplied
/// condition, and the status of its template (T-6 to T-18). Pure. Other keys need no decision.
/// Error: kInvalid, a Work without the binding's object among its manifests (T-8).
///
/// - Owns: aggregatedStatus and FullyApplied of bindings, and the status of templates; the effects in probe.h and
///   watch.h observe members.
/// - Trigger: the status of a Work, what a binding aims at, the readiness of a cluster, an interpreter.
/// - Failures: an interpreter fails: the binding's own status is written all the same, the template's stays. A member
///   that is unreachable becomes not ready.
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

/// B-4, without the Works that exist: where a binding with that spec wants to be. Sorted, each once; views into `spec`.
std::vector<std::string_view> wanted_clusters(const Value& spec);

}  // namespace shiplog::collector
