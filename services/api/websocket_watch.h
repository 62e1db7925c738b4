#pragma once

#include <memory>

#include "events/base/result.h"
#include "services/http/http.h"
#include "services/http/server.h"

namespace shiplog::api {

/// The response to a watch that is asked for over a WebSocket: browsers cannot read a streamed body, and fabric8's
/// client for Java asks for a WebSocket first. start() completes the handshake, each line that is written becomes a
/// text message, end() closes. What the client sends is read and ignored. Errors: kBadRequest, no valid handshake.
/// Source: W-18; ServeHTTP of apiserver's WatchServer, which echoes a subprotocol if exactly one is offered.
Result<std::shared_ptr<ResponseWriter>> websocket_watch(const HttpRequest& request,
                                                        std::shared_ptr<ResponseWriter> writer);

}  // namespace shiplog::api
