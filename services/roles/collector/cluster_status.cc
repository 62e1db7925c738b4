#include "services/roles/collector/cluster_status.h"

#include <algorithm>
#include <utility>

#include "events/base/utf8.h"

namespace shiplog::collector {
namespace {

constexpr size_t kLongestVersion = 256;

}  // namespace

std::string git_version_from(const Value& version) {
  return printable(version["gitVersion"].as_string(), kLongestVersion);
}

std::string member_id_from(const Value& kube_system) {
  const auto uid = kube_system["metadata"]["uid"].as_string();
  return uid.size() > kLongestName ? "" : std::string{uid};
}

bool is_group_version(std::string_view text) {
  return !text.empty() && text.size() <= 2 * kLongestName && text.front() != '/' && text.back() != '/' &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

Value slim_resources(const Value& list, size_t most) {
  Value resources = Value::array();
  for (const Value& resource : list["resources"].items()) {
    const auto name = resource["name"].as_string();
    const auto kind = resource["kind"].as_string();
    if (name.empty() || kind.empty() || name.find('/') != std::string_view::npos) continue;
    if (name.size() > kLongestName || kind.size() > kLongestName) continue;
    if (resources.size() == most) break;
    resources.push_back(Value::object({{"name", name}, {"kind", kind}}));
  }
  return Value::object({{"groupVersion", list["groupVersion"].str()}, {"resources", std::move(resources)}});
}

std::optional<DiscoveredApis> aggregated_apis(const Value& document) {
  if (document["kind"].as_string() != "APIGroupDiscoveryList") return std::nullopt;
  DiscoveredApis apis;
  size_t left = kMostResources;
  for (const Value& group : document["items"].items()) {
    const std::string prefix = group["metadata"]["name"].is_empty() ? "" : group["metadata"]["name"].str() + "/";
    for (const Value& version : group["versions"].items()) {
      const std::string group_version = prefix + version["version"].str();
      const bool stale = version["freshness"].as_string() == "Stale";
      if (stale || apis.lists.size() == kMostGroupVersions || !is_group_version(group_version)) {
        apis.complete = false;
        continue;
      }
      Value resources = Value::array();
      for (const Value& resource : version["resources"].items()) {
        const auto name = resource["resource"].as_string();
        const auto kind = resource["responseKind"]["kind"].as_string();
        // Without a kind there are only its subresources.
        if (kind.empty() || name.size() > kLongestName || kind.size() > kLongestName) continue;
        if (left == 0) {
          apis.complete = false;
          break;
        }
        --left;
        resources.push_back(Value::object({{"name", name}, {"kind", kind}}));
      }
      apis.lists.push_back(Value::object({{"groupVersion", group_version}, {"resources", std::move(resources)}}));
    }
  }
  return apis;
}

Value api_enablements(const Value& resource_lists) {
  std::map<std::string, std::map<std::string, std::string>> kinds;  // by group version, by resource name
  for (const Value& list : resource_lists.items()) {
    if (!is_group_version(list["groupVersion"].as_string())) continue;
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

Health completeness_of(size_t found, bool complete) {
  if (complete) return {"True", "Complete", "collected complete APIEnablements from the cluster"};
  if (found == 0) return {"False", "Empty", "collected empty APIEnablements from the cluster"};
  return {"False", "Partial", "might collect partial APIEnablements(" + std::to_string(found) + ") from the cluster"};
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
