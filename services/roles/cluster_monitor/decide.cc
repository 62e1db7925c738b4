#include "services/roles/cluster_monitor/decide.h"

#include <utility>

#include "events/state/object.h"

namespace shiplog::cluster_monitor {
namespace {

constexpr const char* kReady = "Ready";

bool is_monitored(const Cluster* cluster) { return cluster != nullptr && cluster->sync_mode == "Pull"; }

/// A cluster of which nothing was ever posted has its time from the creation on; a Lease that is renewed shows that the
/// agent lives (1.13.5).
UtcMillis alive_until(const Value& object, const AgentHeartbeat& heartbeat, const Periods& periods) {
  if (heartbeat.signs.ready) return heartbeat.seen + periods.grace;
  const auto created = parse_rfc3339(object["metadata"]["creationTimestamp"].as_string());
  if (heartbeat.renewed || !created) return heartbeat.seen + periods.startup_grace;
  return created.value() + periods.startup_grace;
}

}  // namespace

Signs signs_of(const Cluster& cluster, const Value& lease) {
  Signs signs;
  if (const Cluster::Condition* ready = cluster.condition(kReady)) signs.ready = *ready;
  signs.renew_time = lease["spec"]["renewTime"].str();
  return signs;
}

AgentHeartbeat observed(const std::optional<AgentHeartbeat>& before, Signs signs, UtcMillis now) {
  if (!before) return {std::move(signs), now, false};
  if (before->signs == signs) return *before;
  // Strings of one format and zone: the later time is the greater text.
  const bool renewed = signs.renew_time > before->signs.renew_time;
  const bool posted = signs.ready != before->signs.ready;
  return {std::move(signs), renewed || posted ? now : before->seen, renewed || before->renewed};
}

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now, const AgentHeartbeat& heartbeat,
                       const Periods& periods) {
  const Cluster* cluster = key.type == type::kCluster ? state.cluster(key.name) : nullptr;
  if (!is_monitored(cluster)) return Nothing{};
  const UtcMillis look_again = now + periods.monitor;
  const Cluster::Condition* ready = cluster->condition(kReady);
  const bool silent = now > alive_until(state.value_of(key), heartbeat, periods);
  if (!silent || (ready != nullptr && ready->status == "Unknown")) return LookAgain{look_again};
  Decision decision;
  decision.events.push_back(ready == nullptr
                                ? ClusterConditionChanged{key, kReady, "Unknown", "ClusterStatusNeverUpdated",
                                                          "Cluster status controller never posted cluster status."}
                                : ClusterConditionChanged{key, kReady, "Unknown", "ClusterStatusUnknown",
                                                          "Cluster status controller stopped posting cluster status."});
  decision.expects.push_back({key, state.revision_of(key)});
  decision.look_again = look_again;
  return decision;
}

}  // namespace shiplog::cluster_monitor
