#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "events/base/value.h"
#include "events/state/quota.h"

namespace shiplog::estimator {

/// The remaining capacity of a node, each amount at least 0.
struct NodeCapacity {
  Value node;
  ResourceList free;
};

/// What the pods of each node leave of it. After a change of a pod the pods of its node are summed up again, not all.
class NodeRooms {
 public:
  /// Pods and nodes by any names that are unique among their kind, the same for put and remove.
  void put_pod(const std::string& name, const Value& pod);
  void remove_pod(const std::string& name);
  void put_node(const std::string& name, const Value& node);
  void remove_node(const std::string& name);

  /// Brings `capacities`, which this has made before or is empty, up to date. Sorted by the nodes' names.
  void update(std::vector<NodeCapacity>& capacities);

 private:
  struct Room {
    Value node;  // null: there is none, but there are pods of it
    std::map<std::string, ResourceList> pods;
    bool changed = true;
    size_t at = 0;  // among the capacities
  };
  void drop_if_empty(std::map<std::string, Room, std::less<>>::iterator room);

  std::map<std::string, Room, std::less<>> rooms_;      // by the node's name
  std::map<std::string, std::string> node_of_, named_;  // by the names of pods and nodes
  bool other_nodes_ = false;                            // than among the capacities
};

}  // namespace shiplog::estimator
