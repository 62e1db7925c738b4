#pragma once

#include <optional>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/decision.h"
#include "events/state/state.h"

namespace shiplog::scheduler {

/// Chooses the member clusters for one binding. Pure: reads `state` and `now`, touches nothing else.
/// One event: PlacementDecided, the whole placement, sorted by cluster; PlacementRefused, none is possible;
/// QuotaRefused, one is, but a quota has no room for it; StatusUpdated, the placement stands and the binding's
/// generation is noted. nullopt: nothing is new, so that looking again and again leaves no trace. Shape:  Explanation
/// has a line per cluster with each filter's verdict, scores and estimates, and the arithmetic in
///         words. Expects the binding at its revision.
/// Errors: kInvalid, the binding has no placement.
/// Source: docs/reference/scheduling.md: filter, score, select, assign.
Result<std::optional<Decision>> decide(const State& state, const ObjectKey& key, UtcMillis now);

}  // namespace shiplog::scheduler
