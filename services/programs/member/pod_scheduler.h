#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "events/decision.h"
#include "events/state/quota.h"

namespace shiplog::member {

/// Values derived from the pods of a state: which wait for a node, and the requests on each node. Updated with each
/// change, because recomputing it for every pod would take ever longer; always equal to usage_of_nodes(state).
struct NodeUsage {
  std::map<std::string, ResourceList> requested;  ///< by node; "pods" is their number
  std::set<ObjectKey> fresh;                      ///< pods that have not been considered yet
  std::set<ObjectKey> waiting;                    ///< pods that no node had capacity for

  void add(const Value& pod);
  void remove(const Value& pod);
  bool operator==(const NodeUsage&) const = default;
};

NodeUsage usage_of_nodes(const State& state);

/// Places pods on nodes: of the nodes that admit the pod and have the capacity, the one with most remaining capacity. A
/// pod that fits nowhere stays Pending, with the reason in its condition. `also_waiting`: pods that did not fit before
/// are considered again. Pods of other schedulers are ignored. Pure. All pods are decided together, so that no capacity
/// is assigned twice.
Result<Decided> decide_scheduling(const State& state, const NodeUsage& usage, bool also_waiting, UtcMillis now);

}  // namespace shiplog::member
