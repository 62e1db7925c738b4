#include <array>

#include "events/base/json.h"
#include "services/api/selector/selector.h"

namespace shiplog::api {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string base64url(std::string_view bytes) {
  std::string text;
  uint32_t bits = 0;
  int count = 0;
  for (const char byte : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(byte);
    for (count += 8; count >= 6; count -= 6) text += kAlphabet[(bits >> (count - 6)) & 63];
  }
  if (count > 0) text += kAlphabet[(bits << (6 - count)) & 63];
  return text;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>((bits >> count) & 255);
    }
  }
  return bytes;
}

}  // namespace

std::string encode(const ContinueToken& token) {
  return base64url(to_json(Value::object(
      {{"v", 1}, {"rev", static_cast<int64_t>(token.revision.value)}, {"ns", token.ns}, {"name", token.name}})));
}

Result<ContinueToken> parse_continue_token(std::string_view text) {
  const Error invalid{ErrorCode::kBadRequest, "continue key is not valid: it must be one that a list has returned"};
  const auto bytes = text.size() <= 4096 ? from_base64url(text) : std::nullopt;
  if (!bytes) return invalid;
  const auto json = parse_json(*bytes);
  if (!json) return invalid;
  const Value& value = json.value();
  if (value["v"].as_int() != 1 || !value["rev"].is_int() || value["rev"].as_int() <= 0) return invalid;
  if (!value["ns"].is_string() || value["name"].as_string().empty()) return invalid;
  return ContinueToken{Revision{static_cast<uint64_t>(value["rev"].as_int())}, value["ns"].str(), value["name"].str()};
}

}  // namespace shiplog::api
