#pragma once

#include <cstdint>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"

/// What an estimator knows of its member, and says of it (S-73, S-74). Pure.
namespace shiplog::estimator {

/// The member's objects, as its API lists them.
struct Member {
  std::vector<Value> nodes, pods, deployments, replica_sets;
};

/// How many more replicas with these requirements ({resourceRequest, nodeClaim}) the nodes take: the sum over those
/// that selector, required affinity and tolerations let in, of how often the request fits into what is free and of the
/// pods that may still come. 0 without nodes. Error: kBadRequest, the requirements cannot be read.
Result<int32_t> max_replicas(const Member& member, const Value& requirements);

/// How many whole sets of components ({name, replicas, replicaRequirements}) fit, placed one after the other, first
/// fit. A set without replicas fits without end: 2147483647.
Result<int32_t> max_component_sets(const Member& member, const Value& components);

/// Of a Deployment's newest ReplicaSet, the pods that have been unschedulable for longer than the threshold. Errors:
/// kBadRequest, another kind; kNotFound, no such Deployment.
Result<int32_t> unschedulable_replicas(const Member& member, const Value& reference, Millis threshold, UtcMillis now);

}  // namespace shiplog::estimator
