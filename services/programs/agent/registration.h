#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "events/base/time.h"
#include "events/base/value.h"
#include "services/programs/agent/options.h"

namespace shiplog::agent {

// What the agent writes about its member besides its status. Pure.

/// The member, as the Cluster describes it (1.11.2). `id`: the uid of its namespace kube-system.
struct MemberDescription {
  std::string id, api_endpoint;
  bool insecure = false;
  bool has_secret = false, has_impersonator = false;  ///< Secrets of these purposes are there, to be referred to
};

Value new_cluster(const AgentOptions& options, const MemberDescription& member);

/// The Cluster as it should be; nullopt: it is. Fields of empty options stay as they are.
std::optional<Value> updated_cluster(const Value& cluster, const AgentOptions& options,
                                     const MemberDescription& member);

/// The reference by which the Cluster owns the Secrets of its member, so that they are removed with it (1.4.2).
Value owner_of_secrets(const Value& cluster);

/// The Lease of a living agent (1.16.1). `before` null: there is none.
Value renewed_lease(const Value& before, const Value& cluster, const AgentOptions& options, UtcMillis now);

}  // namespace shiplog::agent
