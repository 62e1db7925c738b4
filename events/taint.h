#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/value.h"

namespace shiplog {

struct Taint {
  std::string key;
  std::string value;
  std::string effect;  ///< NoSchedule, PreferNoSchedule, NoExecute
  auto operator<=>(const Taint&) const = default;
};

/// Folds into the Cluster's spec.taints with timeAdded = the entry's time. A taint of the same key and effect is
/// replaced.
struct TaintAdded {
  ObjectKey cluster;
  Taint taint;
  std::string reason;       ///< which policy or condition
  std::string policy = {};  ///< of the ClusterTaintPolicy that requires it; empty: the cluster's condition does
  bool operator==(const TaintAdded&) const = default;
};

struct TaintRemoved {
  ObjectKey cluster;
  Taint taint;  ///< key and effect decide
  std::string reason;
  std::string policy = {};  ///< of the ClusterTaintPolicy that requires it; empty: the cluster's condition does
  bool operator==(const TaintRemoved&) const = default;
};

/// A binding leaves a cluster. Moves the target from spec.clusters to spec.gracefulEvictionTasks.
struct EvictionStarted {
  ObjectKey binding;
  std::string cluster;
  std::string reason;  ///< "TaintUntolerated", "ApplicationFailure", ...
  std::string message;
  std::string producer;  ///< "TaintManager", ...
  int64_t grace_seconds = 0;
  std::string purge_mode = {};  ///< "Directly", "Gracefully", "Never"; empty, in old journals: as "Gracefully"
  Value preserved_labels = {};  ///< labels for the new copy, by name (3.4.4); null: none
  std::vector<std::string> clusters_before = {};  ///< its targets before an application failover (3.4.4)
  bool suppress_deletion = false;                 ///< the old copy stays until a user ends the task (3.2.6)
  bool operator==(const EvictionStarted&) const = default;
};

/// The eviction task is done (replacement healthy, or grace over). Removes it from spec.gracefulEvictionTasks.
struct EvictionFinished {
  ObjectKey binding;
  std::string cluster;
  std::string reason;
  bool operator==(const EvictionFinished&) const = default;
};

/// The eviction budget allows no more evictions from a cluster for now. Folds into the Cluster's condition
/// EvictionsPaused=True.
struct EvictionsPaused {
  ObjectKey cluster;
  std::string reason;  ///< which limit is reached
  std::string message;
  bool operator==(const EvictionsPaused&) const = default;
};

/// Evictions from a cluster continue. Folds into the Cluster's condition EvictionsPaused=False.
struct EvictionsResumed {
  ObjectKey cluster;
  std::string reason;
  std::string message;
  bool operator==(const EvictionsResumed&) const = default;
};

/// A workload is unhealthy in a cluster: from the entry's time its application failover counts tolerationSeconds
/// (3.2.3). Folds into the binding's failover record (events/state/failover_record.h).
struct FailoverTimerStarted {
  ObjectKey binding;
  std::string cluster;
  std::string message;
  bool operator==(const FailoverTimerStarted&) const = default;
};

/// The workload is no longer unhealthy there, or was evicted. Folds into the same record.
struct FailoverTimerStopped {
  ObjectKey binding;
  std::string cluster;
  std::string reason;
  bool operator==(const FailoverTimerStopped&) const = default;
};

/// One step of moving a workload that must never run twice: "Stop" (its old copy is to be removed), "Confirm" (it is
/// gone, or can no longer run), "Start" (the new copy may be created). Folds into the same record.
struct HandoverStepTaken {
  ObjectKey binding;
  std::string cluster;  ///< the one that it leaves
  std::string step;
  std::string message;
  bool operator==(const HandoverStepTaken&) const = default;
};

}  // namespace shiplog
