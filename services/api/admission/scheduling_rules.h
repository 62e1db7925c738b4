#pragma once

#include <string>

#include "events/base/value.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

void check_toleration(const Value& toleration, const std::string& field, Causes& causes);

/// What a PodSpec at `field` requires of the node: tolerations, affinity, topologySpreadConstraints.
void check_scheduling(const Value& spec, const std::string& field, Causes& causes);

/// A NodeSelector.
void check_node_selector(const Value& selector, const std::string& field, Causes& causes);

}  // namespace shiplog::api
