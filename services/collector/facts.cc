#include "services/collector/facts.h"

#include <algorithm>

#include "events/state/quota.h"
#include "events/state/work.h"

namespace shiplog::collector {
namespace {

void add(ResourceList& sum, const ResourceList& more) {
  for (const auto& [name, amount] : more) sum[name] = sum[name] + amount;
}

void at_least(ResourceList& most, const ResourceList& other) {
  for (const auto& [name, amount] : other) most[name] = std::max(most[name], amount);
}

/// What a scheduler reserves for a pod: its containers and sidecars together, or more while it initialises.
ResourceList requests_of(const Value& pod) {
  const Value& spec = pod["spec"];
  ResourceList sum;
  ResourceList sidecars;
  ResourceList initial;
  for (const Value& container : spec["containers"].items()) {
    add(sum, resource_list_from(container["resources"]["requests"]));
  }
  for (const Value& container : spec["initContainers"].items()) {
    ResourceList request = resource_list_from(container["resources"]["requests"]);
    if (container["restartPolicy"].as_string() == "Always") {
      add(sidecars, request);
      at_least(initial, sidecars);
    } else {
      add(request, sidecars);
      at_least(initial, request);
    }
  }
  add(sum, sidecars);
  at_least(sum, initial);
  add(sum, resource_list_from(spec["overhead"]));
  sum["pods"] = Quantity::from_units(1);
  return sum;
}

Value positive(const ResourceList& list) {
  ResourceList kept;
  for (const auto& [name, amount] : list) {
    if (!amount.is_zero() && !amount.negative()) kept.emplace(name, amount);
  }
  return to_value(kept);
}

}  // namespace

Value node_summary(const Value& nodes) {
  const auto ready = std::ranges::count_if(
      nodes.items(), [](const Value& node) { return condition_of(node, "Ready")["status"].as_string() == "True"; });
  return Value::object({{"totalNum", nodes.size()}, {"readyNum", ready}});
}

Value resource_summary(const Value& nodes, const Value& pods) {
  ResourceList allocatable;
  ResourceList allocated;
  ResourceList allocating;
  for (const Value& node : nodes.items()) add(allocatable, resource_list_from(node["status"]["allocatable"]));
  for (const Value& pod : pods.items()) {
    const auto phase = pod["status"]["phase"].as_string();
    if (phase == "Succeeded" || phase == "Failed") continue;
    add(pod["spec"]["nodeName"].is_empty() ? allocating : allocated, requests_of(pod));
  }
  Value summary = Value::object();
  for (const auto& [name, list] : {std::pair{"allocatable", &allocatable}, std::pair{"allocated", &allocated},
                                   std::pair{"allocating", &allocating}}) {
    Value value = positive(*list);
    if (!value.is_empty()) summary.set(name, std::move(value));
  }
  return summary;
}

Value api_enablements(const Value& resource_lists) {
  std::map<std::string, std::map<std::string, std::string>> kinds;  // by group version, by resource name
  for (const Value& list : resource_lists.items()) {
    auto& resources = kinds[list["groupVersion"].str()];
    for (const Value& resource : list["resources"].items()) {
      const std::string name = resource["name"].str();
      if (name.find('/') == std::string::npos) resources[name] = resource["kind"].str();
    }
  }
  Value enablements = Value::array();
  for (const auto& [version, resources] : kinds) {
    Value list = Value::array();
    for (const auto& [name, kind] : resources) list.push_back(Value::object({{"name", name}, {"kind", kind}}));
    enablements.push_back(Value::object({{"groupVersion", version}, {"resources", std::move(list)}}));
  }
  return enablements;
}

Health health_from(int http_status) {
  if (http_status == 200) return {"True", "ClusterReady", "cluster is healthy and ready to accept workloads"};
  if (http_status > 200 && http_status < 300) {
    return {"False", "ClusterNotReady", "cluster is reachable but health endpoint responded without ok"};
  }
  return {"False", "ClusterNotReachable", "cluster is not reachable: it answers HTTP " + std::to_string(http_status)};
}

// The condition is where a user looks first, so it says the cause as well: a name not found, a connection refused, a
// certificate not trusted.
Health health_from(const Error& error) {
  if (error.code != ErrorCode::kNotFound && error.code != ErrorCode::kInvalid) {
    return {"False", "ClusterNotReachable", "cluster is not reachable: " + error.message};
  }
  return {"False", "StatusCollectionFailed", "failed to create a ClusterClient: " + error.message};
}

Health Damping::damped(const std::string& cluster, const Health& observed, const Cluster::Condition* stored,
                       UtcMillis now) {
  const bool ready = observed.status == "True";
  auto [seen, first] = seen_.try_emplace(cluster, Seen{ready, now});
  if (!first && seen->second.ready != ready) seen->second = {ready, now};
  const bool flips = stored != nullptr && (stored->status == "True") != ready;
  if (first || !flips || now - seen->second.since >= kThreshold) return observed;
  return {stored->status, stored->reason, stored->message};
}

}  // namespace shiplog::collector
