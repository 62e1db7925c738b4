#pragma once

#include "tests/simulation/world.h"

namespace shiplog::simulation {

/// Folds everything once more from the first record: it has the same states, everything acknowledged is found as
/// it was acknowledged, and each recorded decision, made again from its own state and time, is the same.
void check_history(World& world);

/// For a world at rest: all replicas stand at the same state with idle queues, no service has anything left to decide,
/// members hold what their Works contain and nothing else, and their status has been collected.
void check_convergence(World& world);

/// For the same: each Work carries the label that the override policies end up with, and what Deployments refer to is
/// where their bindings aim at, both computed from the users' objects.
void check_overrides(World& world);

/// For the same, of a world with storage: each projection has the rows of one that is built from the whole journal, all
/// acknowledged records are in the journal's file, and damage of that file is found.
void check_storage(World& world);

/// From now on: the queues of each process and its timers stay within what the number of objects explains.
void watch_bounds(World& world);

/// No policy claims the binding.
bool unclaimed(const Value& binding);

}  // namespace shiplog::simulation
