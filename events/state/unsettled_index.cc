#include "events/state/unsettled_index.h"

#include <algorithm>
#include <set>

namespace shiplog {
namespace {

/// Nothing of what matters here differs.
bool same_progress(const Value& before, const Value& after) {
  const Value& old_spec = before["spec"];
  const Value& new_spec = after["spec"];
  for (const char* field : {"clusters", "components", "replicaRequirements"}) {
    if (old_spec[field] != new_spec[field]) return false;
  }
  return before["status"]["lastScheduledTime"] == after["status"]["lastScheduledTime"] &&
         before["status"]["aggregatedStatus"] == after["status"]["aggregatedStatus"];
}

std::set<std::string> healthy_in(const Value& binding) {
  std::set<std::string> clusters;
  for (const Value& item : binding["status"]["aggregatedStatus"].items()) {
    if (item["health"].as_string() == "Healthy") clusters.insert(item["clusterName"].str());
  }
  return clusters;
}

/// By cluster; empty for what has no pods.
std::map<std::string, UnsettledIndex::Footprint> footprints(const ObjectKey& key, const Value& object) {
  std::map<std::string, UnsettledIndex::Footprint> found;
  if (object.is_null()) return found;
  const Binding binding = binding_from(key, object);
  if (!binding.workload) return found;
  const std::set<std::string> healthy = healthy_in(object);
  const Value single = Value::array(
      {Value::object({{"name", binding.name}, {"replicaRequirements", object["spec"]["replicaRequirements"]}})});
  for (const Target& target : binding.targets) {
    if (healthy.contains(target.cluster)) continue;
    std::vector<Component> components = binding.components;
    if (components.empty()) {
      components = components_from(single);
      components.front().replicas = target.replicas;
    }
    found.emplace(target.cluster, std::make_shared<const std::vector<Component>>(std::move(components)));
  }
  return found;
}

UtcMillis placed_at(const Value& binding) {
  const auto time = parse_rfc3339(binding["status"]["lastScheduledTime"].as_string());
  return time ? time.value() : UtcMillis{};
}

}  // namespace

void UnsettledIndex::update(const ObjectKey& key, const Value& before, const Value& after, const ObjectStore& objects) {
  if (key.type == type::kResourceBinding) {
    if (enabled_) move(key, before, after);
    return;
  }
  const bool enabled = feature_gates_from(after).overcommit_protection;
  if (enabled == enabled_) return;
  enabled_ = enabled;
  clusters_.clear();
  if (!enabled_) return;
  for (const auto& [name, binding] : objects.objects(type::kResourceBinding)) {
    move({type::kResourceBinding, name.ns, name.name}, Value{}, binding.value);
  }
}

bool UnsettledIndex::operator==(const UnsettledIndex& other) const {
  const auto same_placed = [](const Placed& left, const Placed& right) {
    return std::ranges::equal(left, right, [](const auto& a, const auto& b) {
      return a.first == b.first && std::ranges::equal(a.second, b.second, [](const auto& c, const auto& d) {
               return c.first == d.first && *c.second == *d.second;
             });
    });
  };
  return enabled_ == other.enabled_ &&
         std::ranges::equal(clusters_, other.clusters_, [&](const auto& left, const auto& right) {
           return left.first == right.first && same_placed(left.second, right.second);
         });
}

void UnsettledIndex::move(const ObjectKey& binding, const Value& before, const Value& after) {
  if (same_progress(before, after)) return;
  for (const auto& [cluster, footprint] : footprints(binding, before)) {
    const auto of_cluster = clusters_.find(cluster);
    if (of_cluster == clusters_.end()) continue;
    const auto moment = of_cluster->second.find(placed_at(before));
    if (moment == of_cluster->second.end()) continue;
    moment->second.erase(binding);
    if (moment->second.empty()) of_cluster->second.erase(moment);
    if (of_cluster->second.empty()) clusters_.erase(of_cluster);
  }
  for (auto& [cluster, footprint] : footprints(binding, after)) {
    clusters_[cluster][placed_at(after)][binding] = std::move(footprint);
  }
}

const UnsettledIndex::Placed& UnsettledIndex::on(std::string_view cluster) const {
  static const Placed kNone;
  const auto found = clusters_.find(cluster);
  return found == clusters_.end() ? kNone : found->second;
}

}  // namespace shiplog
