#include "services/api/auth/oidc/oidc_authenticator.h"

#include <algorithm>
#include <utility>

namespace shiplog::api {
namespace {

Error not_genuine(const std::string& why) {
  return {ErrorCode::kUnauthorized, "no key of the issuer has signed the token" + why};
}

}  // namespace

OidcAuthenticator::OidcAuthenticator(OidcRules rules, std::shared_ptr<IssuerKeys> keys, const Clock& clock)
    : rules_{std::move(rules)}, keys_{std::move(keys)}, clock_{clock} {
  keys_->refresh([](const Result<IssuerKeys::Keys>&) {});
}

void OidcAuthenticator::authenticate(const std::string& token, const std::vector<std::string>& audiences, Done done) {
  // An ID token names its client, not this server: it is good for the API itself, as in kube-apiserver.
  if (std::ranges::find(audiences, kTokenIssuer) == audiences.end()) return done(std::nullopt);
  auto parsed = parse_web_token(token);
  if (!parsed || parsed.value().claims["iss"].as_string() != rules_.issuer) return done(std::nullopt);
  if (std::ranges::find(rules_.signing_algorithms, parsed.value().algorithm()) == rules_.signing_algorithms.end()) {
    return done(Error{ErrorCode::kUnauthorized,
                      "the token is signed with an algorithm that --oidc-signing-algs does not allow"});
  }
  // First, since it costs nothing: a token that will not do is no reason to call the issuer.
  auto user = user_from(rules_, parsed.value().claims, clock_.now());
  if (!user) return done(user.error());
  TokenIdentity identity{.user = std::move(user).value(), .depends_on = {}, .audiences = {kTokenIssuer}};
  const IssuerKeys::Keys known = keys_->known();
  if (known != nullptr && known->has_signed(parsed.value())) return done(std::optional{std::move(identity)});
  // The issuer may have a new key.
  keys_->refresh([token = std::move(parsed).value(), identity = std::move(identity), had_keys = known != nullptr,
                  done = std::move(done)](const Result<IssuerKeys::Keys>& keys) mutable {
    if (!keys && !had_keys) return done(Error{ErrorCode::kUnavailable, keys.error().message});
    if (!keys) return done(not_genuine(" (" + keys.error().message + ")"));
    if (!keys.value()->has_signed(token)) return done(not_genuine(""));
    done(std::optional{std::move(identity)});
  });
}

}  // namespace shiplog::api
