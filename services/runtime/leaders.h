#pragma once

#include <memory>
#include <string>
#include <vector>

#include "events/base/time.h"
#include "services/runtime/election.h"
#include "services/runtime/executor.h"

namespace shiplog {

/// Whether some process leads for a role.
struct RoleLeadership {
  std::string role;
  bool led = false;
  UtcMillis since = {};  ///< when this process saw it begin to be so; at the earliest its own start
};

/// Looks once a second which roles are led, by this process or another. Threads: now() any; the rest the executor.
class Leaders {
 public:
  /// `election` and `executor` outlive it.
  Leaders(Election& election, Executor& executor, std::vector<std::string> roles);

  /// Begins to look. On the executor.
  void start();
  /// Roles whose election cannot tell are left out.
  std::vector<RoleLeadership> now() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace shiplog
