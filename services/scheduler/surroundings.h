#pragma once

#include "events/base/time.h"
#include "events/state/state.h"
#include "services/scheduler/demand.h"

namespace shiplog::scheduler {

/// Points into `state`.
Surroundings surroundings_of(const State& state, const Binding& binding, UtcMillis now);

}  // namespace shiplog::scheduler
