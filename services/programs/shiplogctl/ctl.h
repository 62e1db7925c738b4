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

/// What the program knows and this library must not: concrete journals, and the services.
struct Backing {
  /// Opens "sqlite:FILE" or "kafka:BROKERS/FLEET", which must exist; `kafka` are KEY=VALUE settings of the client.
  std::function<Result<std::shared_ptr<Journal>>(const std::string& name, const std::vector<std::string>& kafka)>
      open_journal;
  Decides decides;
  std::string version;     ///< "shiplogctl 0.1.0"
  Terminal terminal = {};  ///< of standard output
};

/// Runs shiplogctl. 0: done; 1: it failed, and one sentence on `err` says why and what to do; 2: wrong usage.
int run_ctl(int argc, const char* const* argv, const Backing& backing, std::ostream& out, std::ostream& err);

}  // namespace shiplog::ctl
