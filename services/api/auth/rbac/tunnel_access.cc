#include "services/api/auth/rbac/tunnel_access.h"

#include "events/state/agent_identity.h"

namespace shiplog::api {

std::optional<std::string> tunnel_of(std::string_view path) {
  constexpr std::string_view kTunnels = "/shiplog/v1/tunnels/";
  if (!path.starts_with(kTunnels)) return std::nullopt;
  path.remove_prefix(kTunnels.size());
  if (path.empty() || path.find('/') != std::string_view::npos) return std::nullopt;
  return std::string{path};
}

bool may_open_tunnel(const User& user, const std::string& cluster) {
  return agent_identity::cluster_of(user.name) == cluster && in_group(user, agent_identity::kGroup);
}

}  // namespace shiplog::api
