#pragma once

#include "tests/simulation/world.h"

namespace shiplog::simulation {

/// Folds everything once more from the first record: it comes to the same states, everything acknowledged is found as
/// it was told, and each recorded decision, made again from its own state and time, is the same.
void check_history(World& world);

/// For a world at rest: all replicas stand at the same state with idle queues, no service has anything left to decide,
/// members hold what their Works say and nothing else, and what they say of it has come back.
void check_convergence(World& world);

/// For the same: each Work carries the label that the override policies end up with, and what Deployments refer to is
/// where their bindings aim at, both told from the users' objects.
void check_overrides(World& world);

/// Nobody's policy speaks for the binding.
bool unclaimed(const Value& binding);

}  // namespace shiplog::simulation
