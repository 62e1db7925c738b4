#pragma once

#include "events/base/random.h"
#include "events/base/result.h"
#include "events/state/service_index.h"
#include "events/state/service_ranges.h"

namespace shiplog::api {

/// Gives an admitted Service the addresses that it lacks: spec.clusterIP and clusterIPs with ipFamilies and
/// ipFamilyPolicy, node ports, healthCheckNodePort. Addresses that the Service names itself are checked. It is a
/// proposal: the fold refuses it when another Service was faster (fold version 4).
/// `old`: the stored Service, null for a new one. Ports that it has without a node port stay without: Services of
/// journals from before allocation have node ports that their members chose.
/// Errors: kInvalid with causes; kInternal, a range has no free address.
/// Source: pkg/registry/core/service/storage/alloc.go and ipallocator of Kubernetes.
Result<Value> with_addresses(const ObjectKey& key, const Value& old, Value service, const ServiceRanges& ranges,
                             const ServiceIndex& taken, Random& random);

}  // namespace shiplog::api
