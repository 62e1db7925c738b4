#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "services/api/auth/token_authenticator.h"
#include "services/api/auth/webhook/cache_key.h"
#include "services/api/auth/webhook/expiring_cache.h"
#include "services/api/auth/webhook/review_client.h"

namespace shiplog::api {

/// The TokenReview to send; `version`: "v1" or "v1beta1".
Value token_review(const std::string& version, const std::string& token, const std::vector<std::string>& audiences);
/// What the answer says. nullopt: the webhook does not know the token. Error: kUnauthorized, the webhook reports an
/// error; kUnavailable, it is no TokenReview of this version.
Result<std::optional<TokenIdentity>> identity_in_review(const Value& answer, const std::string& version,
                                                        const std::vector<std::string>& audiences);

/// Asks a webhook whose tokens these are. What it answers, also that it does not know one, is kept for a while; that it
/// could not be asked is not. Requests with the same token wait for one call. Threads: any.
class TokenWebhook final : public TokenAuthenticator {
 public:
  struct Options {
    std::string version = "v1beta1";
    Millis keep{120'000};
    std::function<Millis()> now;  ///< a clock that is never set back
  };
  TokenWebhook(Options options, std::shared_ptr<ReviewClient> client, Random& random);
  ~TokenWebhook() override;

  void authenticate(const std::string& token, const std::vector<std::string>& audiences, Done done) override;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace shiplog::api
