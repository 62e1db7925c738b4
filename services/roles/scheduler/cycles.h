#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "events/decision.h"
#include "services/runtime/role.h"

namespace shiplog::scheduler {

/// The time of a cycle that was due (S-10), was successful and changed nothing: status.lastScheduledTime becomes `now`
/// (S-76). nullopt: none is due, the binding is not placed as it is, or it was already in this second. Pure.
std::optional<StatusUpdated> unchanged_cycle(const State& state, const ObjectKey& key, UtcMillis now);

/// The bindings whose cycles a change of a cluster began (S-3). A cycle that changes the placement is an entry of its
/// own; for the others the time is recorded here, for many at once, as an observation: that there was a cycle follows
/// from the change that began it, not from the state alone.
/// Threads: the fold thread.
class ClusterCycles {
 public:
  /// What is reconciled to record the time of cycles.
  static ObjectKey key() { return {"cycles.scheduler", "", "all"}; }
  static bool is_key(const ObjectKey& queued) { return queued.type == "cycles.scheduler"; }

  /// Since this replica acts; before, nothing is gathered.
  void begin();
  void end();
  /// Adds what a change of a cluster has triggered from `first` on, and the key itself.
  void add(std::vector<ObjectKey>& wake, size_t first);
  /// One step of the key. `decide` is the scheduler's.
  void record(const TaskPtr& task, const Decide& decide);

 private:
  static constexpr size_t kMostAtOnce = 200;
  struct Begun {
    bool acting = false;
    std::set<ObjectKey> keys;
    /// In one entry, which is refused as a whole when one of them has changed meanwhile: fewer after a refusal.
    size_t at_once = kMostAtOnce;
  };
  const std::shared_ptr<Begun> begun_ = std::make_shared<Begun>();  // an append may end when the role is destroyed
};

}  // namespace shiplog::scheduler
