#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "services/adapters/members/members.h"
#include "services/roles/federated_hpa/measurement.h"
#include "services/roles/federated_hpa/member_reads.h"
#include "services/roles/federated_hpa/metric_source.h"
#include "services/roles/federated_hpa/target.h"

namespace shiplog::federated_hpa {

/// One request to a member, and all that is read of one member for one FederatedHPA.
inline constexpr Millis kRequestTimeout{5'000};
inline constexpr Millis kReadingTimeout{10'000};
/// How long a member's turn may take to come.
inline constexpr Millis kLongestWait{60'000};
/// A cluster with more pods of one target is left out.
inline constexpr size_t kMostPods = 5'000;
/// Of a page of pods, and of the pods' metrics: each is looked at once for each metric.
inline constexpr size_t kMostPageContainers = 10'000;
inline constexpr size_t kMostMeasuredContainers = 40'000;

/// What to read, from where.
struct MeasuringPlan {
  ScalableTarget target;
  Value metrics;  ///< spec.metrics
  std::vector<MetricSource> sources;
  std::map<std::string, int64_t> most_replicas;  ///< by cluster; a cluster that reports more is left out
  TraceContext trace;
};

/// What was read.
struct ReplicasMeasured {
  std::vector<ClusterFigures> clusters;  ///< of the plan, sorted
  std::string selector;                  ///< of the template, or of the first cluster; empty: no cluster has one
};

/// Reads the scale, the pods and the metrics of the target in all clusters, each as soon as `reads` has a place for it.
/// `now` is the time of the fold thread; `then` is called once, there; inside the call if no member is to be read. A
/// member that sends too much, or nonsense, or nothing, is left out of the result, with the cause; reading it takes ten
/// seconds at most, whatever it does. One that does not answer a request that was sent to it, or sends more than it was
/// asked for, is silenced; of APIs for metrics, that API alone is.
void measure(Members& members, MemberReads& reads, MeasuringPlan plan, std::function<UtcMillis()> now,
             std::function<void(ReplicasMeasured)> then);

}  // namespace shiplog::federated_hpa
