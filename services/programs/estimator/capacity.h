#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "services/programs/estimator/node_rooms.h"

/// The estimates that an estimator computes from its member's objects (S-73, S-74). Pure.
namespace shiplog::estimator {

/// What the estimates need of a member.
struct MemberObjects {
  using Objects = std::map<std::string, Value>;  ///< by any unique names

  std::vector<NodeCapacity> nodes;  ///< sorted by name
  Objects pods, deployments, replica_sets;
  Objects resource_quotas;  ///< empty without gate ResourceQuotaEstimate
};

/// How many more replicas with these requirements ({resourceRequest, nodeClaim, namespace, priorityClassName}) the
/// nodes can run: the sum, over the nodes that selector, required affinity and tolerations admit, of how often the
/// request fits into the remaining resources, limited by the remaining number of pods. 0 without nodes. The
/// ResourceQuotas of the namespace may permit fewer. `assumed`: workloads [{namespace, components}] that are on their
/// way to the member, and use room first (M-9). Error: kBadRequest, the requirements cannot be parsed.
Result<int32_t> max_replicas(const MemberObjects& member, const Value& requirements, const Value& assumed = {});

/// How many complete sets of components ({name, replicas, replicaRequirements}) fit, placed one after the other, first
/// fit, and are permitted by the ResourceQuotas of the namespace. A set without replicas fits any number of times:
/// 2147483647.
Result<int32_t> max_component_sets(const MemberObjects& member, const Value& components, const std::string& ns = "",
                                   const Value& assumed = {});

/// The number of pods of a Deployment's newest ReplicaSet that have been unschedulable for longer than the threshold.
/// Errors: kBadRequest, another kind; kNotFound, no such Deployment.
Result<int32_t> unschedulable_replicas(const MemberObjects& member, const Value& reference, Millis threshold,
                                       UtcMillis now);

}  // namespace shiplog::estimator
