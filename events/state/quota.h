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
/// What a scheduler reserves for a pod: its containers and sidecars together, or more while it initialises; its
/// overhead; and "pods": 1.
ResourceList pod_requests(const Value& pod);
/// sum += more, resource by resource.
void add_resources(ResourceList& sum, const ResourceList& more);
/// A quantity with a binary suffix ("1Gi").
bool written_in_binary(const Value& quantity);
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
/// spec.replicaRequirements.resourceRequest; of a binding with components, where
/// `components` permits counting these, one whole set on each cluster. Empty for non-workloads.
ResourceList usage_of(const Value& binding, bool components);

}  // namespace shiplog
