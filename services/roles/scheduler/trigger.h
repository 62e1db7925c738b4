#pragma once

#include <optional>

#include "events/base/time.h"
#include "events/explain/placement_facts.h"
#include "events/state/binding.h"
#include "events/state/placement.h"
#include "events/state/state.h"

namespace shiplog::scheduler {

/// Why a binding is placed anew.
struct Trigger {
  Triggered reason;
  bool fresh = false;  ///< requested explicitly
};

/// This scheduler's binding, neither unclaimed nor suspended (S-1).
bool is_schedulable(const Binding& binding);

/// The same, or an unclaimed one with a target that leaves: a Cluster stays until no binding lists it (1.12.2).
bool is_schedulable_now(const State& state, const Binding& binding);

/// Of a binding, as an object: a fresh placement has been requested since the last one (S-10.3). A time in the future
/// does not count yet.
bool reschedule_requested(const Value& binding, UtcMillis now);

/// The first reason to schedule (S-10 to S-13); nullopt: the placement stands.
std::optional<Trigger> trigger_of(const State& state, const Binding& binding, const Placement& placement,
                                  UtcMillis now);

}  // namespace shiplog::scheduler
