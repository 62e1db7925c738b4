#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "services/api/auth/rbac/rule.h"

namespace shiplog::api {

/// The issuer of the fleet's tokens, and their audience when the request names none (AUTHN-4).
inline constexpr const char* kTokenIssuer = "https://kubernetes.default.svc.cluster.local";

/// Names an object that a token depends on.
struct TokenObject {
  std::string kind;  ///< "ServiceAccount", "Pod", "Secret", "Node"
  ObjectKey key;
  std::string uid;  ///< empty: of a Secret that carries the token itself
};

/// The content of a token.
struct TokenTerms {
  TokenObject account;
  std::optional<TokenObject> bound;  ///< the token ends with this object
  std::vector<std::string> audiences;
  UtcMillis issued;
  int64_t seconds = 3600;
  std::string id;
};
Value claims_of(const TokenTerms& terms);
/// Of a token that lasts as long as its account and the Secret that carries it.
Value lasting_claims_of(const TokenObject& account, const std::string& secret);

/// The identity in valid claims.
struct TokenIdentity {
  User user;
  std::vector<TokenObject> depends_on;  ///< valid only while each of these exists with this uid
  std::vector<std::string> audiences;   ///< those of the wanted ones that the token is for
};
/// Checks issuer, times and audiences of a signed token's claims, and returns their user. `audiences`: any one of them
/// will do. Error: kUnauthorized, with the cause.
Result<TokenIdentity> identity_from(const Value& claims, UtcMillis now, const std::vector<std::string>& audiences);

/// AUTHN-6: {id, secret} of a bootstrap token; nullopt: it has not that form.
std::optional<std::pair<std::string, std::string>> bootstrap_token_parts(std::string_view token);
/// The user of a bootstrap token with this secret part, by its Secret. Error: kUnauthorized, with the cause.
Result<User> bootstrap_user(const Value& secret, const std::string& id, const std::string& token_secret, UtcMillis now);

/// authentication.k8s.io UserInfo; empty fields are left out.
Value user_info(const User& user);

}  // namespace shiplog::api
