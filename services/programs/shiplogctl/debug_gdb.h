#pragma once

#include <string>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "services/programs/shiplogctl/commands.h"

namespace shiplog::ctl {

struct GdbRun {
  std::string program;  ///< shiplogctl
  ReplayCommandOptions journal;
  Offset offset;         ///< of the entry that is decided again
  std::string function;  ///< where gdb stops
};

/// Runs gdb on a second debugger, which decides the entry again and stops in the function; returns when gdb has ended.
/// gdb reads this process's standard input. Errors: kNotFound, there is no gdb;
/// kUnavailable, the program has no symbols; kIo.
Result<void> run_gdb(const GdbRun& run);

/// The lines of a `replay --verify` about one entry, as text for people.
std::string differences_at(const std::string& output, const std::string& program, Offset offset);

}  // namespace shiplog::ctl
