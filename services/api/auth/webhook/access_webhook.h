#pragma once

#include <functional>
#include <memory>
#include <string>

#include "services/api/auth/rbac/rule.h"
#include "services/api/auth/webhook/cache_key.h"
#include "services/api/auth/webhook/expiring_cache.h"
#include "services/api/auth/webhook/review_client.h"

namespace shiplog::api {

/// Whether a user may do something.
struct AccessQuestion {
  User user;
  Attributes wanted;
  std::string version;  ///< of the resource's API; may be empty
};

/// What a webhook answers. Without an opinion the next authorizer is asked.
struct WebhookVerdict {
  enum class Kind { kNoOpinion, kAllowed, kDenied };
  Kind kind = Kind::kNoOpinion;
  std::string reason;
};

/// The SubjectAccessReview to send; `version`: "v1" or "v1beta1".
Value access_review(const std::string& version, const AccessQuestion& question);
/// Error: kUnavailable, it is no SubjectAccessReview of this version.
Result<WebhookVerdict> verdict_in_review(const Value& answer, const std::string& version);

/// Asks a webhook for permission. Verdicts are kept for a while; that it could not be asked is not. Threads: any.
class AccessWebhook {
 public:
  struct Options {
    std::string version = "v1beta1";
    Millis keep_allowed{300'000};
    Millis keep_refused{30'000};  ///< denied, and no opinion
    std::function<Millis()> now;  ///< a clock that is never set back
  };
  AccessWebhook(Options options, std::shared_ptr<ReviewClient> client, Random& random);
  ~AccessWebhook();
  AccessWebhook(const AccessWebhook&) = delete;
  AccessWebhook& operator=(const AccessWebhook&) = delete;

  using Done = std::function<void(Result<WebhookVerdict>)>;
  /// `done` is called once, within the call or later on another thread, and must not block. Error: it could not be
  /// asked.
  void decide(const AccessQuestion& question, Done done) const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace shiplog::api
