#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "events/base/quantity.h"
#include "events/base/time.h"
#include "events/event.h"

namespace shiplog {

class Role;
class FaultSwitches;

/// A trial member cluster: a Kubernetes API with controllers that run workloads on simulated nodes.
struct MemberOptions {
  std::string name = "member";  ///< nodes are called "<name>-node-1", ...
  int nodes = 3;
  Quantity node_cpu = Quantity::from_units(8);
  Quantity node_memory = Quantity::from_units(int64_t{16} << 30);
  int64_t node_pods = 110;       ///< maximum number of pods per node
  Millis ready_delay{500};       ///< from a pod's placement on a node until it is ready
  Millis completion_delay{500};  ///< from then on, until a pod of a Job completes
  /// Allow the ready delay to be changed while the member runs; may be null.
  std::shared_ptr<const FaultSwitches> switches;
};

/// The objects of a new member: namespaces default, kube-system, kube-public and kube-node-lease, and the nodes. For
/// one entry in an empty journal.
std::vector<Event> initial_objects(const MemberOptions& options);

/// The controllers, to be run by Roles on the member's replica. Garbage collection, finalizers and namespace deletion
/// are done by the lifecycle role, which must run as well.
std::vector<std::unique_ptr<Role>> make_member_services(const MemberOptions& options);

}  // namespace shiplog
