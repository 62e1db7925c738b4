#pragma once

#include "events/decision.h"

namespace shiplog::clusterrole_aggregation {

/// Brings the rules of one ClusterRole with an aggregationRule up to date (AUTHZ-4). Pure; other keys need no decision.
///
/// - Owns: `rules` of aggregating ClusterRoles, and nothing else of them.
/// - Trigger: any change of a ClusterRole triggers all that aggregate, since its labels select them.
/// - Failures: none of its own. Refused when the ClusterRole has moved on: it is decided again.
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

}  // namespace shiplog::clusterrole_aggregation
