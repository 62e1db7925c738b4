#pragma once

#include <functional>
#include <string>
#include <vector>

#include "events/decision.h"
#include "services/runtime/replica.h"

namespace shiplog {

/// Where an entry without a lease originates.
struct EntryOrigin {
  std::string service;     ///< "api", "control", or the role that owns the objects
  std::string user_agent;  ///< "shiplogd/0.1.0"
  std::string user = "system:shiplog";
  UtcMillis time = {};  ///< 0: when it is appended
  EntryId id = {};      ///< empty: random
};

/// Appends what a process decides or observes for itself: its start, its snapshots, what its scripts exceeded; and what
/// a role writes to the journal of the ephemera, in which there are no leases. The expectations of the decision make
/// sure that of several processes that append the same only the first is accepted.
/// `done` is called as by Replica::append().
void append_without_lease(Replica& replica, EntryOrigin origin, Decision decision,
                          std::function<void(const Result<Outcome>&)> done);

/// One of several decisions that a process makes in turn.
struct DecisionStep {
  const char* name;  ///< for the log
  std::function<Decided(const State& state)> decide;
};

/// Appends the decision of each step in turn; a step that has nothing to decide is skipped. A decision that is refused,
/// since another process was first, is decided again. A step that fails is logged as `bootstrap.failed`, and the next
/// one follows. Then calls `done`. `replica` outlives this, or nothing is called any more. Threads: the executor.
void append_in_turn(Replica& replica, EntryOrigin origin, std::vector<DecisionStep> steps, std::function<void()> done);

}  // namespace shiplog
