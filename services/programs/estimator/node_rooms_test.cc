// That sums which follow single changes are those of all pods.
#include "services/programs/estimator/node_rooms.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "events/base/random.h"
#include "events/base/yaml.h"

namespace shiplog::estimator {
namespace {

Value node_with(const std::string& name, uint64_t cpu) {
  return parse_yaml("{metadata: {name: " + name + "}, status: {allocatable: {cpu: '" + std::to_string(cpu) +
                    "', pods: '10'}}}")
      .value();
}
Value pod_on(const std::string& node, uint64_t cpu, const std::string& phase) {
  return parse_yaml("{spec: {nodeName: '" + node + "', containers: [{resources: {requests: {cpu: " +
                    std::to_string(cpu) + "m}}}]}, status: {phase: " + phase + "}}")
      .value();
}
std::string text_of_rooms(const std::vector<NodeCapacity>& capacities) {
  std::string text;
  for (const NodeCapacity& capacity : capacities) {
    text += capacity.node["metadata"]["name"].str() + ":";
    for (const auto& [name, amount] : capacity.free) text += " " + name + " " + to_string(amount);
    text += "\n";
  }
  return text;
}

TEST(NodeRooms, FollowEachChange) {
  NodeRooms rooms;
  std::vector<NodeCapacity> capacities;
  rooms.put_pod("n/early", pod_on("a", 500, "Running"));
  rooms.update(capacities);
  EXPECT_TRUE(capacities.empty()) << "a pod of a node that is not known yet";
  rooms.put_node("/a", node_with("a", 4));
  rooms.put_node("/b", node_with("b", 2));
  rooms.update(capacities);
  EXPECT_EQ(text_of_rooms(capacities), "a: cpu 3500m pods 9\nb: cpu 2 pods 10\n");
  rooms.put_pod("n/early", pod_on("b", 3000, "Running"));
  rooms.update(capacities);
  EXPECT_EQ(text_of_rooms(capacities), "a: cpu 4 pods 10\nb: cpu 0 pods 9\n")
      << "it runs on another node, which has less";
  rooms.put_pod("n/early", pod_on("b", 3000, "Succeeded"));
  rooms.remove_node("/a");
  rooms.update(capacities);
  EXPECT_EQ(text_of_rooms(capacities), "b: cpu 2 pods 10\n");
}

TEST(NodeRooms, AreThoseOfAllPodsAfterAnyChanges) {
  SeededRandom random{7};
  const auto below = [&](uint64_t bound) { return random_below(random, bound); };
  NodeRooms rooms;
  std::vector<NodeCapacity> capacities;
  std::map<std::string, Value> nodes, pods;
  for (int step = 0; step < 3'000; ++step) {
    const std::string on = std::string{"abcd"}.substr(below(4), 1);
    const std::string name = "pod-" + std::to_string(below(30));
    switch (below(8)) {
      case 0:
        rooms.put_node("/" + on, nodes[on] = node_with(on, 1 + below(8)));
        break;
      case 1:
        rooms.remove_node("/" + on);
        nodes.erase(on);
        break;
      case 2:
      case 3:
        rooms.remove_pod(name);
        pods.erase(name);
        break;
      default:
        rooms.put_pod(name,
                      pods[name] = pod_on(below(9) == 0 ? "" : on, below(2'000), below(9) == 0 ? "Failed" : "Running"));
    }
    if (below(3) == 0) continue;  // several changes before it is looked at
    rooms.update(capacities);
    NodeRooms anew;
    std::vector<NodeCapacity> expected;
    for (const auto& [own, value] : nodes) anew.put_node("/" + own, value);
    for (const auto& [own, value] : pods) anew.put_pod(own, value);
    anew.update(expected);
    ASSERT_EQ(text_of_rooms(capacities), text_of_rooms(expected)) << "step " << step;
  }
}

}  // namespace
}  // namespace shiplog::estimator
