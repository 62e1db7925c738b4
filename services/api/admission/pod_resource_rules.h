#pragma once

#include <string>

#include "events/base/value.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

/// The amounts of a container's `resources`: none is negative, and what is requested is within its limit.
void check_requested_amounts(const Value& resources, const std::string& field, Causes& causes);
/// As check_requested_amounts(), with the names of the resources and what their kind demands: rules of newer builds.
void check_container_resources(const Value& resources, const std::string& field, Causes& causes);

/// The resources of the whole pod with the PodSpec `spec`, and the resource claims of it and its containers. `field`:
/// where the PodSpec stands.
void check_pod_resources(const Value& spec, const std::string& field, Causes& causes);

/// Requests and limits of a whole pod that follow from its other ones and from those of its containers.
void fill_pod_resources(Value& spec);

/// The QoS class of a pod: how readily a node without memory ends it.
const char* quality_of_service(const Value& spec);

}  // namespace shiplog::api
