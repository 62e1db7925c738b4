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
  std::string ns;  ///< empty: all namespaces, or `fallback` where those may not be listed
  std::string fallback;
  std::string output;  ///< "", "json", "yaml", "name"
};

/// What was read; null: it may not be read, and nothing is said about it.
struct Fleet {
  Value bindings;   ///< items of ResourceBindings and ClusterResourceBindings
  Value clusters;   ///< items
  Value templates;  ///< items of the workload kinds, as metadata with apiVersion and kind
  Value roles;      ///< `roles` of /shiplog/v1/state
};

/// Something that needs a look. States: "unplaced" (no cluster, or the newest placement failed), "unhealthy" (runs and
/// is reported unhealthy), "pending" (not applied, suspended, being evicted, its member is unreachable), "unselected"
/// (a workload that no policy selects), "unreachable" (a cluster that is not ready), "no-leader" (a role that no
/// process has).
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

/// The findings, by state in the order above of severity, then by object.
std::vector<Finding> findings_of(const Fleet& fleet);

/// `shiplogctl status`. `program` is how it was called, for the commands it names. Notices tell what may not be read.
Result<void> status(Connection& plane, const StatusOptions& options, const std::string& program, UtcMillis now,
                    const Output& to);

}  // namespace shiplog::ctl
