#pragma once

#include <vector>

#include "events/base/result.h"
#include "events/state/state.h"
#include "services/programs/shiplogctl/connection.h"

namespace shiplog::ctl {

/// A state with nothing but these customizations and webhook configurations: what the resource interpreter reads.
State interpreting_state(const std::vector<Value>& customizations, const std::vector<Value>& webhooks);

/// The same, as the control plane has them.
Result<State> read_interpreting_state(ServerConnection& plane);

}  // namespace shiplog::ctl
