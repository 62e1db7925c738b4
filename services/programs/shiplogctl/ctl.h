#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/journal/journal.h"
#include "services/programs/shiplogctl/replay.h"
#include "services/programs/shiplogctl/terminal.h"

namespace shiplog::ctl {

/// Dependencies that only the program has: concrete journals, and the decide functions.
struct Backing {
  /// Opens "sqlite:FILE" or "kafka:BROKERS/FLEET", which must exist; `kafka` are KEY=VALUE settings of the client.
  std::function<Result<std::shared_ptr<Journal>>(const std::string& name, const std::vector<std::string>& kafka)>
      open_journal;
  Decides decides;
  std::string version;     ///< "shiplogctl 0.1.0"
  Terminal terminal = {};  ///< of standard output
  bool progress = false;   ///< standard error is a terminal
  /// That standard output is a pipe or a connection that is read no more; not set: it is not.
  std::function<bool()> reader_is_gone = {};
};

/// Runs shiplogctl. 0: success; 1: failure, with the reason and the remedy in one sentence on `err`; 2: wrong usage.
int run_ctl(int argc, const char* const* argv, const Backing& backing, std::ostream& out, std::ostream& err);

}  // namespace shiplog::ctl
