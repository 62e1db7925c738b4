#pragma once

#include <string>
#include <string_view>

#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "events/state/state.h"
#include "events/taint.h"

/// When an application failover is due, and what it is (3.2). Two roles begin them: application-failover at once, and
/// taint in the turn of all evictions where there is a budget for these (decision 0073). Pure.
namespace shiplog::application_failover {

/// Its name in --controllers, as upstream; on unless that leaves it out (3.2.1).
inline constexpr const char* kApplicationFailover = "applicationFailover";

/// --eviction-budget is given: every eviction waits for its turn.
bool evictions_take_turns(const State& state);

/// Why the workload of a binding is not watched; empty: it is (3.2.1, 3.2.2).
std::string unwatched_because(const State& state, const ObjectKey& key, const Value& binding, UtcMillis now);

/// Why its timer in the cluster does not run; empty: the workload is known to be Unhealthy there (3.2.3).
std::string calm_because(const State& state, const Value& binding, std::string_view cluster);

/// The first moment at which a workload that is Unhealthy since `since` is moved: strictly later than the toleration
/// (3.2.4).
UtcMillis due_at(const Value& binding, UtcMillis since);

/// The eviction (3.2.6), but for preserved state.
EvictionStarted eviction_of(const ObjectKey& key, const Value& binding, const std::string& cluster, UtcMillis since);

}  // namespace shiplog::application_failover
