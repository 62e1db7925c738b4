#include "events/base/base64.h"
#include "events/base/json.h"
#include "services/api/selector/selector.h"

namespace shiplog::api {
std::string encode(const ContinueToken& token) {
  return base64url_encode(to_json(Value::object(
      {{"v", 1}, {"rev", static_cast<int64_t>(token.revision.value)}, {"ns", token.ns}, {"name", token.name}})));
}

Result<ContinueToken> parse_continue_token(std::string_view text) {
  const Error invalid{ErrorCode::kBadRequest, "continue key is not valid: it must be one that a list has returned"};
  const auto bytes = text.size() <= 4096 ? base64url_decode(text) : std::nullopt;
  if (!bytes) return invalid;
  const auto json = parse_json(*bytes);
  if (!json) return invalid;
  const Value& value = json.value();
  if (value["v"].as_int() != 1 || !value["rev"].is_int() || value["rev"].as_int() <= 0) return invalid;
  if (!value["ns"].is_string() || value["name"].as_string().empty()) return invalid;
  return ContinueToken{Revision{static_cast<uint64_t>(value["rev"].as_int())}, value["ns"].str(), value["name"].str()};
}

}  // namespace shiplog::api
