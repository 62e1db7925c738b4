#pragma once

#include <string>
#include <vector>

#include "services/api/auth/webhook/access_webhook.h"
#include "services/api/pipeline/async.h"
#include "services/api/pipeline/rejection.h"

// Who a user is and what the user may do, by all that is configured: what the fleet itself knows, and what
// services outside are asked for. Requests and reviews are answered by the same.

namespace shiplog::api {

/// Whose token this is: the fleet's own, or that of an issuer or webhook outside. Continues where it may block. Error:
/// kUnauthorized, with the reasons, for logs and TokenReviews.
awaitable<Result<TokenIdentity>> identify_token(const Server& server, const std::string& token,
                                                const std::vector<std::string>& audiences);

struct AccessDecision {
  bool allowed = false;
  bool denied = false;  ///< by a webhook that has the last word, not only for lack of a permission
  std::string reason;
  std::string failure;  ///< of a webhook that could not be asked, if nothing else allows it
};
/// By RBAC and the authorization webhook, in the order of --authorization-mode; the first one with an opinion decides.
awaitable<AccessDecision> decide_access(const Server& server, const AccessQuestion& question);

/// 403, which is left in the audit trail.
Rejection denied_access(const User& user, const Attributes& wanted, const std::string& reason);

/// 400 for Impersonate headers that cannot be understood, which is left in the audit trail.
Rejection malformed_impersonation(Error error);

/// Who acts as whom, for the log.
void log_impersonation(const User& user, const User& as, const HttpRequest& request);

/// The review with its status: reviews are answered and not stored. Errors: kBadRequest, kInvalid.
awaitable<Result<Value>> answer_review(const Server& server, const RequestContext& context, Value review);

/// authorize() and impersonate() of stages.h where there is an authorization webhook. Error: also kInternal, it could
/// not be asked, and nothing else allows the request.
awaitable<StageResult<std::string>> authorize_with_webhook(const Server& server, const User& user,
                                                           const HttpRequest& request);
awaitable<StageResult<User>> impersonate_with_webhook(const Server& server, const User& user,
                                                      const HttpRequest& request);

/// Whether the user may create what a PUT or PATCH would create. Errors: those of authorize_with_webhook().
awaitable<StageResult<void>> authorize_creation(const Server& server, const RequestContext& context);

}  // namespace shiplog::api
