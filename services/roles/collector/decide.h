#pragma once

#include <set>
#include <string>

#include "events/decision.h"

namespace shiplog::collector {

/// What the Works of a ResourceBinding or ClusterResourceBinding come to: its aggregatedStatus and FullyApplied
/// condition, and the status of its template (T-6 to T-18). Pure. Other keys need no decision.
/// Error: kInvalid, a Work without the binding's object among its manifests (T-8).
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

/// B-4, without the Works that exist: where a binding with that spec wants to be.
std::set<std::string> wanted_clusters(const Value& spec);

}  // namespace shiplog::collector
