#pragma once

#include <map>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "services/api/auth/rbac/rule.h"

namespace shiplog::api {

/// Which users the tokens of an OpenID Connect issuer are: kube-apiserver's flags --oidc-*.
struct OidcRules {
  std::string issuer;     ///< "https://...": the claim `iss`, to the letter
  std::string client_id;  ///< has to be among the audiences
  std::string username_claim = "sub";
  std::string username_prefix;  ///< before every name
  std::string groups_claim;     ///< empty: there are no groups
  std::string groups_prefix;
  std::map<std::string, std::string> required_claims;
  std::vector<std::string> signing_algorithms{"RS256"};
};

/// --oidc-username-prefix as it is meant: empty is "ISSUER#", except for the claim `email`; "-" is no prefix.
std::string username_prefix(const std::string& flag, const std::string& username_claim, const std::string& issuer);

/// The user in the claims of a token that is this issuer's (its signature is verified elsewhere). Error: kUnauthorized,
/// with the cause: expired, not valid yet, for another audience, without a claim that is needed; and a name or a group
/// that begins with "system:", which only this control plane gives out.
Result<User> user_from(const OidcRules& rules, const Value& claims, UtcMillis now);

}  // namespace shiplog::api
