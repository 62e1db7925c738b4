#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "services/api/auth/claims.h"
#include "services/api/stored_objects.h"
#include "services/http/http.h"

namespace shiplog::api {

class TokenSigner;

/// What bearer tokens are verified against.
struct TokenSources {
  const StoredObjects* objects = nullptr;
  const TokenSigner* tokens = nullptr;  ///< nullptr: no service account tokens are accepted
  const Clock* clock = nullptr;
};

/// The user whom a verified client certificate names (AUTHN-2, AUTHN-3); nullopt: there is none.
std::optional<User> certificate_user(const HttpPeer& peer);

/// The text of the Authorization header behind "Bearer "; nullopt: there is no such header, or another scheme.
std::optional<std::string> bearer_token(const HttpRequest& request);

/// Whose token this is (AUTHN-4, AUTHN-6). `audiences`: any one of them will do. Blocks on the projection.
/// Error: kUnauthorized, with the reason, for logs and TokenReviews.
Result<TokenIdentity> identify(const TokenSources& sources, std::string_view token,
                               const std::vector<std::string>& audiences);

}  // namespace shiplog::api
