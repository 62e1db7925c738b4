#pragma once

#include <string>

#include "events/kinds/kinds.h"
#include "services/api/auth/authentication.h"

namespace shiplog::api {

class Access;

/// What the answers to reviews are computed from.
struct ReviewSources {
  const Access* access = nullptr;  ///< nullptr: only system:masters may do anything
  TokenSources tokens;
};

/// Which kind of review is requested, by which user and in which namespace.
struct ReviewQuestion {
  const Kind* kind = nullptr;
  User user;
  std::string ns;
};

/// The review with its status: one of the kinds that are answered and not stored (AUTHZ-7, AUTHZ-8). Blocks on the
/// projection. Errors: kBadRequest, kInvalid.
Result<Value> answer_review(const ReviewSources& sources, const ReviewQuestion& question, Value review);

}  // namespace shiplog::api
