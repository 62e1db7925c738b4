#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "events/decision.h"
#include "events/state/quota.h"

namespace shiplog::member {

/// What follows from the pods of a state: who waits for a node, and what the nodes have promised. Kept up to date by
/// changes, because adding it up anew for every pod would take ever longer; equal to usage_of(state) at all times.
struct Usage {
  std::map<std::string, ResourceList> requested;  ///< by node; "pods" counts them
  std::set<ObjectKey> fresh;                      ///< pods that no node was looked for yet
  std::set<ObjectKey> waiting;                    ///< pods that no node had room for

  void add(const Value& pod);
  void remove(const Value& pod);
  bool operator==(const Usage&) const = default;
};

Usage usage_of_nodes(const State& state);

/// Puts pods on nodes: of those that may take the pod and have room, the one with most left. A pod that fits nowhere
/// stays Pending and says why. `also_waiting` looks at those again that had no room. Pods of other schedulers are left
/// alone. Pure; decided for all pods at once, so that no room is given away twice.
Result<Decided> decide_scheduling(const State& state, const Usage& usage, bool also_waiting, UtcMillis now);

}  // namespace shiplog::member
