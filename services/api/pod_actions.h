#pragma once

#include "services/api/pipeline/server.h"

namespace shiplog::api {

/// Answers a request for which is_pod_action() with ServerOptions::pod_actions, which is given the pod as it is now. An
/// upgrade needs the permission to create, also where it begins with GET as WebSocket's do: the permission to read must
/// not run commands.
void serve_pod_action(const ServerPtr& server, const RequestContextPtr& context);

}  // namespace shiplog::api
