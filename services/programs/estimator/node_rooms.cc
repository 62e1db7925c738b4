#include "services/programs/estimator/node_rooms.h"

#include <algorithm>
#include <utility>

namespace shiplog::estimator {
namespace {

ResourceList free_of(const Value& node, const std::map<std::string, ResourceList>& pods) {
  ResourceList used;
  for (const auto& [name, request] : pods) add_resources(used, request);
  ResourceList free = resource_list_from(node["status"]["allocatable"]);
  for (const auto& [name, amount] : used) {
    const auto left = free.find(name);
    if (left != free.end()) left->second = std::max(Quantity{}, left->second - amount);
  }
  return free;
}

}  // namespace

void NodeRooms::put_pod(const std::string& name, const Value& pod) {
  remove_pod(name);
  const auto phase = pod["status"]["phase"].as_string();
  const std::string node = pod["spec"]["nodeName"].str();
  if (node.empty() || phase == "Succeeded" || phase == "Failed") return;
  Room& room = rooms_[node];
  room.pods[name] = pod_requests(pod);
  room.changed = true;
  node_of_[name] = node;
}

void NodeRooms::remove_pod(const std::string& name) {
  const auto known = node_of_.find(name);
  if (known == node_of_.end()) return;
  const auto room = rooms_.find(known->second);
  room->second.pods.erase(name);
  room->second.changed = true;
  node_of_.erase(known);
  drop_if_empty(room);
}

void NodeRooms::put_node(const std::string& name, const Value& node) {
  const std::string own = node["metadata"]["name"].str();
  if (const auto known = named_.find(name); known != named_.end() && known->second != own) remove_node(name);
  Room& room = rooms_[own];
  other_nodes_ = other_nodes_ || room.node.is_null();
  room.node = node;
  room.changed = true;
  named_[name] = own;
}

void NodeRooms::remove_node(const std::string& name) {
  const auto known = named_.find(name);
  if (known == named_.end()) return;
  const auto room = rooms_.find(known->second);
  room->second.node = Value{};
  other_nodes_ = true;
  named_.erase(known);
  drop_if_empty(room);
}

void NodeRooms::drop_if_empty(std::map<std::string, Room, std::less<>>::iterator room) {
  if (room->second.node.is_null() && room->second.pods.empty()) rooms_.erase(room);
}

void NodeRooms::update(std::vector<NodeCapacity>& capacities) {
  if (std::exchange(other_nodes_, false)) {
    capacities.clear();
    for (auto& [name, room] : rooms_) {
      if (room.node.is_null()) continue;
      room.at = capacities.size();
      room.changed = true;
      capacities.emplace_back();
    }
  }
  for (auto& [name, room] : rooms_) {
    if (room.node.is_null() || !std::exchange(room.changed, false)) continue;
    capacities[room.at] = {room.node, free_of(room.node, room.pods)};
  }
}

}  // namespace shiplog::estimator
