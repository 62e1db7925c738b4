#pragma once

#include <string_view>

#include "services/api/pipeline/server.h"

namespace shiplog::api {

/// What only the node of a pod can do: log, exec, attach, portforward.
inline bool is_pod_action(std::string_view type, std::string_view subresource) {
  return type == "pods" &&
         (subresource == "log" || subresource == "exec" || subresource == "attach" || subresource == "portforward");
}

/// Answers such a request with ServerOptions::pod_actions, which is given the pod as it is now. An upgrade needs the
/// permission to create, also where it begins with GET as WebSocket's do: the permission to read must not run commands.
void serve_pod_action(const ServerPtr& server, const RequestContextPtr& context);

}  // namespace shiplog::api
