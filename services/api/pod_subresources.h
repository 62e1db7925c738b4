#pragma once

#include <string_view>

namespace shiplog::api {

/// What only the node of a pod can do: log, exec, attach, portforward.
inline bool is_pod_action(std::string_view type, std::string_view subresource) {
  return type == "pods" &&
         (subresource == "log" || subresource == "exec" || subresource == "attach" || subresource == "portforward");
}

/// Where `kubectl debug` adds a container to a pod.
constexpr std::string_view kEphemeralContainers = "ephemeralcontainers";
/// Where the resources of a pod's containers change.
constexpr std::string_view kPodResize = "resize";

}  // namespace shiplog::api
