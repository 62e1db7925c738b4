#pragma once

#include <map>
#include <string>

#include "events/base/quantity.h"
#include "events/base/value.h"

namespace shiplog {

/// Resource name to amount: corev1.ResourceList.
using ResourceList = std::map<std::string, Quantity>;

/// Amounts that do not parse are left out: admission has refused them.
ResourceList resource_list_from(const Value& object);
/// Canonical strings; memory-like names (memory, *storage*, hugepages-*) with binary suffixes.
Value to_value(const ResourceList& list);

/// FederatedResourceQuota.
struct Quota {
  std::string ns, name;
  ResourceList overall;  ///< spec.overall
  bool operator==(const Quota&) const = default;
};

Quota quota_from(const Value& object);

/// What a ResourceBinding's placement uses: the sum over spec.clusters of replicas times
/// spec.replicaRequirements.resourceRequest (behaviour-fleet section 4). Empty for non-workloads.
ResourceList usage_of(const Value& binding);

}  // namespace shiplog
