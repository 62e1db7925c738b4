#pragma once

#include <string>

#include "events/base/value.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

void check_toleration(const Value& toleration, const std::string& field, Causes& causes);

/// matchLabelKeys and mismatchLabelKeys of a new pod become part of the selectors beside them. `labels`: of the pod.
void fill_label_keys(Value& spec, const Value& labels);

/// What a PodSpec at `field` requires of the node: tolerations, affinity, topologySpreadConstraints.
void check_scheduling(const Value& spec, const std::string& field, Causes& causes);

/// A NodeSelector.
void check_node_selector(const Value& selector, const std::string& field, Causes& causes);

}  // namespace shiplog::api
