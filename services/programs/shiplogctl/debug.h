#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "services/debugger/session.h"
#include "services/programs/shiplogctl/commands.h"

namespace shiplog::ctl {

struct DebugOptions {
  ReplayCommandOptions journal;
  std::vector<std::string> commands;  ///< of -x files and -ex, in their order
  bool batch = false;                 ///< end after these commands
  bool dap = false;
  bool gdb = false;  ///< after these commands, decide again in gdb
  std::string program;
};

/// A journal for --journal: an address, a file, or the folder of a process that has a journal.db.
Result<std::string> journal_address(const std::string& text);

/// Opens the journal, at its first entry or at a snapshot.
Result<std::unique_ptr<debugger::Session>> open_session(const Backing& backing, const ReplayCommandOptions& options,
                                                        std::ostream& progress);

/// Runs the debugger: the commands given, then lines of `in`. `prompt`: `in` is a terminal. Returns 1 if a command
/// failed in a batch. Errors: the journal cannot be opened.
Result<int> debug(const Backing& backing, const DebugOptions& options, std::istream& in, bool prompt, const Output& to);

struct BisectOptions {
  ReplayCommandOptions journal;
  std::string condition;
  bool first = false;  ///< do not assume that the condition, once it holds, holds for ever
  bool all = false;    ///< every entry where it begins to hold
  int64_t limit = 1000;
  std::string output;  ///< "", "json"
};
/// Prints the first entry at which the condition holds. Returns 1 if there is none.
Result<int> bisect(const Backing& backing, const BisectOptions& options, const Output& to);

}  // namespace shiplog::ctl
