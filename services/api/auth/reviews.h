#pragma once

#include <string>
#include <vector>

#include "events/kinds/kinds.h"
#include "services/api/auth/authentication.h"
#include "services/api/auth/webhook/access_webhook.h"

namespace shiplog::api {

class Access;

/// Which kind of review is requested, by which user and in which namespace.
struct ReviewQuestion {
  const Kind* kind = nullptr;
  User user;
  std::string ns;
};

// The parts of answering a review: one of the kinds that are answered and not stored (AUTHZ-7, AUTHZ-8).

/// What an access review of any kind asks; completes `review`. Error: kInvalid.
Result<AccessQuestion> access_question(const ReviewQuestion& question, Value& review);

/// What a TokenReview asks.
struct TokenQuestion {
  std::string token;
  std::vector<std::string> audiences;
};
/// Error: kBadRequest.
Result<TokenQuestion> token_question(const Value& review);
/// The status of a TokenReview.
Value token_status(const Result<TokenIdentity>& identity);

/// A SelfSubjectRulesReview with its status. `access`: nullptr if only system:masters may do anything. Error:
/// kBadRequest.
Result<Value> review_rules(const Access* access, const ReviewQuestion& question, Value review);

}  // namespace shiplog::api
