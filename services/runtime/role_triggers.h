#pragma once

#include "events/state/object.h"
#include "services/runtime/queue.h"

// What a change means for the keys that it triggers. Pure.
namespace shiplog {

/// Of what one change triggers, its own key is urgent. What a policy or an option concerns is as much as at a start
/// (QUE-2).
Urgency urgency_of(const Change& change, const ObjectKey& key);

/// A cluster was measured anew: its capacity, its kinds. That wakes what waits for a time, such as the next of many
/// evictions, but it is not what led to them.
bool is_measurement(const Change& change);

}  // namespace shiplog
