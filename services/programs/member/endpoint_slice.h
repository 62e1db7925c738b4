#pragma once

#include <vector>

#include "events/decision.h"

namespace shiplog::member {

inline constexpr const char* kEndpointSlices = "endpointslices.discovery.k8s.io";

/// The EndpointSlices of a Service with a selector: its pods that have an address, a hundred in each slice. Pure; in
/// the shape of decide.h. Source: pkg/controller/endpointslice and k8s.io/endpointslice (reconciler.go, utils.go); IPv4
/// only, without zones and topology hints.
Result<Decided> decide_endpoint_slices(const State& state, const ObjectKey& key, UtcMillis now);
/// The Services whose pods a change of a pod concerns.
void wake_services(const State& state, const Change& change, std::vector<ObjectKey>& wake);

}  // namespace shiplog::member
