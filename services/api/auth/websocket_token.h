#pragma once

#include "events/base/result.h"
#include "services/http/http.h"

namespace shiplog::api {

/// A page in a browser cannot add an Authorization header to a WebSocket. It sends its bearer token as a subprotocol
/// instead (AUTHN-10): "base64url.bearer.authorization.k8s.io." and the token in base64url, beside another one that the
/// server can choose. Moves the token into the Authorization header, unless there is one, so that it is neither echoed
/// nor passed on to a member. Error: kUnauthorized, it cannot be read.
/// Source: k8s.io/apiserver/pkg/authentication/request/websocket/protocol.go.
Result<void> take_protocol_token(HttpRequest& request);

}  // namespace shiplog::api
