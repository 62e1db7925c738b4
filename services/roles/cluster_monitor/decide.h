#pragma once

#include <optional>
#include <string>

#include "events/decision.h"
#include "events/state/cluster.h"

namespace shiplog::cluster_monitor {

/// Upstream's options, with its defaults.
struct Periods {
  Millis monitor{5'000};         ///< --cluster-monitor-period
  Millis grace{40'000};          ///< --cluster-monitor-grace-period
  Millis startup_grace{60'000};  ///< --cluster-startup-grace-period
};

/// What shows that an agent lives, as it is now.
struct Signs {
  std::optional<Cluster::Condition> ready;  ///< of the Cluster's status, which the agent posts
  std::string renew_time;                   ///< of its Lease, which is in the ephemera; empty: there is none
  bool operator==(const Signs&) const = default;
};

/// When they last moved forward. Memory of the process that acts: it begins anew with each (1.13.3).
struct AgentHeartbeat {
  Signs signs;
  UtcMillis seen;        ///< the probe time
  bool renewed = false;  ///< the Lease, since this process acts
  bool operator==(const AgentHeartbeat&) const = default;
};

Signs signs_of(const Cluster& cluster, const Value& lease);

/// `before`: nullopt when the cluster is seen for the first time.
AgentHeartbeat observed(const std::optional<AgentHeartbeat>& before, Signs signs, UtcMillis now);

/// Sets the condition Ready of a Pull cluster to Unknown when its agent has not been heard of for the grace period
/// (1.13). Pure. Push clusters are left alone: their condition is what the collector finds out.
///
/// - Owns: Ready=Unknown of Pull clusters, and no other condition or field of the status.
/// - Trigger: every 5 seconds, and a change of the Cluster.
/// - Failures: none of its own.
///
///   agent posts status or renews its Lease ──► probe time moves forward
///   no sign for 40 s (60 s after the creation, if there never was a status) ──► Ready=Unknown ──agent posts──► True
///
/// The times are those of `periods` by default.
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now, const AgentHeartbeat& heartbeat,
                       const Periods& periods = {});

}  // namespace shiplog::cluster_monitor
