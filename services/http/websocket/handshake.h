#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "services/http/http.h"

namespace shiplog::websocket {

/// Whether the request wants to leave HTTP for WebSocket.
bool is_upgrade(const HttpRequest& request);

/// The subprotocols that the client offers, most wanted first.
std::vector<std::string> offered_protocols(const HttpRequest& request);

/// The headers of the answer 101. `protocol`: the subprotocol that was chosen; empty: none.
/// Errors: kBadRequest, the request is no valid handshake of version 13; kMethodNotAllowed, it is no GET.
Result<HttpHeaders> accept_upgrade(const HttpRequest& request, std::string_view protocol);

}  // namespace shiplog::websocket
