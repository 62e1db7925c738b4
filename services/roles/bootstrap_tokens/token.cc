#include "services/roles/bootstrap_tokens/token.h"

#include <algorithm>
#include <string_view>

#include "events/base/base64.h"
#include "events/state/object.h"

namespace shiplog::bootstrap_tokens {
namespace {

constexpr std::string_view kNamePrefix = "bootstrap-token-";
constexpr size_t kIdSize = 6;
constexpr size_t kSecretSize = 16;

bool has_form(std::string_view text, size_t size) {
  return text.size() == size &&
         std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

}  // namespace

bool is_token_secret(const ObjectKey& key, const Value& secret) {
  return key.type == type::kSecret && key.ns == "kube-system" && key.name.starts_with(kNamePrefix) &&
         secret["type"].as_string() == "bootstrap.kubernetes.io/token";
}

std::optional<TokenSecret> token_from(const ObjectKey& key, const Value& opened) {
  const auto field = [&](const char* name) {
    return base64_decode(opened["data"][name].as_string()).value_or(std::string{});
  };
  TokenSecret token{.id = field("token-id"), .secret = field("token-secret"), .signs = {}, .expires = {}};
  if (!has_form(token.id, kIdSize) || !has_form(token.secret, kSecretSize)) return std::nullopt;
  if (std::string_view{key.name}.substr(kNamePrefix.size()) != token.id) return std::nullopt;
  token.signs = field("usage-bootstrap-signing") == "true";
  if (const std::string expiration = field("expiration"); !expiration.empty()) {
    const auto time = parse_rfc3339(expiration);
    token.expires = time ? time.value() : UtcMillis{};
  }
  return token;
}

}  // namespace shiplog::bootstrap_tokens
