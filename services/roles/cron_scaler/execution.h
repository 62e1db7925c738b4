#pragma once

#include "events/state/state.h"

namespace shiplog::cron_scaler {

/// The object that a CronFederatedHPA scales, as the runs of one decision change it.
struct ScaleTarget {
  ObjectKey key;
  Value value;
  std::string replicas;  ///< JSON path of the replicas; empty: the target is a FederatedHPA
};

/// The target of spec.scaleTargetRef. Error: it cannot be scaled; the message is that of failedExecutions.
Result<ScaleTarget> find_target(const State& state, const Value& autoscaler);

/// Sets what the rule says: the replicas of a workload, the bounds of a FederatedHPA (5.9.3). Error: the target would
/// be invalid; it is unchanged then.
Result<void> carry_out(const Value& rule, ScaleTarget& target);

}  // namespace shiplog::cron_scaler
