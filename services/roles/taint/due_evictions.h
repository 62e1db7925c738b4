#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "events/base/result.h"
#include "events/state/state.h"
#include "events/taint.h"

namespace shiplog::taint {

/// Bindings that are to leave a cluster now for the same reason, of one type, kind of workload and priority. What it
/// points to is part of the state, or of the queue that it is from.
struct DueEvictions {
  int64_t priority = 0;
  std::string_view cluster;
  std::string_view kind;                     ///< of the workloads
  std::optional<Taint> taint;                ///< that drives them off
  std::optional<UtcMillis> unhealthy_since;  ///< or since when the application failover of the only one counts
  const std::set<ObjectKey>* bindings = nullptr;
  std::set<ObjectKey>::const_iterator next = {};
  size_t left = 0;  ///< from `next` on

  const ObjectKey& first() const { return *next; }
};

/// Evictions for NoExecute taints, and, where there is a budget for evictions, those of application failover, in their
/// turn: of the highest scheduling priority first, then by name; one of a binding and cluster. Reads groups of bindings
/// on tainted clusters and the bindings with timers alone: see events/state/target_index.h.
class DueQueue {
 public:
  /// `state` outlives it and does not change.
  DueQueue(const State& state, UtcMillis now);

  bool empty() const { return due_.empty(); }
  /// The group whose first binding has the first turn.
  DueEvictions take() { return std::move(due_.extract(due_.begin()).value()); }
  /// The group that was taken, without its first binding.
  void give_back(DueEvictions taken);

  /// When another eviction will be due; nullopt: none that is known.
  std::optional<UtcMillis> next() const { return next_; }

 private:
  struct InTurn {
    bool operator()(const DueEvictions& a, const DueEvictions& b) const;
  };

  void add_for_taints(const State& state, UtcMillis now);
  void add_for_application_failover(const State& state, UtcMillis now);
  bool has_taint_eviction(const ObjectKey& binding, std::string_view cluster) const;

  std::set<DueEvictions, InTurn> due_;
  std::list<std::set<ObjectKey>> singles_;  // bindings of application failovers
  std::optional<UtcMillis> next_;
};

/// What begins the eviction of the group's first binding. Error: state that is to be preserved cannot be read.
Result<EvictionStarted> start(const State& state, const DueEvictions& due);

}  // namespace shiplog::taint
