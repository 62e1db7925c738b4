#include "events/base/base64.h"
#include "events/base/json.h"
#include "services/api/selector/selector.h"

namespace shiplog::api {
namespace {

constexpr int64_t kNewest = -1;  // as in Kubernetes' tokens: 0 would be what is missing

}  // namespace

std::string encode(const ContinueToken& token) {
  const int64_t revision = token.revision == Revision{} ? kNewest : static_cast<int64_t>(token.revision.value);
  return base64url_encode(
      to_json(Value::object({{"v", 1}, {"rev", revision}, {"ns", token.ns}, {"name", token.name}})));
}

Result<ContinueToken> parse_continue_token(std::string_view text) {
  const Error invalid{ErrorCode::kBadRequest, "continue key is not valid: it must be one that a list has returned"};
  const auto bytes = text.size() <= 4096 ? base64url_decode(text) : std::nullopt;
  if (!bytes) return invalid;
  const auto json = parse_json(*bytes);
  if (!json) return invalid;
  const Value& value = json.value();
  const int64_t revision = value["rev"].as_int();
  if (value["v"].as_int() != 1 || !value["rev"].is_int() || (revision <= 0 && revision != kNewest)) return invalid;
  if (!value["ns"].is_string() || value["name"].as_string().empty()) return invalid;
  return ContinueToken{revision == kNewest ? Revision{} : Revision{static_cast<uint64_t>(revision)}, value["ns"].str(),
                       value["name"].str()};
}

}  // namespace shiplog::api
