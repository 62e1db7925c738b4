#pragma once

#include <vector>

#include "services/api/pipeline/async.h"
#include "services/api/pipeline/write_request.h"

// The stages of a request, in their order. Each makes a value of a value; none calls another one.
namespace shiplog::api {

/// The requester, by client certificate or bearer token, or anonymous (AUTHN-2 to AUTHN-9). Error: kUnauthorized.
awaitable<StageResult<User>> authenticate(const Server& server, const HttpRequest& request);

/// The user that the request is carried out as: another one if the Impersonate headers name it and `user` may act as it
/// (AUTHZ-9). Errors: kForbidden; kBadRequest, also if nothing can have such a path.
StageResult<User> impersonate(const Server& server, const User& user, const HttpRequest& request);
/// Whether `user` is permitted to send the request (AUTHZ-1): what permits it, which may be empty. Error: kForbidden.
StageResult<std::string> authorize(const Server& server, const User& user, const HttpRequest& request);

/// Error: kMethodNotAllowed, the request would write.
StageResult<void> check_read_only(const HttpRequest& request, const PastPath& past);
/// The past that the request reads, if `user` had the permission then. Blocks. Errors: kBadRequest, nothing is kept of
/// that moment; kForbidden.
StageResult<std::shared_ptr<const PastView>> enter_past(const Server& server, const User& user,
                                                        const HttpRequest& request, const PastPath& path);

/// The writer, which occupies a slot of the server until the client has received the answer. Error: kTooManyRequests.
StageResult<std::shared_ptr<ResponseWriter>> limit(const Server& server, const User& user, const HttpRequest& request,
                                                   std::shared_ptr<ResponseWriter> writer);
/// A place among the large requests, for one of so many bytes; nullptr: it is not large. Error: kTooManyRequests.
StageResult<LargeRequests::Permit> limit_large(const Server& server, const User& user, size_t bytes);

/// The resource that the path names, the verb and the form of the answer. `kind` is nullptr for a resource that is not
/// among `kinds`. Errors: kNotFound, kMethodNotAllowed, kNotAcceptable, kBadRequest.
StageResult<RequestTarget> resolve(const Server& server, std::shared_ptr<const Kinds> kinds, const HttpRequest& request,
                                   const std::string& body);

/// The write that the body stands for. Errors: kBadRequest, kInvalid, kUnsupportedMediaType, kMethodNotAllowed.
StageResult<WriteRequest> decode(const Server& server, const RequestContext& context, const std::string& body);

/// The current object, or why there is none (kNotFound, kMethodNotAllowed for a view, kCorrupt).
struct Current {
  Result<Value> object = Value{};
  bool outdated = false;  ///< it is stored in another version than such objects are stored in now
};
/// Linearizable. Continues where it may block. A large object makes the request a large one: `lane` states it
/// afterwards. Error: kTooManyRequests.
awaitable<StageResult<Current>> read_current(const Server& server, const RequestContext& context,
                                             const WriteRequest& write, Lane& lane);

/// The proposal in the form of what is stored, with the patches of mutating webhooks. Errors: those of a body that
/// cannot be read; the denial of a webhook.
awaitable<StageResult<Proposal>> mutate(const Server& server, const RequestContext& context, const WriteRequest& write,
                                        Lane& lane, Proposal& proposal);

/// The proposal with defaults, field owners and addresses, if schema, rules, permissions and validating webhooks allow
/// it. Errors: kInvalid with causes, kForbidden, kBadRequest; the denial of a webhook.
awaitable<StageResult<Proposal>> validate(const Server& server, const RequestContext& context,
                                          const WriteRequest& write, Lane& lane, Proposal& proposal);

/// Stores the proposal and waits until it is visible; of a dry run, only asks what the fold would refuse. Continues on
/// the fold thread when it was stored, else where it may block. Errors: kConflict, kAlreadyExists, ... as the fold
/// refuses; Rejection::superseded if another try may succeed.
awaitable<StageResult<Committed>> commit(const Server& server, const RequestContext& context, const WriteRequest& write,
                                         Lane& lane, Proposal& proposal);

/// Answers with what was committed. Rendering is done on the lane, unless the stored JSON is the answer as it stands.
awaitable<void> respond(const Server& server, const RequestContext& context, const WriteRequest& write, Lane& lane,
                        const Proposal& proposal, const Committed& committed);
/// Records the rejection in the journal if it denies an action, without waiting for that.
void record_rejection(const Server& server, const RequestContext& context, const Rejection& rejection);
/// Answers with the rejection, which it records.
void reject(const Server& server, const RequestContext& context, const Rejection& rejection);

}  // namespace shiplog::api
