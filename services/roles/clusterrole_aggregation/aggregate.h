#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/state.h"

namespace shiplog::clusterrole_aggregation {

/// The rules of a ClusterRole with an aggregationRule: those of all other ClusterRoles that one of its selectors
/// matches, by name, each rule once (AUTHZ-4).
Value aggregated_rules(const Value& cluster_role, const State::Objects& cluster_roles);

/// `cluster_role` with the rules that it should have; nullopt: it has them, or aggregates nothing.
std::optional<Value> up_to_date(const Value& cluster_role, const State::Objects& cluster_roles);

/// The ClusterRoles whose rules are not what they should gather, as they should be. `cluster_roles`: all of them.
std::vector<std::pair<ObjectKey, Value>> outdated_aggregates(const State::Objects& cluster_roles);

}  // namespace shiplog::clusterrole_aggregation
