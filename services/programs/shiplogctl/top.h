#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/programs/shiplogctl/fleet_servers.h"
#include "services/programs/shiplogctl/terminal.h"

namespace shiplog::ctl {

struct TopOptions {
  ClusterScope scope;
  std::string name;  ///< empty: all
  std::string ns;    ///< empty: all namespaces
  std::string selector, field_selector;
  std::string sort_by;  ///< "", "cpu", "memory"
  bool all_namespaces = false;
  bool containers = false;
  bool capacity = false;  ///< percent of the capacity instead of what is allocatable
  bool sum = false;
  bool no_headers = false;
};

/// CPU and memory of the pods of members. Errors of a member are printed and do not affect the others; true: there were
/// none.
Result<bool> top_pods(ServerConnection& plane, const TopOptions& options, const Output& to);
Result<bool> top_nodes(ServerConnection& plane, const TopOptions& options, const Output& to);

/// One row of a table of use.
struct ResourceUse {
  std::string cluster, ns, pod, name;
  int64_t milli_cpu = 0, memory_bytes = 0;
  int64_t milli_cpu_of = 0, memory_bytes_of = 0;  ///< of a node: what it has; 0: unknown
  bool known = true;                              ///< there are metrics
};

/// The rows of a PodMetricsList (or of one PodMetrics), by pod or by container. Pure.
std::vector<ResourceUse> pod_use(const Value& metrics, const std::string& cluster, bool containers);
/// The rows of a NodeList, with its NodeMetricsList. Pure.
std::vector<ResourceUse> node_use(const Value& nodes, const Value& metrics, const std::string& cluster, bool capacity);
/// By name, or by use with the largest first.
void sort_use(std::vector<ResourceUse>& rows, const std::string& sort_by);

}  // namespace shiplog::ctl
