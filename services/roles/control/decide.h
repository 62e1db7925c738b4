#pragma once

#include "events/decision.h"

namespace shiplog::control {

/// The hash of the whole state, of which there is one key. Pure. A replica whose own hash differs there stops.
Decided decide(const State& state);

}  // namespace shiplog::control
