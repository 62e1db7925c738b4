#pragma once

#include <cstddef>
#include <iosfwd>

namespace shiplog::ctl {

/// The destination of output. The default is a pipe or a file: no wrapping, no colours.
struct Terminal {
  size_t columns = 0;  ///< 0: no limit
  bool colour = false;
};

/// Where a command prints: results to `out`, notices to `err`.
struct Output {
  std::ostream& out;
  std::ostream& err;
  Terminal terminal;
  bool progress = false;  ///< `err` is a terminal: commands may report there what they wait for
};

}  // namespace shiplog::ctl
