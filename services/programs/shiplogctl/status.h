#pragma once

#include <functional>
#include <string>

#include "events/base/result.h"
#include "events/base/time.h"
#include "services/programs/shiplogctl/connection.h"
#include "services/programs/shiplogctl/findings.h"
#include "services/programs/shiplogctl/terminal.h"

namespace shiplog::ctl {

struct StatusOptions {
  std::string ns;  ///< empty: all namespaces, or `fallback` if listing them is forbidden
  std::string fallback;
  std::string output;  ///< "", "json", "yaml", "name"
};

/// `shiplogctl status`: the control plane on one screen, and what needs attention. `program`: its name in suggested
/// commands. Notices name what the user must not read. Error: kForbidden, that is everything.
Result<void> status(ServerConnection& plane, const StatusOptions& options, const std::string& program, UtcMillis now,
                    const Output& to);

/// The same again and again, as long as `wait` returns true. While the server does not answer, that is what is printed.
Result<void> watch_status(ServerConnection& plane, const StatusOptions& options, const std::string& program,
                          const std::function<UtcMillis()>& now, const std::function<bool()>& wait, const Output& to);

}  // namespace shiplog::ctl
