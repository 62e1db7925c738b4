#pragma once

#include "services/api/auth/authorization.h"
#include "services/cel/library/authorizer.h"

namespace shiplog::api {

/// Answers expressions from the stored roles: what the user of the request may do, or a service account that the
/// expression names. An authorization webhook is not asked: an expression must not wait.
class RequestAuthorizer final : public cel::CelAuthorizer {
 public:
  /// `access`: nullptr if only system:masters may do anything; else it outlives this.
  RequestAuthorizer(const Access* access, User user) : access_{access}, user_{std::move(user)} {}
  cel::CelAccessAnswer decide(const cel::CelAccessQuestion& question) const override;

 private:
  const Access* access_;
  User user_;
};

}  // namespace shiplog::api
