#pragma once

#include <functional>
#include <string>
#include <vector>

#include "services/api/auth/claims.h"
#include "services/api/auth/rbac/attributes.h"
#include "services/api/auth/rbac/policy.h"
#include "services/api/context.h"

namespace shiplog::api {

/// Finds out who sent a request (client certificate, bearer token, or nobody), who they want to be treated as, and
/// whether they may do what they ask for; then goes on, here or on a worker thread. Else answers 401 or 403.
void admit_request(const ServerPtr& server, const ContextPtr& context, std::function<void()> then);

/// The permission itself, without an answer: what a review asks. Threads: any.
RbacPolicy::Decision decide(const Server& server, const User& user, const Attributes& wanted);

/// Whose token this is (AUTHN-4, AUTHN-6). `audiences`: any one of them will do. Blocks on the projection.
/// Error: kUnauthorized, saying why, for logs and TokenReviews.
Result<TokenIdentity> identify(Server& server, std::string_view token, const std::vector<std::string>& audiences);

/// Answers a request for one of the kinds that are asked and not stored (AUTHZ-7, AUTHZ-8).
void serve_review(const ServerPtr& server, const ContextPtr& context);

/// Answers POST .../serviceaccounts/NAME/token (AUTHN-5).
void serve_token_request(const ServerPtr& server, const ContextPtr& context);

/// What can only be said with the object at hand: a role or binding that would hand out more than its author holds
/// (AUTHZ-5), a field that only the control plane writes (rbac/owned_kinds.h), or a patch that would create without the
/// permission to. `old`: null when there is none.
std::optional<Error> refuse_write(const Server& server, const Context& context, const ObjectKey& key, const Value& old,
                                  const Value& object);
/// The same of a deletion.
std::optional<Error> refuse_deletion(const Server& server, const Context& context, const ObjectKey& key,
                                     const Value& old);

}  // namespace shiplog::api
