#include "services/programs/estimator/capacity.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "events/state/condition.h"
#include "events/state/placement.h"
#include "events/state/policy.h"
#include "events/state/quota.h"
#include "services/programs/estimator/quota_room.h"

namespace shiplog::estimator {
namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
constexpr const char* kPods = "pods";

/// A requirement of a node selector, which check() has validated.
bool holds(const Value& requirement, const Value& labels) {
  const Value* has = labels.find(requirement["key"].as_string());
  const auto wanted = requirement["operator"].as_string();
  const auto values = requirement["values"].items();
  const auto among = [&] {
    return has != nullptr && std::ranges::any_of(values, [&](const Value& value) { return value == *has; });
  };
  if (wanted == "In") return among();
  if (wanted == "NotIn") return !among();
  if (wanted == "Exists") return has != nullptr;
  if (wanted == "DoesNotExist") return has == nullptr;
  // Gt and Lt: of whole numbers.
  if (has == nullptr || values.size() != 1) return false;
  const auto number = [](std::string_view text) {
    int64_t parsed = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), parsed);
    return end.ec == std::errc{} && end.ptr == text.data() + text.size() ? std::optional{parsed} : std::nullopt;
  };
  const auto mine = number(has->as_string());
  const auto theirs = number(values[0].as_string());
  if (!mine || !theirs) return false;
  return wanted == "Gt" ? *mine > *theirs : *mine < *theirs;
}

bool all_hold(const Value& requirements, const Value& labels) {
  return std::ranges::all_of(requirements.items(),
                             [&](const Value& requirement) { return holds(requirement, labels); });
}

Result<void> check(const Value& claim) {
  for (const Value& term : claim["hardNodeAffinity"]["nodeSelectorTerms"].items()) {
    for (const char* part : {"matchExpressions", "matchFields"}) {
      for (const Value& expression : term[part].items()) {
        const auto name = expression["operator"].as_string();
        if (name != "In" && name != "NotIn" && name != "Exists" && name != "DoesNotExist" && name != "Gt" &&
            name != "Lt") {
          return Error{ErrorCode::kBadRequest, "\"" + std::string{name} + "\" is not an operator of a node selector"};
        }
      }
    }
  }
  return ok();
}

bool admits(const Value& node, const Value& claim) {
  const Value& labels = node["metadata"]["labels"];
  for (const Value::Member& wanted : claim["nodeSelector"].members()) {
    if (labels[wanted.key()] != wanted.value) return false;
  }
  const Value& affinity = claim["hardNodeAffinity"];
  if (!affinity.is_null()) {
    const Value fields = Value::object({{"metadata.name", node["metadata"]["name"]}});
    const auto terms = affinity["nodeSelectorTerms"].items();
    const bool selected = std::ranges::any_of(terms, [&](const Value& term) {
      const bool empty = term["matchExpressions"].size() == 0 && term["matchFields"].size() == 0;
      return !empty && all_hold(term["matchExpressions"], labels) && all_hold(term["matchFields"], fields);
    });
    if (!selected) return false;
  }
  const auto tolerations = tolerations_from(claim["tolerations"]);
  const auto tolerated = [&](const Taint& taint) {
    return std::ranges::any_of(tolerations, [&](const Toleration& toleration) { return toleration.tolerates(taint); });
  };
  if (node["spec"]["unschedulable"].as_bool() &&
      !tolerated({.key = "node.kubernetes.io/unschedulable", .value = "", .effect = "NoSchedule"})) {
    return false;
  }
  return std::ranges::all_of(node["spec"]["taints"].items(), [&](const Value& entry) {
    const Taint taint{entry["key"].str(), entry["value"].str(), entry["effect"].str()};
    return taint.effect == "PreferNoSchedule" || tolerated(taint);
  });
}

/// How many pods with this request fit.
int64_t fits(const ResourceList& free, const ResourceList& request) {
  const auto pods = free.find(kPods);
  int64_t times = pods == free.end() ? 0 : std::min(kMost, pods->second.units());
  for (const auto& [name, amount] : request) {
    if (amount.is_zero() || amount.negative() || name == kPods) continue;
    const auto left = free.find(name);
    times = std::min(times, left == free.end() ? 0 : left->second.divided_by(amount));
  }
  return std::max<int64_t>(0, times);
}

void take(ResourceList& free, const ResourceList& request, int64_t times) {
  for (const auto& [name, amount] : request) {
    if (name != kPods) free[name] = free[name] - amount * times;
  }
  free[kPods] = free[kPods] - Quantity::from_units(times);
}

/// Places `replicas` pods, first fit. Returns false if not all of them fit.
bool place(std::vector<NodeCapacity>& nodes, const Value& requirements, int64_t replicas) {
  const ResourceList request = resource_list_from(requirements["resourceRequest"]);
  for (NodeCapacity& node : nodes) {
    if (replicas == 0) break;
    if (!admits(node.node, requirements["nodeClaim"])) continue;
    const int64_t count = std::min(replicas, fits(node.free, request));
    if (count > 0) take(node.free, request, count);
    replicas -= count;
  }
  return replicas == 0;
}

Result<void> check_amounts(const Value& requirements) {
  for (const auto& amount : requirements["resourceRequest"].members()) {
    if (amount.value.is_number()) continue;
    if (const auto parsed = parse_quantity(amount.value.as_string()); !parsed) return parsed.error();
  }
  return check(requirements["nodeClaim"]);
}

int64_t pods_of(const Value& component) { return std::max<int64_t>(0, component["replicas"].as_int()); }

QuotaRoom::Part part_of(const Value& requirements, int64_t pods) {
  return {requirements["priorityClassName"].str(), resource_list_from(requirements["resourceRequest"]), pods};
}

/// What nodes and quotas have left.
struct Room {
  std::vector<NodeCapacity> nodes;
  QuotaRoom quota;  // of namespace `ns`
};

/// Takes what the workloads will use: as much of it as fits, for the rest will not run.
Result<void> assume(const Value& workloads, const std::string& ns, Room& room) {
  for (const Value& workload : workloads.items()) {
    for (const Value& component : workload["components"].items()) {
      const Value& requirements = component["replicaRequirements"];
      SHIPLOG_TRY(check_amounts(requirements));
      place(room.nodes, requirements, pods_of(component));
      if (workload["namespace"].as_string() != ns) continue;
      const QuotaRoom::Part part = part_of(requirements, pods_of(component));
      room.quota.take(part.priority_class, part.request, part.pods);
    }
  }
  return ok();
}

bool owned_by(const Value& object, const Value& owner) {
  return std::ranges::any_of(object["metadata"]["ownerReferences"].items(), [&](const Value& reference) {
    return reference["controller"].as_bool() && reference["uid"] == owner["metadata"]["uid"];
  });
}

/// The newest ReplicaSet: the one with the highest revision.
const Value* newest_of(const MemberObjects& member, const Value& deployment) {
  const auto revision = [](const Value& set) {
    const auto text = set["metadata"]["annotations"]["deployment.kubernetes.io/revision"].as_string();
    int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  };
  const Value* newest = nullptr;
  for (const auto& [name, set] : member.replica_sets) {
    if (!owned_by(set, deployment)) continue;
    if (newest == nullptr || revision(set) > revision(*newest)) newest = &set;
  }
  return newest;
}

}  // namespace

Result<int32_t> max_replicas(const MemberObjects& member, const Value& requirements, const Value& assumed) {
  SHIPLOG_TRY(check_amounts(requirements));
  const std::string ns = requirements["namespace"].str();
  const bool as_they_are = assumed.size() == 0;
  Room room{as_they_are ? std::vector<NodeCapacity>{} : member.nodes, QuotaRoom{member.resource_quotas, ns}};
  SHIPLOG_TRY(assume(assumed, ns, room));
  const ResourceList request = resource_list_from(requirements["resourceRequest"]);
  int64_t sum = 0;
  for (const NodeCapacity& node : as_they_are ? member.nodes : room.nodes) {
    if (admits(node.node, requirements["nodeClaim"])) sum = std::min(kMost, sum + fits(node.free, request));
  }
  if (const auto permitted = room.quota.sets({part_of(requirements, 1)})) sum = std::min(sum, *permitted);
  return static_cast<int32_t>(sum);
}

Result<int32_t> max_component_sets(const MemberObjects& member, const Value& components, const std::string& ns,
                                   const Value& assumed) {
  int64_t replicas = 0;
  std::vector<QuotaRoom::Part> parts;
  for (const Value& component : components.items()) {
    SHIPLOG_TRY(check_amounts(component["replicaRequirements"]));
    replicas += pods_of(component);
    parts.push_back(part_of(component["replicaRequirements"], pods_of(component)));
  }
  if (replicas == 0) return static_cast<int32_t>(kMost);
  Room room{member.nodes, QuotaRoom{member.resource_quotas, ns}};
  SHIPLOG_TRY(assume(assumed, ns, room));
  const int64_t most = std::min(kMost, room.quota.sets(parts).value_or(kMost));
  // Each set needs at least one pod, so this ends when the nodes' pods are used up.
  for (int64_t sets = 0; sets < most; ++sets) {
    for (const Value& component : components.items()) {
      if (!place(room.nodes, component["replicaRequirements"], pods_of(component))) return static_cast<int32_t>(sets);
    }
  }
  return static_cast<int32_t>(most);
}

Result<int32_t> unschedulable_replicas(const MemberObjects& member, const Value& reference, Millis threshold,
                                       UtcMillis now) {
  if (reference["kind"].as_string() != "Deployment" || reference["apiVersion"].as_string() != "apps/v1") {
    return Error{ErrorCode::kBadRequest, "only pods of an apps/v1 Deployment can be counted, not of a " +
                                             reference["apiVersion"].str() + " " + reference["kind"].str()};
  }
  const auto found = std::ranges::find_if(member.deployments, [&](const auto& named) {
    const Value& metadata = named.second["metadata"];
    return metadata["namespace"] == reference["namespace"] && metadata["name"] == reference["name"];
  });
  if (found == member.deployments.end()) {
    return Error{ErrorCode::kNotFound,
                 "deployment " + reference["namespace"].str() + "/" + reference["name"].str() + " not found"};
  }
  const Value* set = newest_of(member, found->second);
  if (set == nullptr) return 0;
  int32_t count = 0;
  for (const auto& [name, pod] : member.pods) {
    if (!owned_by(pod, *set)) continue;
    const Value& scheduled = condition_of(pod, "PodScheduled");
    if (scheduled["status"].as_string() != "False" || scheduled["reason"].as_string() != "Unschedulable") continue;
    const auto since = parse_rfc3339(scheduled["lastTransitionTime"].as_string());
    if (since && now - since.value() > threshold) ++count;
  }
  return count;
}

}  // namespace shiplog::estimator
