#pragma once

#include <cstdint>

#include "events/base/value.h"

namespace shiplog {

/// The status that a built-in kind's object has once its controllers have acted on it: with `running` of its `wanted`
/// replicas; a DaemonSet with one on each of `nodes`. null: the kind has none of its own, or it is unknown.
Value workload_status(const Value& object, int64_t wanted, int64_t running, int64_t nodes);

}  // namespace shiplog
