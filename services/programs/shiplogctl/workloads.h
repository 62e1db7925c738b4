#pragma once

#include <iosfwd>
#include <string>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "services/programs/shiplogctl/connection.h"
#include "services/programs/shiplogctl/terminal.h"

namespace shiplog::ctl {

struct WorkloadsOptions {
  std::string ns;          ///< empty: all namespaces
  std::string cluster;     ///< empty: all
  std::string output;      ///< "", "wide", "json", "yaml", "name"
  std::string at;          ///< as of this revision or time; empty: now
  bool all_kinds = false;  ///< all bound objects, not only those that run pods
  bool no_headers = false;
};

/// One item per workload and cluster, from the bindings: kind, namespace, name, cluster, replicas, ready, applied,
/// health, since, note, message, binding. A workload without a cluster has one item with an empty cluster.
Value workloads_of(const Value& bindings, const WorkloadsOptions& options);

/// `shiplogctl get workloads`: workloads by cluster.
Result<void> get_workloads(ServerConnection& plane, const WorkloadsOptions& options, UtcMillis now, const Output& to);

}  // namespace shiplog::ctl
