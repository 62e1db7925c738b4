#pragma once

#include <cstdint>
#include <string>

#include "events/base/ids.h"

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
  bool operator==(const EvictionStarted&) const = default;
};

/// The eviction task is done (replacement healthy, or grace over). Removes it from spec.gracefulEvictionTasks.
struct EvictionFinished {
  ObjectKey binding;
  std::string cluster;
  std::string reason;
  bool operator==(const EvictionFinished&) const = default;
};

}  // namespace shiplog
