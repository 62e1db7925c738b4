#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "services/programs/shiplogctl/commands.h"

namespace shiplog::ctl {

/// Has another build of shiplogctl replay and verify the same journal, and prints what it prints, each line after
/// "other: ". Returns true if it would make every recorded decision again. Errors: kIo, the program cannot be run;
/// kInternal, it did not replay the journal, as a build that does not know an event of it.
Result<bool> replay_with(const std::string& program, const ReplayCommandOptions& options, const std::string& snapshot,
                         std::ostream& out);

}  // namespace shiplog::ctl
