#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "events/base/time.h"
#include "services/runtime/election.h"
#include "services/runtime/executor.h"

namespace shiplog {

/// Whether some process leads for a role; of a divided role, whether there is one for each of its slots.
struct RoleLeadership {
  std::string role;
  bool led = false;
  bool expected = false;              ///< the fleet cannot do without a leader of it
  UtcMillis since = {};               ///< when this process saw it begin to be so; at the earliest its own start
  std::vector<int> unled_slots = {};  ///< of a divided role that is not led
};

/// Checks which roles are led, by this process or another: once a second, and more often until all that are expected to
/// be led are. Threads: start() the executor; the rest any.
class Leaders {
 public:
  struct Options {
    Election* election = nullptr;
    Executor* executor = nullptr;
    std::vector<std::string> roles;
    /// The fleet cannot do without a leader of the role. On the executor.
    std::function<bool(const std::string& role)> expected = {};
    /// The role's slots have leases of their own now. On the executor.
    std::function<bool(const std::string& role)> divided = {};
    /// The role has nothing to do in this fleet: while it has no leader it is left out. On the executor.
    std::function<bool(const std::string& role)> idle = {};
  };
  /// Election and executor outlive it.
  explicit Leaders(Options options);

  /// Begins to check. On the executor.
  void start();
  /// Roles with unknown leaders are left out. Empty in the first two seconds, in which processes that start with
  /// this one take their leases.
  std::vector<RoleLeadership> now() const;
  /// A sentence that names the expected roles, and slots, without a leader; empty: there are none. A role that was led
  /// gets some seconds for the next process to take over.
  std::string missing() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace shiplog
