#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "services/api/auth/rbac/rule.h"

namespace shiplog::api {

/// The cluster of "/shiplog/v1/tunnels/NAME", where its agent opens tunnels to it (services/http/tunnel.h); nullopt: it
/// is another path.
std::optional<std::string> tunnel_of(std::string_view path);

/// Only the agent of the cluster: the process at the end of a tunnel receives what users send to the member, so no role
/// grants this.
bool may_open_tunnel(const User& user, const std::string& cluster);

}  // namespace shiplog::api
