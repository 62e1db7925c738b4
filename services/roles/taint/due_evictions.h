#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/state/state.h"
#include "events/taint.h"

namespace shiplog::taint {

/// A binding that is to leave a cluster now. What it points to is part of the state.
struct DueEviction {
  int64_t priority = 0;
  const ObjectKey* key = nullptr;
  const Value* binding = nullptr;
  std::string cluster;
  std::optional<Taint> taint;                ///< that drives it off
  std::optional<UtcMillis> unhealthy_since;  ///< or since when its application failover counts
};

struct DueEvictions {
  std::vector<DueEviction> due;   ///< of the highest scheduling priority first; one of a binding and cluster
  std::optional<UtcMillis> next;  ///< when another will be
};

/// Evictions for NoExecute taints, and, where there is a budget for evictions, those of application failover.
/// Reads the bindings of tainted clusters and those with timers alone.
DueEvictions due_evictions(const State& state, UtcMillis now);

/// What begins it. Error: state that is to be preserved cannot be read.
Result<EvictionStarted> start(const State& state, const DueEviction& due);

}  // namespace shiplog::taint
