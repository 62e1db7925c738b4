#pragma once

#include "events/base/result.h"
#include "events/base/value.h"
#include "schemas/estimator/v1/estimator.pb.h"

/// Converts between the estimators' messages and the values in bindings; the functions of both directions are inverse.
/// Only .cc files include this header.
namespace shiplog::estimators {

namespace pb = ::github::com::karmada_io::karmada::pkg::estimator::service;

/// {nodeSelector, hardNodeAffinity, tolerations}, as in spec.replicaRequirements.nodeClaim of a binding.
void put_claim(const Value& claim, pb::NodeClaim& into);
Result<Value> claim_from(const pb::NodeClaim& claim);

/// {nodeClaim, resourceRequest, namespace, priorityClassName}.
void put(const Value& requirements, pb::ReplicaRequirements& into);
void put(const Value& requirements, pb::ComponentReplicaRequirements& into);
/// {name, replicas, replicaRequirements}.
void put(const Value& component, pb::Component& into);
/// [{namespace, components}], assumed to run in the member (M-9).
void put_assumed(const Value& workloads, google::protobuf::RepeatedPtrField<pb::AssumedWorkload>& into);
/// Error: kBadRequest, embedded bytes cannot be parsed.
Result<Value> components_from(const google::protobuf::RepeatedPtrField<pb::Component>& components);
Result<Value> assumed_from(const google::protobuf::RepeatedPtrField<pb::AssumedWorkload>& workloads);
Result<Value> requirements_from(const pb::ReplicaRequirements& requirements);
Result<Value> requirements_from(const pb::ComponentReplicaRequirements& requirements);

}  // namespace shiplog::estimators
