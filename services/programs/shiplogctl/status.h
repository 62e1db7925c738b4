#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "services/programs/shiplogctl/connection.h"
#include "services/programs/shiplogctl/terminal.h"

namespace shiplog::ctl {

struct StatusOptions {
  std::string ns;  ///< empty: all namespaces, or `fallback` if listing them is forbidden
  std::string fallback;
  std::string output;  ///< "", "json", "yaml", "name"
};

/// The objects that were read; null: reading them is forbidden, and no findings are derived from them.
struct FleetObjects {
  Value bindings;   ///< items of ResourceBindings and ClusterResourceBindings
  Value clusters;   ///< items
  Value templates;  ///< items of the workload kinds, as metadata with apiVersion and kind
  Value roles;      ///< `roles` of /shiplog/v1/state
};

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

/// `shiplogctl status`. `program`: its name in suggested commands. Notices name the objects that must not be read.
Result<void> status(ServerConnection& plane, const StatusOptions& options, const std::string& program, UtcMillis now,
                    const Output& to);

}  // namespace shiplog::ctl
