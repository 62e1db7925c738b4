#pragma once

#include "events/base/result.h"
#include "events/base/value.h"
#include "schemas/estimator/v1/estimator.pb.h"

/// Between the estimators' messages and the values that bindings hold: what the one side writes the other one reads.
/// Only .cc files include this.
namespace shiplog::estimators {

namespace pb = ::github::com::karmada_io::karmada::pkg::estimator::service;

/// {nodeSelector, hardNodeAffinity, tolerations}, as in spec.replicaRequirements.nodeClaim of a binding.
void put_claim(const Value& claim, pb::NodeClaim& into);
Result<Value> claim_from(const pb::NodeClaim& claim);

/// {nodeClaim, resourceRequest, namespace, priorityClassName}.
void put(const Value& requirements, pb::ReplicaRequirements& into);
void put(const Value& requirements, pb::ComponentReplicaRequirements& into);
/// Error: kBadRequest, bytes that are not what they should be.
Result<Value> requirements_from(const pb::ReplicaRequirements& requirements);
Result<Value> requirements_from(const pb::ComponentReplicaRequirements& requirements);

}  // namespace shiplog::estimators
