#pragma once

#include <vector>

#include "events/state/state.h"

namespace shiplog::dispatcher {

/// The bindings and namespaces that a changed OverridePolicy or ClusterOverridePolicy concerns, by its selectors before
/// and after (B-1). Costs what it selects: templates are looked up by kind, namespace and name.
void trigger_overridden(const State& state, const Change& policy, std::vector<ObjectKey>& wake);

/// Those with a Work for a cluster, when a property of it that override rules match has changed. (Upstream gets
/// there with the next change of the binding, or the next restart.)
void wake_for_cluster(const State& state, const Change& cluster, std::vector<ObjectKey>& wake);

/// The binding of a template that was changed and is again as it was bound. Its Works carry the generation of before,
/// and its binding does not change. One that differs from what was bound waits for the binder, as what rendered it
/// would precede the replicas, the quota and the policy that apply to it.
void wake_changed_back(const State& state, const Change& change, std::vector<ObjectKey>& wake);

}  // namespace shiplog::dispatcher
