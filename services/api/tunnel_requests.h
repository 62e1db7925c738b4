#pragma once

#include "services/api/pipeline/server.h"

namespace shiplog::api {

/// A request of an agent, which may open tunnels (auth/rbac/tunnel_access.h): upgrades the connection, if its cluster
/// is a pull member, and leaves it to ServerOptions::tunnels. Answers the request.
void serve_tunnel_request(const ServerPtr& server, const RequestContextPtr& context);

}  // namespace shiplog::api
