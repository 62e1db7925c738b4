#pragma once

#include "events/decision.h"

namespace shiplog::control {

/// The hash of the whole state, of which there is one key. Pure. A replica whose own hash differs there stops.
///
/// - Owns: StateHashed entries.
/// - Trigger: every so many revisions, and the start of a leader.
/// - Failures: none.
Decided decide(const State& state);

}  // namespace shiplog::control
