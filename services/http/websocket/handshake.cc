#include "services/http/websocket/handshake.h"

#include <algorithm>
#include <array>

#include <openssl/evp.h>

#include "events/base/base64.h"
#include "events/base/check.h"

namespace shiplog::websocket {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// The elements of a comma-separated header, which may stand several times.
std::vector<std::string> elements(const HttpRequest& request, std::string_view header) {
  std::vector<std::string> found;
  for (const auto& [name, value] : request.headers.all()) {
    if (!equal_ignoring_case(name, header)) continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view element = trimmed(rest.substr(0, comma));
      if (!element.empty()) found.emplace_back(element);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return found;
}

bool names(const HttpRequest& request, std::string_view header, std::string_view wanted) {
  return std::ranges::any_of(elements(request, header),
                             [&](const std::string& each) { return equal_ignoring_case(each, wanted); });
}

/// RFC 6455 section 1.3: proves that the server speaks WebSocket; it protects nothing.
std::string accept_key(std::string_view key) {
  const std::string text = std::string{key} + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  SHIPLOG_CHECK(EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) == 1,
                "OpenSSL computes SHA-1");
  return base64_encode({reinterpret_cast<const char*>(digest.data()), size});
}

}  // namespace

bool is_upgrade(const HttpRequest& request) {
  return names(request, "Connection", "upgrade") && names(request, "Upgrade", "websocket");
}

std::vector<std::string> offered_protocols(const HttpRequest& request) {
  return elements(request, "Sec-WebSocket-Protocol");
}

Result<HttpHeaders> accept_upgrade(const HttpRequest& request, std::string_view protocol) {
  if (request.method != "GET") {
    return Error{ErrorCode::kMethodNotAllowed, "a WebSocket begins with GET, not with " + request.method};
  }
  if (request.headers.get("Sec-WebSocket-Version") != "13") {
    return Error{ErrorCode::kBadRequest, "the header Sec-WebSocket-Version must be 13"};
  }
  const std::string_view key = request.headers.get("Sec-WebSocket-Key");
  const auto nonce = base64_decode(key);
  if (!nonce || nonce->size() != 16) {
    return Error{ErrorCode::kBadRequest, "the header Sec-WebSocket-Key must be 16 bytes in base64"};
  }
  HttpHeaders headers{{"Upgrade", "websocket"}, {"Sec-WebSocket-Accept", accept_key(key)}};
  if (!protocol.empty()) headers.add("Sec-WebSocket-Protocol", std::string{protocol});
  return headers;
}

}  // namespace shiplog::websocket
