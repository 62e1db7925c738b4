#pragma once

#include <optional>
#include <string>

#include "events/base/value.h"

namespace shiplog::member {

/// Why a pod must not run on a node, regardless of capacity: selector, affinity, taints, cordon. nullopt: it may. The
/// messages are kube-scheduler's. Gt and Lt in a node affinity match nothing.
std::optional<std::string> misfit(const Value& pod_spec, const Value& node);

}  // namespace shiplog::member
