#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "events/base/result.h"
#include "events/journal/journal.h"
#include "services/ctl/replay.h"

namespace shiplog::ctl {

/// What the program knows and this library must not: concrete journals, and the services.
struct Backing {
  /// Opens "sqlite:FILE", which must exist.
  std::function<Result<std::shared_ptr<Journal>>(const std::string& name)> open_journal;
  Decides decides;
  std::string version;
};

/// Runs shiplogctl. 0: done; 1: it failed, and one sentence on `err` says why and what to do; 2: wrong usage.
int run_ctl(int argc, const char* const* argv, const Backing& backing, std::ostream& out, std::ostream& err);

}  // namespace shiplog::ctl
