#pragma once

#include <string>

#include "events/base/value.h"

namespace shiplog::ctl {

/// Why a binding is on no cluster.
struct WithoutTargets {
  bool expected = false;  ///< it needs none: nothing is wrong
  std::string note;       ///< as `get workloads` shows it: "unscheduled", "scaled to zero", "required nowhere"
  std::string reason;
};

/// `binding`: a ResourceBinding or ClusterResourceBinding without spec.clusters.
WithoutTargets without_targets(const Value& binding);

}  // namespace shiplog::ctl
