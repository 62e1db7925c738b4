#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "events/state/rbac.h"

/// The identities of the agents of Pull clusters. Source: rules 1.7.7 to 1.7.9.
namespace shiplog::agent_identity {

inline constexpr std::string_view kUserPrefix = "system:karmada:agent:";
inline constexpr const char* kGroup = "system:karmada:agents";
/// Whom `register` acts as while it makes the roles of a new cluster's agent.
inline constexpr const char* kRbacGenerator = "system:karmada:agent:rbac-generator";
inline constexpr const char* kTokenGroup = "system:bootstrappers:karmada:default-cluster-token";

/// The user that the agent of a cluster is.
std::string user_of(std::string_view cluster);
/// "m1" of "system:karmada:agent:m1"; nullopt: it is no agent, or it is the RBAC generator.
std::optional<std::string> cluster_of(std::string_view user);

/// "system:karmada:m1:agent": the ClusterRole of a cluster's agent, and its binding.
std::string cluster_role_of(std::string_view cluster);
/// "system:karmada:m1:agent-secret": its Role in the namespace of the clusters' Secrets, and its binding.
std::string secret_role_of(std::string_view cluster);
/// "system:karmada:m1:agent-work": its Role in its execution namespace, and its binding.
std::string work_role_of(std::string_view cluster);
/// The cluster in any of these three names; nullopt: it is none of them.
std::optional<std::string> cluster_of_role(std::string_view role);

/// What these roles permit (1.7.9).
rbac::Rules cluster_rules(const std::string& cluster);
rbac::Rules secret_rules(const std::string& cluster);
rbac::Rules work_rules();

}  // namespace shiplog::agent_identity
