#include "services/api/auth/oidc/web_token.h"

#include <optional>
#include <utility>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "services/api/auth/token_authenticator.h"

namespace shiplog::api {
namespace {

Error malformed(const char* why) {
  return {ErrorCode::kUnauthorized, std::string{"the token is no JSON web token: "} + why};
}

/// The JSON object in one part; nullopt: there is none.
std::optional<Value> object_in(std::string_view part) {
  const auto text = base64url_decode(part);
  if (!text) return std::nullopt;
  auto object = parse_json(*text);
  if (!object || !object.value().is_object()) return std::nullopt;
  return std::move(object).value();
}

}  // namespace

Result<WebToken> parse_web_token(std::string_view text) {
  if (text.size() > kMostTokenBytes) return malformed("it is too long");
  const size_t first = text.find('.');
  const size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos || text.find('.', second + 1) != std::string_view::npos) {
    return malformed("it has not three parts");
  }
  auto header = object_in(text.substr(0, first));
  if (!header) return malformed("its header is no JSON object in base64url");
  auto claims = object_in(text.substr(first + 1, second - first - 1));
  if (!claims) return malformed("its claims are no JSON object in base64url");
  auto signature = base64url_decode(text.substr(second + 1));
  if (!signature) return malformed("its signature is not base64url");
  return WebToken{*std::move(header), *std::move(claims), std::string{text.substr(0, second)}, *std::move(signature)};
}

}  // namespace shiplog::api
