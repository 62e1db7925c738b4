#include "services/programs/member/pod_scheduler.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "services/programs/member/condition.h"
#include "services/programs/member/decide.h"
#include "services/programs/member/decision_changes.h"
#include "services/programs/member/kinds.h"
#include "services/programs/member/node_fit.h"
#include "services/programs/member/pod.h"

namespace shiplog::member {
namespace {

struct NodeState {
  std::string name;
  const Value* value;
  ResourceList allocatable;
  ResourceList requested;
};

ResourceList charge_of(const Value& pod) {
  ResourceList charge = requests_of(pod);
  charge["pods"] = Quantity::from_units(1);
  return charge;
}

Quantity amount(const ResourceList& list, const std::string& name) {
  const auto found = list.find(name);
  return found == list.end() ? Quantity{} : found->second;
}

/// The resources that the node lacks, with kube-scheduler's messages; empty: the pod fits.
std::vector<std::string> short_of(const NodeState& node, const ResourceList& charge) {
  std::vector<std::string> reasons;
  for (const auto& [name, more] : charge) {
    if (more.is_zero() || amount(node.requested, name) + more <= amount(node.allocatable, name)) continue;
    reasons.push_back(name == "pods" ? "Too many pods" : "Insufficient " + name);
  }
  return reasons;
}

/// The node's remaining capacity, in thousandths of its cpu and memory together. Source: LeastAllocated.
int64_t left_over(const NodeState& node, const ResourceList& charge) {
  int64_t sum = 0;
  for (const char* name : {"cpu", "memory"}) {
    const Quantity all = amount(node.allocatable, name);
    if (all.is_zero()) continue;
    const Quantity left = all - amount(node.requested, name) - amount(charge, name);
    sum += static_cast<int64_t>(left.whole_milli() * 1000 / all.whole_milli());
  }
  return sum;
}

/// Nodes that are being deleted accept no pods.
std::vector<NodeState> read_nodes(const State& state, const NodeUsage& usage) {
  std::vector<NodeState> nodes;
  for (const auto& [name, object] : state.objects(kNodes)) {
    if (deleting(object.value)) continue;
    NodeState node{name.name.str(), &object.value, resource_list_from(object.value["status"]["allocatable"]), {}};
    if (const auto used = usage.requested.find(name.name.str()); used != usage.requested.end())
      node.requested = used->second;
    nodes.push_back(std::move(node));
  }
  return nodes;
}

NodeState* choose(std::vector<NodeState>& nodes, const Value& pod, const ResourceList& charge, std::string& why_not) {
  NodeState* best = nullptr;
  std::map<std::string, int> reasons;
  const auto worth = [&](const NodeState& node) {
    return std::tuple{left_over(node, charge), Quantity{} - amount(node.requested, "pods")};
  };
  for (NodeState& node : nodes) {
    if (const auto reason = misfit(pod["spec"], *node.value)) {
      ++reasons[*reason];
      continue;
    }
    const auto missing = short_of(node, charge);
    for (const std::string& reason : missing) ++reasons[reason];
    if (missing.empty() && (best == nullptr || worth(node) > worth(*best))) best = &node;
  }
  if (best != nullptr) return best;
  if (nodes.empty()) {
    why_not = "no nodes available to schedule pods";
    return nullptr;
  }
  std::vector<std::string> lines;
  for (const auto& [reason, count] : reasons) lines.push_back(std::to_string(count) + " " + reason);
  std::ranges::sort(lines);
  why_not = "0/" + std::to_string(nodes.size()) + " nodes are available: ";
  for (size_t i = 0; i < lines.size(); ++i) why_not += (i > 0 ? ", " : "") + lines[i];
  why_not += ".";
  return nullptr;
}

std::string address_of(const Value& node) {
  for (const Value& address : node["status"]["addresses"].items()) {
    if (address["type"].as_string() == "InternalIP") return address["address"].str();
  }
  return "";
}

Value placed(Value pod, const NodeState& node, UtcMillis now) {
  pod.edit("spec").set("nodeName", node.name);
  pod.edit("metadata").edit("annotations").set(kStartedAt, rfc3339_millis(now));
  Value& status = pod.edit("status");
  status.set("phase", "Pending");
  status.set("startTime", rfc3339(now));
  const std::string address = address_of(*node.value);
  status.set("hostIP", address);
  status.set("hostIPs", Value::array({Value::object({{"ip", address}})}));
  set_condition(status, "PodScheduled", {"True", "", ""}, now);
  return pod;
}

}  // namespace

void NodeUsage::add(const Value& pod) {
  const std::string node = pod["spec"]["nodeName"].str();
  if (has_finished(pod)) return;
  if (node.empty()) {
    if (deleting(pod)) return;
    const bool tried = condition_of(pod, "PodScheduled")["status"].as_string() == "False";
    (tried ? waiting : fresh).insert(pod_key(pod));
    return;
  }
  ResourceList& used = requested[node];
  for (const auto& [name, more] : charge_of(pod)) {
    if (!more.is_zero()) used[name] = used[name] + more;
  }
}

void NodeUsage::remove(const Value& pod) {
  const std::string node = pod["spec"]["nodeName"].str();
  if (has_finished(pod)) return;
  if (node.empty()) {
    fresh.erase(pod_key(pod));
    waiting.erase(pod_key(pod));
    return;
  }
  ResourceList& used = requested[node];
  for (const auto& [name, less] : charge_of(pod)) {
    used[name] = used[name] - less;
    if (used[name].is_zero()) used.erase(name);
  }
  if (used.empty()) requested.erase(node);
}

NodeUsage usage_of_nodes(const State& state) {
  NodeUsage usage;
  for (const auto& [name, pod] : state.objects(kPods)) usage.add(pod.value);
  return usage;
}

Result<Decided> decide_scheduling(const State& state, const NodeUsage& usage, bool also_waiting, UtcMillis now) {
  Changes changes;
  std::vector<NodeState> nodes = read_nodes(state, usage);
  const auto place = [&](const std::set<ObjectKey>& pods) {
    for (const ObjectKey& key : pods) {
      if (changes.size() >= kMostAtOnce) return;
      const Object* object = state.find(key);
      if (object == nullptr) continue;
      const std::string_view scheduler = object->value["spec"]["schedulerName"].as_string("default-scheduler");
      if (scheduler != "default-scheduler") continue;
      const ResourceList charge = charge_of(object->value);
      std::string why_not;
      if (NodeState* node = choose(nodes, object->value, charge, why_not)) {
        for (const auto& [name, more] : charge) node->requested[name] = node->requested[name] + more;
        changes.update(key, *object, placed(object->value, *node, now));
        continue;
      }
      Value unplaced = object->value;
      set_condition(unplaced.edit("status"), "PodScheduled", {"False", "Unschedulable", why_not}, now);
      changes.update_status(key, *object, std::move(unplaced));
    }
  };
  place(usage.fresh);
  if (also_waiting) place(usage.waiting);
  return changes.take();
}

}  // namespace shiplog::member
