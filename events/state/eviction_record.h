#pragma once

#include <optional>
#include <string>

#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "events/state/eviction_budget.h"

namespace shiplog {

class State;

/// Producer of the evictions for taints: those that are always paced.
inline constexpr const char* kTaintManager = "TaintManager";
/// Whether rate and budget count an eviction: those for taints, and with --eviction-budget all.
bool counts_for_budget(const FleetOptions& options, const std::string& producer);

/// The recent evictions that count, in an internal object: with the time at hand it decides when there may be more. Its
/// size is bounded: a window is counted in parts.
///   {level, at, window: [{from, evictions}], clusters: {NAME: last}}, times in ms
/// `level`: evictions, in millionths, that --resource-eviction-rate had not yet made up for at `at`.
inline constexpr const char* kEvictionRecordType = "evictionrecords.control.shiplog.io";
ObjectKey eviction_record_key();

/// The record with one more eviction, from `cluster`, at `now`. `record`: null when there is none yet.
Value with_eviction(Value record, const FleetOptions& options, const std::string& cluster, UtcMillis now);

/// Why there may be no eviction now.
struct EvictionLimit {
  std::string reason;  ///< of the condition EvictionsPaused
  std::string message;
  UtcMillis until;  ///< when there may be one again
};

/// What --resource-eviction-rate and --eviction-budget still allow at a time. Deterministic.
class EvictionAllowance {
 public:
  EvictionAllowance(const State& state, UtcMillis now);

  /// When the rate allows the next one; nullopt: now.
  std::optional<UtcMillis> paced_until() const;
  /// The limit of the budget that forbids one from `cluster`, of a workload with that priority; nullopt: none does.
  std::optional<EvictionLimit> exhausted(const std::string& cluster, int64_t priority) const;
  /// One more is decided.
  void take(const std::string& cluster);

 private:
  const FleetOptions& options_;
  const UtcMillis now_;
  const int64_t rate_;
  const EvictionBudget budget_;
  const size_t clusters_;  ///< of the fleet
  Value record_;
};

}  // namespace shiplog
