#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "events/scheduling.h"

namespace shiplog {

/// What becomes of a workload by the end of a rehearsal.
enum class WorkloadOutcome {
  kHealthy,     ///< it is where it was placed, with all replicas
  kNotHealthy,  ///< it is placed, and not all of it is ready yet
  kDoesNotFit,  ///< some of it has found no cluster, or no room in one
  kStays,       ///< it is still on a cluster that fails or is tainted
};
/// "healthy", "not healthy yet", "does not fit", "stays".
const char* name_of(WorkloadOutcome outcome);

/// A workload that was on a cluster that fails, or that moves. Times are since the beginning.
struct RehearsedWorkload {
  ObjectKey binding;
  std::string kind, ns, name;
  int64_t replicas = 0;  ///< 0: it has none
  std::vector<Target> before, after;
  std::optional<Millis> evicted;  ///< the first time
  std::optional<Millis> placed;   ///< the last time
  std::optional<Millis> healthy;  ///< since when, if it is so at the end
  bool hit = false;               ///< it was on a cluster that fails or is tainted
  WorkloadOutcome outcome = WorkloadOutcome::kHealthy;
  std::string reason;  ///< of an outcome that is not kHealthy

  bool moves() const { return before != after; }
};

/// Like events of a kind that follow one another closely.
struct TimelineRow {
  Millis at, until;
  std::string kind;  ///< "fails", "not-ready", "tainted", "evicted", "placed", ...
  size_t count = 0;
  std::string text;
  bool operator==(const TimelineRow&) const = default;
};

/// A quota of a namespace with a workload that moves.
struct RehearsedQuota {
  std::string ns, name;
  bool enforced = false;
  Value overall, used_before, used_after;
  size_t refusals = 0;  ///< of placements
};

struct HealthSample {
  Millis at;
  size_t healthy = 0, evicting = 0, unhealthy = 0;
};

struct RehearsalReport {
  Revision revision;  ///< that the state was forked at
  UtcMillis began;
  Millis length;                                      ///< that was run
  std::vector<std::string> failed, tainted, regions;  ///< clusters; the regions whose clusters fail
  size_t clusters = 0;                                ///< of the fleet
  size_t bindings = 0;

  std::vector<RehearsedWorkload> workloads;  ///< those that do not end well first, then by namespace and name
  size_t attached = 0;                       ///< objects that follow a workload that moves
  std::optional<Millis> all_healthy;         ///< nullopt: not by the end

  bool evicts = false;  ///< NoExecute taints evict
  std::string eviction_rate, eviction_budget, purge_mode, eviction_timeout;
  std::vector<std::string> gates;
  size_t evictions = 0;
  std::vector<RehearsedQuota> quotas;
  std::vector<TimelineRow> timeline;
  std::vector<HealthSample> health;
  std::vector<std::string> unanswered;  ///< what could not be rehearsed, and why; the first few
  size_t entries = 0;                   ///< that were folded

  size_t count(WorkloadOutcome outcome) const;
};

Value to_value(const RehearsalReport& report);
/// "0s", "40s", "5m30s", "1h5m".
std::string duration_text(Millis duration);

}  // namespace shiplog
