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

}  // namespace shiplog::dispatcher
