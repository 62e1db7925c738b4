#pragma once

#include <memory>

#include "services/adapters/members/members.h"
#include "services/roles/collector/cluster_status.h"
#include "services/roles/collector/followed_members.h"
#include "services/roles/collector/summary_change.h"
#include "services/runtime/role.h"

namespace shiplog::collector {

/// How often a cluster is probed (CL-16).
inline constexpr Millis kProbeEvery{10'000};

/// One probe of one cluster: its health, and when it is ready its version and APIs (CL-15 to CL-25). What differs from
/// the Cluster's status is reported in one entry. Ends the task, to be run again after `every`.
struct Probed {
  Members& members;  ///< outlives the probe
  std::shared_ptr<Damping> damping;
  /// What is known of it. nullptr: there is no such cluster, or its agent probes it. Without resources no summary of
  /// nodes and pods remains.
  std::shared_ptr<FollowedMember> member;
  SummaryThresholds thresholds;
  bool short_of_room = false;  ///< a binding waits for room
  Millis every = kProbeEvery;
};
void probe(const TaskPtr& task, Probed probed);

}  // namespace shiplog::collector
