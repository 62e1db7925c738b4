#pragma once

#include "services/programs/member/streams/command_streams.h"

namespace shiplog::member {

/// exec and attach over WebSocket: each message begins with the number of its channel. Subprotocols: v5, v4 and v1 of
/// channel.k8s.io, and the base64 forms of v4 and v1. `ready` is called 50 ms after the handshake, and nothing is sent
/// before.
void open_websocket_command(const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer,
                            StreamChoice choice, Executor& executor, CommandReady ready);

}  // namespace shiplog::member
