#pragma once

#include "events/decision.h"

namespace shiplog::dispatcher {

/// The Works with the ResourceQuotas that a FederatedResourceQuota assigns to clusters: one for each assignment
/// to a cluster that exists, none elsewhere; none once the quota is deleted. Pure; part of decide().
/// Error: kConflict, a Work of that name belongs to a binding: a user propagates a ResourceQuota of the same name. The
/// other clusters get theirs all the same.
Result<Decided> decide_static_quota(const State& state, const ObjectKey& key, UtcMillis now);

/// What has to be rendered because an execution space is there now: the quotas that assign something to the cluster.
void wake_assigned(const State& state, const std::string& cluster, std::vector<ObjectKey>& wake);

}  // namespace shiplog::dispatcher
