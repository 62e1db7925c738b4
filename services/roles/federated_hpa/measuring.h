#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "services/adapters/members/members.h"
#include "services/roles/federated_hpa/measurement.h"
#include "services/roles/federated_hpa/metric_source.h"
#include "services/roles/federated_hpa/target.h"

namespace shiplog::federated_hpa {

/// One request to a member, and all that is read of one member for one FederatedHPA.
inline constexpr Millis kRequestTimeout{5'000};
inline constexpr Millis kReadingTimeout{10'000};
/// A cluster with more pods of one target is left out.
inline constexpr size_t kMostPods = 5'000;

/// What to read, from where.
struct MeasuringPlan {
  ScalableTarget target;
  Value metrics;  ///< spec.metrics
  std::vector<MetricSource> sources;
  std::set<std::string> silent;  ///< clusters that are not asked: they have not answered lately
  TraceContext trace;
};

/// What was read.
struct ReplicasMeasured {
  std::vector<ClusterFigures> clusters;  ///< of the plan, sorted
  std::string selector;                  ///< of the first cluster that has one
  std::vector<std::string> timed_out;    ///< clusters
};

/// Reads the scale, the pods and the metrics of the target in all clusters at once. `now` is the time of the fold
/// thread; `then` is called once, there, never inside the call. A member that sends too much, or nonsense, or nothing,
/// is left out of the result, with the cause; it takes ten seconds at most, whatever a member does.
void measure(Members& members, MeasuringPlan plan, std::function<UtcMillis()> now,
             std::function<void(ReplicasMeasured)> then);

}  // namespace shiplog::federated_hpa
