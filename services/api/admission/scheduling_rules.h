#pragma once

#include <string>

#include "events/base/value.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

/// What a PodSpec at `field` requires of the node: tolerations, affinity, topologySpreadConstraints.
void check_scheduling(const Value& spec, const std::string& field, Causes& causes);

}  // namespace shiplog::api
