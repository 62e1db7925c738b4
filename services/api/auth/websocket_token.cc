#include "services/api/auth/websocket_token.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "events/base/base64.h"
#include "services/http/websocket/handshake.h"

namespace shiplog::api {
namespace {

constexpr std::string_view kTokenProtocol = "base64url.bearer.authorization.k8s.io.";
constexpr const char* kProtocolHeader = "Sec-WebSocket-Protocol";

Error unreadable(const char* why) { return {ErrorCode::kUnauthorized, why}; }

}  // namespace

Result<void> take_protocol_token(HttpRequest& request) {
  if (!request.headers.contains(kProtocolHeader) || !websocket::is_upgrade(request)) return ok();
  std::optional<std::string> encoded;
  std::string others;
  for (const std::string& protocol : websocket::offered_protocols(request)) {
    if (!protocol.starts_with(kTokenProtocol)) {
      others += (others.empty() ? "" : ", ") + protocol;
    } else if (encoded) {
      return unreadable("several subprotocols of the WebSocket have bearer tokens");
    } else {
      encoded = protocol.substr(kTokenProtocol.size());
    }
  }
  if (!encoded) return ok();
  const auto token = base64url_decode(*encoded);
  const bool printable =
      token && !token->empty() && std::ranges::all_of(*token, [](char c) { return c > ' ' && c < 0x7f; });
  if (!printable) return unreadable("the bearer token in a subprotocol of the WebSocket cannot be read");
  if (others.empty()) return unreadable("a WebSocket with a bearer token must offer another subprotocol besides it");
  request.headers.set(kProtocolHeader, others);
  if (!request.headers.contains("Authorization")) request.headers.add("Authorization", "Bearer " + *token);
  return ok();
}

}  // namespace shiplog::api
