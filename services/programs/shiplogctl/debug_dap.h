#pragma once

#include "events/base/result.h"
#include "services/programs/shiplogctl/commands.h"

namespace shiplog::ctl {

/// Answers an editor on standard input and `to.out` until it disconnects. `journal`: what the arguments of its launch
/// do not name. Error: kBadRequest, the bytes are no frames.
Result<int> debug_dap(const Backing& backing, const ReplayCommandOptions& journal, const Output& to);

}  // namespace shiplog::ctl
