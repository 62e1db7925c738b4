#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/value.h"

namespace shiplog::ctl {

/// The objects that were read; null: reading them is forbidden, and no findings are derived from them.
struct FleetObjects {
  Value bindings;       ///< items of ResourceBindings and ClusterResourceBindings
  Value clusters;       ///< items
  Value templates;      ///< items of the workload kinds, as metadata with apiVersion and kind
  Value control_plane;  ///< /shiplog/v1/status
};

/// The states of findings, in order of severity.
inline constexpr std::array<std::string_view, 6> kFindingStates = {"no-leader", "unreachable", "unscheduled",
                                                                   "unhealthy", "pending",     "unselected"};

/// Something that needs attention. States: "unscheduled" (no cluster, or the newest placement failed), "unhealthy"
/// (running and reported unhealthy), "pending" (not applied, suspended, being evicted, its member is unreachable),
/// "unselected" (a workload that no policy selects), "unreachable" (a cluster that is not ready), "no-leader" (a role
/// without a leader).
struct Finding {
  std::string state;
  std::string api_version = {};
  std::string kind;
  std::string ns = {};
  std::string name;
  std::string cluster = {};  ///< empty: not about one cluster
  std::string reason = {};
  Value time = {};        ///< since when; null: unknown
  std::string next = {};  ///< the command to run next
};

/// The findings, sorted by state in order of severity, then by object.
std::vector<Finding> findings_of(const FleetObjects& fleet);

}  // namespace shiplog::ctl
