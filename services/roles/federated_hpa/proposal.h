#pragma once

#include <string>

#include "events/base/result.h"
#include "services/roles/federated_hpa/measurement.h"

namespace shiplog::federated_hpa {

/// The replicas that one metric demands of the template, and what is shown of the metric.
struct MetricProposal {
  int64_t replicas = 0;
  std::string name;  ///< "cpu resource utilization (percentage of request)"
  Value status;      ///< an item of status.currentMetrics
};

/// What the template has, and the tolerated distance from a target, in thousandths of it.
struct ProposalBasis {
  int64_t template_replicas = 0;
  int64_t tolerance_up = 100;
  int64_t tolerance_down = 100;
};

/// Computes as the HPA of Kubernetes does, over the pods of all clusters that were read, and in terms of the template:
/// divided by (replicas of the members / replicas of the template) (5.8.4). In whole numbers, so that each machine
/// computes the same. `index` is that of the metric in spec.metrics. Errors: kUnavailable, the metric was not measured;
/// kInvalid, its source or target cannot be used.
Result<MetricProposal> propose(const Value& metric, size_t index, const std::vector<ClusterFigures>& clusters,
                               const ProposalBasis& basis);

}  // namespace shiplog::federated_hpa
