#include "services/roles/collector/cluster_status.h"

#include <algorithm>
#include <optional>

#include "events/state/quota.h"
#include "events/state/work.h"

namespace shiplog::collector {
namespace {

constexpr size_t kLongestName = 253;
constexpr size_t kMostResources = 64;  // different ones of one node or pod

/// Without names that no server would take, and not more of them than a node has in earnest.
ResourceList plausible(const ResourceList& list) {
  ResourceList known;
  for (const auto& [name, amount] : list) {
    if (name.size() <= kLongestName && known.size() < kMostResources) known.emplace(name, amount);
  }
  return known;
}

/// sum += more, without growing for ever by names that are made up anew each time.
void add_known(ResourceList& sum, const ResourceList& more) {
  for (const auto& [name, amount] : more) {
    if (sum.size() < kMostResources || sum.contains(name)) add_resources(sum, {{name, amount}});
  }
}

bool finished(const Value& pod) {
  const auto phase = pod["status"]["phase"].as_string();
  return phase == "Succeeded" || phase == "Failed";
}

/// The last grade of which the node has at least the least, of each resource that is modelled; the lowest counts.
/// nullopt: of some resource it has less than nothing.
std::optional<size_t> grade_of(const ResourceList& free, const Value& models) {
  std::map<std::string, size_t> grades;
  for (size_t grade = 0; grade < models.size(); ++grade) {
    for (const Value& range : models[grade]["ranges"].items()) {
      const std::string name = range["name"].str();
      const ResourceList least = resource_list_from(Value::object({{name, range["min"]}}));
      const auto has = free.find(name);
      const Quantity amount = has == free.end() ? Quantity{} : has->second;
      if (amount.negative()) return std::nullopt;
      if (const auto found = least.find(name); found != least.end() && found->second <= amount) grades[name] = grade;
    }
  }
  if (grades.empty()) return std::nullopt;
  return std::ranges::min_element(grades, {}, [](const auto& each) { return each.second; })->second;
}

/// S-69.
Value modelings(const Value& nodes, const Usage& usage, const Value& models) {
  std::vector<int64_t> counts(models.size());
  for (const Value& node : nodes.items()) {
    ResourceList free = resource_list_from(node["status"]["allocatable"]);
    if (const auto used = usage.by_node.find(node["metadata"]["name"].str()); used != usage.by_node.end()) {
      for (const auto& [name, amount] : used->second) free[name] = free[name] - amount;
    }
    if (free["pods"].negative() || free["pods"].is_zero()) continue;
    if (const auto grade = grade_of(free, models)) ++counts[*grade];
  }
  Value list = Value::array();
  for (size_t grade = 0; grade < models.size(); ++grade) {
    list.push_back(Value::object({{"grade", models[grade]["grade"]}, {"count", counts[grade]}}));
  }
  return list;
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

Usage::Usage(const Value& nodes) {
  for (const Value& node : nodes.items()) by_node.emplace(node["metadata"]["name"].str(), ResourceList{});
}

void Usage::add(const Value& pod) {
  if (finished(pod)) return;
  const ResourceList requests = plausible(pod_requests(pod));
  const std::string node = pod["spec"]["nodeName"].str();
  add_known(node.empty() ? allocating : allocated, requests);
  if (const auto used = by_node.find(node); used != by_node.end()) add_known(used->second, requests);
}

Value slim_node(const Value& node) {
  const ResourceList allocatable = plausible(resource_list_from(node["status"]["allocatable"]));
  const Value ready = Value::object({{"type", "Ready"}, {"status", condition_of(node, "Ready")["status"]}});
  return Value::object(
      {{"metadata", Value::object({{"name", node["metadata"]["name"].str().substr(0, kLongestName)}})},
       {"status", Value::object({{"allocatable", to_value(allocatable)}, {"conditions", Value::array({ready})}})}});
}

Value slim_resources(const Value& list, size_t most) {
  Value resources = Value::array();
  for (const Value& resource : list["resources"].items()) {
    const auto name = resource["name"].as_string();
    const auto kind = resource["kind"].as_string();
    if (name.find('/') != std::string_view::npos || name.size() > kLongestName || kind.size() > kLongestName) continue;
    if (resources.size() == most) break;
    resources.push_back(Value::object({{"name", name}, {"kind", kind}}));
  }
  return Value::object(
      {{"groupVersion", list["groupVersion"].str().substr(0, 2 * kLongestName)}, {"resources", std::move(resources)}});
}

Value resource_summary(const Value& nodes, const Value& pods, const Value& models) {
  Usage usage{nodes};
  for (const Value& pod : pods.items()) usage.add(pod);
  return resource_summary(nodes, usage, models);
}

Value resource_summary(const Value& nodes, const Usage& usage, const Value& models) {
  ResourceList allocatable;
  for (const Value& node : nodes.items()) add_resources(allocatable, resource_list_from(node["status"]["allocatable"]));
  Value summary = Value::object();
  for (const auto& [name, list] : {std::pair<const char*, const ResourceList*>{"allocatable", &allocatable},
                                   std::pair<const char*, const ResourceList*>{"allocated", &usage.allocated},
                                   std::pair<const char*, const ResourceList*>{"allocating", &usage.allocating}}) {
    Value value = positive(*list);
    if (!value.is_empty()) summary.set(name, std::move(value));
  }
  if (models.size() > 0) summary.set("allocatableModelings", modelings(nodes, usage, models));
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

// The condition is where a user looks first, so it states the cause as well: a name not found, a connection refused, a
// certificate not trusted.
Health health_from(const Error& error) {
  const bool no_client = error.code == ErrorCode::kNotFound || error.code == ErrorCode::kInvalid ||
                         error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kGone;
  if (!no_client) {
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
  const Millis threshold = ready ? until_ready_ : until_not_ready_;
  if (first || !flips || now - seen->second.since >= threshold) return observed;
  return {stored->status, stored->reason, stored->message};
}

}  // namespace shiplog::collector
