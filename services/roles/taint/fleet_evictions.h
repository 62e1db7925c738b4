#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "events/decision.h"
#include "services/roles/taint/due_evictions.h"

namespace shiplog::taint {

/// How many evictions are due and wait for their turn.
struct EvictionQueue {
  std::map<std::string, size_t> by_type;                          ///< type of the binding
  std::map<std::pair<std::string, std::string>, size_t> by_kind;  ///< cluster, kind of the workload

  /// So many of the group.
  void add(const DueEvictions& waiting, size_t count);
};

struct FleetEvictions {
  Decided decided;
  EvictionQueue waiting;  ///< once that is folded
};

/// Evictions that begin, of the whole fleet: as many as pacing and budget allow now, and whether those of a cluster
/// are paused.
FleetEvictions decide_fleet_evictions(const State& state, UtcMillis now);

}  // namespace shiplog::taint
