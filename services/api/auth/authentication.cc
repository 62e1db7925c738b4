#include "services/api/auth/authentication.h"

#include "events/base/base64.h"
#include "services/api/auth/token_signer.h"

namespace shiplog::api {
namespace {

Result<TokenIdentity> identify_bootstrap(const TokenSources& sources, const std::string& id,
                                         const std::string& token_secret) {
  const auto secret = sources.objects->find({type::kSecret, "kube-system", "bootstrap-token-" + id});
  if (!secret || deleting(secret.value())) return Error{ErrorCode::kUnauthorized, "there is no such bootstrap token"};
  TokenIdentity identity;
  SHIPLOG_TRY(identity.user, bootstrap_user(secret.value(), id, token_secret, sources.clock->now()));
  return identity;
}

}  // namespace

std::optional<User> certificate_user(const HttpPeer& peer) {
  if (!peer.certified || peer.common_name.empty()) return std::nullopt;
  User user{peer.common_name, peer.organizations, "", {}};
  if (!in_group(user, kAuthenticatedGroup)) user.groups.emplace_back(kAuthenticatedGroup);
  return user;
}

std::optional<std::string> bearer_token(const HttpRequest& request) {
  const std::string* header = request.headers.find("Authorization");
  constexpr std::string_view kScheme = "Bearer ";
  if (header == nullptr || header->size() <= kScheme.size()) return std::nullopt;
  if (!equal_ignoring_case(std::string_view{*header}.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  const size_t begin = header->find_first_not_of(' ', kScheme.size());
  return begin == std::string::npos ? std::nullopt : std::optional{header->substr(begin)};
}

Result<TokenIdentity> identify(const TokenSources& sources, std::string_view token,
                               const std::vector<std::string>& audiences) {
  if (const auto parts = bootstrap_token_parts(token)) {
    return identify_bootstrap(sources, parts->first, parts->second);
  }
  if (sources.tokens == nullptr) return Error{ErrorCode::kUnauthorized, "this server issues no tokens"};
  SHIPLOG_TRY(const Value claims, sources.tokens->verify(token));
  SHIPLOG_TRY(auto identity, identity_from(claims, sources.clock->now(), audiences));
  for (const TokenObject& needed : identity.depends_on) {
    const auto object = sources.objects->find(needed.key);
    // A Secret without a uid carries the token: another of its name, made later, has another one.
    const bool same = object && (needed.uid.empty() ? object.value()["data"]["token"].str() == base64_encode(token)
                                                    : uid_of(object.value()) == needed.uid);
    if (same && !deleting(object.value())) continue;
    return Error{ErrorCode::kUnauthorized, needed.kind + " " + to_string(needed.key) + " of the token is gone"};
  }
  return identity;
}

}  // namespace shiplog::api
