#pragma once

#include "events/base/time.h"
#include "events/state/state.h"
#include "services/roles/scheduler/demand.h"

namespace shiplog::scheduler {

/// Points into `state`, and to `definition`, that of the binding's kind (nullptr: it has none).
PlacementContext placement_context_of(const State& state, const Binding& binding, UtcMillis now,
                                      const DefinitionPlacement* definition);

}  // namespace shiplog::scheduler
