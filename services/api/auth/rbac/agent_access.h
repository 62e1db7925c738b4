#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/base/error.h"
#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/event.h"
#include "events/state/state.h"
#include "services/api/auth/rbac/rule.h"

/// What the agents of Pull clusters may do, and what one becomes an agent with
/// (docs/decisions/0094-agent-identities.md).
namespace shiplog::api {

/// The roles and bindings by which a cluster registers (9.2.3), with less than upstream's for the RBAC generator. Of a
/// control plane, not of a member.
const std::vector<std::pair<ObjectKey, Value>>& agent_bootstrap_access();
/// Creates those of them that the state lacks.
std::vector<Event> missing_agent_access(const State& state);

/// The Clusters that there are, and their spec.id.
using ClusterIds = std::map<std::string, std::string, std::less<>>;

/// Why an agent may not, whatever its roles permit; empty: they decide, as for any other user. Of Works, Leases,
/// Secrets and Clusters an agent has only those of its own cluster.
std::string beyond_agent(const User& user, const Attributes& wanted);

/// The same, where it depends on the object. The RBAC generator creates and deletes exactly the roles that agents have,
/// and their execution namespaces, of clusters that are not registered. nullopt: it is another user, or may.
/// `old`: null on create. `object`: null on delete. Error: kForbidden.
std::optional<Error> refuse_agent_write(const ClusterIds& clusters, const User& user, const ObjectKey& key,
                                        const Value& old, const Value& object);

/// The user is the RBAC generator: refuse_agent_write() says which roles it writes, instead of escalation().
bool is_rbac_generator(const User& user);

}  // namespace shiplog::api
