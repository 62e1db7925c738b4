#pragma once

#include "services/programs/member/pod_forward.h"

namespace shiplog::member {

/// The older way to forward ports over a WebSocket: the query names the ports, and each has a channel for data (2 N)
/// and one for an error (2 N + 1), on which the number of the port comes first. One connection for each port.
void open_websocket_forward(const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer, ForwardedPod pod,
                            PodSessions& sessions);

}  // namespace shiplog::member
