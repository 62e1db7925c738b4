#pragma once

#include <memory>
#include <string>
#include <vector>

#include "events/base/time.h"
#include "services/api/auth/oidc/issuer_keys.h"
#include "services/api/auth/oidc/oidc_rules.h"
#include "services/api/auth/token_authenticator.h"

namespace shiplog::api {

/// The users of an OpenID Connect issuer, by their ID tokens. Threads: any.
class OidcAuthenticator final : public TokenAuthenticator {
 public:
  /// `clock` outlives it. The keys are fetched at once, in the background.
  OidcAuthenticator(OidcRules rules, std::shared_ptr<IssuerKeys> keys, const Clock& clock);

  void authenticate(const std::string& token, const std::vector<std::string>& audiences, Done done) override;

 private:
  const OidcRules rules_;
  const std::shared_ptr<IssuerKeys> keys_;
  const Clock& clock_;
};

}  // namespace shiplog::api
