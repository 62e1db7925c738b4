#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/base/time.h"
#include "events/base/value.h"

namespace shiplog::federated_hpa {

/// No sum that a member reports counts for more. Thousandths.
inline constexpr int64_t kMostMilli = 4'000'000'000'000'000'000;

/// One metric in one cluster. Amounts are thousandths: of CPUs, of bytes, of what a custom metric counts. For a metric
/// of an object `usage` is its value, and the rest is not used.
struct MetricSums {
  int64_t ready = 0;      ///< pods that count with what was measured of them
  int64_t usage = 0;      ///< of those
  int64_t requested = 0;  ///< by those; of metrics with a target of a percentage only
  int64_t unready = 0;    ///< pods that have not started, or whose CPU usage is still that of a start
  int64_t unready_requested = 0;
  int64_t missing = 0;  ///< pods that nothing was measured of
  int64_t missing_requested = 0;
  std::string failure;  ///< why nothing was measured; empty: it was
  /// Of a metric of an object: nothing is known of its value. Else it has none there, which counts as 0.
  bool unknown = false;
  bool operator==(const MetricSums&) const = default;
};

/// What one member cluster has of a scale target.
struct ClusterFigures {
  std::string cluster;
  int64_t replicas = 0;         ///< spec.replicas of its scale
  int64_t status_replicas = 0;  ///< status.replicas of its scale
  int64_t pods = 0;             ///< that its selector selects
  int64_t ready_pods = 0;
  std::vector<MetricSums> metrics;  ///< in the order of spec.metrics
  std::string failure;              ///< why it could not be read: it is left out then
  bool operator==(const ClusterFigures&) const = default;
};

/// A number of replicas, or by how many they have changed.
struct ReplicasAt {
  UtcMillis at;
  int64_t replicas = 0;
  bool operator==(const ReplicasAt&) const = default;
};

/// What was computed and done lately, oldest first: for stabilization windows, and for policies that limit changes in a
/// period.
struct RecentScaling {
  std::vector<ReplicasAt> recommended;  ///< before any limit
  std::vector<ReplicasAt> added, removed;
  bool operator==(const RecentScaling&) const = default;
};

/// All that a decision about a FederatedHPA follows from, beside the state. It is recorded before the decision, as the
/// answer to a question, so that a replay repeats the decision.
struct Measurement {
  UtcMillis at;
  int64_t generation = 0;           ///< of the FederatedHPA that was measured for
  std::string selector;             ///< of the pods; empty: no cluster has one
  std::vector<std::string> rivals;  ///< other FederatedHPAs of the namespace with that selector, sorted
  UtcMillis recorded;               ///< when a measurement was last recorded; 0: never
  RecentScaling recent;
  std::vector<ClusterFigures> clusters;  ///< that were read, sorted by name
  bool operator==(const Measurement&) const = default;
};

/// As it is recorded: {at, generation, selector, rivals, recorded, recommended, added, removed, clusters: {NAME:
/// {replicas, statusReplicas, pods, readyPods, metrics: [{..., failure, unknown}]} | {failure}}}. Zeros and empty texts
/// are left out.
Value to_value(const Measurement& measurement);
/// Leaves out clusters, those of which a metric could not be read first, and the largest of them, until the measurement
/// has at most `most_bytes` as JSON. False: it is too large even so.
bool fit(Measurement& measurement, size_t most_bytes);
/// What is missing, or of another type, is 0 or empty.
Measurement measurement_from(const Value& recorded);

}  // namespace shiplog::federated_hpa
