#include "services/api/pipeline/access.h"

#include <memory>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "services/api/auth/authorization.h"
#include "services/api/auth/rbac/tunnel_access.h"
#include "services/api/auth/reviews.h"
#include "services/api/auth/token_authenticator.h"
#include "services/api/insight/insight.h"
#include "services/api/pipeline/stages.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

namespace asio = boost::asio;
using asio::use_awaitable;
using Token = const asio::use_awaitable_t<>;
using Identified = Result<std::optional<TokenIdentity>>;
using Verdict = Result<WebhookVerdict>;

awaitable<Identified> authenticate_by(TokenAuthenticator& authenticator, const std::string& token,
                                      const std::vector<std::string>& audiences) {
  return asio::async_initiate<Token, void(Identified)>(
      [&](auto handler) {
        auto held = std::make_shared<decltype(handler)>(std::move(handler));
        authenticator.authenticate(token, audiences,
                                   [held](Identified identified) { std::move (*held)(std::move(identified)); });
      },
      use_awaitable);
}

awaitable<Verdict> ask(const AccessWebhook& webhook, const AccessQuestion& question) {
  return asio::async_initiate<Token, void(Verdict)>(
      [&](auto handler) {
        auto held = std::make_shared<decltype(handler)>(std::move(handler));
        webhook.decide(question, [held](Verdict verdict) { std::move (*held)(std::move(verdict)); });
      },
      use_awaitable);
}

/// Takes in what RBAC says. True: it allows.
bool allowed_by_rbac(const Server& server, const AccessQuestion& question, AccessDecision& decision) {
  auto by_rbac = decide(server.options.access, question.user, question.wanted);
  decision.allowed = by_rbac.allowed;
  if (decision.allowed) {
    decision.reason = std::move(by_rbac.reason);
  } else if (!by_rbac.reason.empty()) {
    decision.reason += (decision.reason.empty() ? "" : ", ") + by_rbac.reason;
  }
  return decision.allowed;
}

/// Takes in the verdict of the webhook. True: nothing else is asked.
bool settled_by_webhook(const Verdict& verdict, AccessDecision& decision) {
  if (!verdict) {
    decision.failure = verdict.error().message;
    return false;
  }
  const WebhookVerdict& said = verdict.value();
  if (said.kind == WebhookVerdict::Kind::kNoOpinion) {
    if (!said.reason.empty()) decision.reason += (decision.reason.empty() ? "" : ", ") + said.reason;
    return false;
  }
  decision.allowed = said.kind == WebhookVerdict::Kind::kAllowed;
  decision.denied = !decision.allowed;
  decision.reason = said.reason;
  return true;
}

/// The version of the API that the path is about; empty: of none.
std::string version_in(const std::string& path) {
  const auto parsed = parse_resource_path(path);
  return parsed ? parsed->version : std::string{};
}

/// Why a request is not carried out. The cause that a webhook failed for is in the log: it may name what is inside.
Rejection rejected(const AccessQuestion& question, const AccessDecision& decision) {
  if (decision.denied || decision.failure.empty()) {
    return denied_access(question.user, question.wanted, decision.reason);
  }
  return Error{ErrorCode::kInternal, "the authorization webhook could not be asked whether the request is allowed"};
}

Value access_status(const AccessDecision& decision) {
  Value status = Value::object({{"allowed", decision.allowed}});
  if (decision.denied) status.set("denied", true);
  if (!decision.reason.empty()) status.set("reason", decision.reason);
  if (!decision.allowed && !decision.failure.empty()) status.set("evaluationError", decision.failure);
  return status;
}

}  // namespace

awaitable<Result<TokenIdentity>> identify_token(const Server& server, const std::string& token,
                                                const std::vector<std::string>& audiences) {
  // Reads what the token depends on: not on an I/O thread.
  Lane lane{&server, nullptr, false};
  co_await continue_on(lane);
  auto own = identify(server.token_sources(), token, audiences);
  if (own || server.options.token_authenticators.empty()) co_return own;
  std::string why = own.error().message;
  for (TokenAuthenticator* authenticator : server.options.token_authenticators) {
    auto identified = co_await authenticate_by(*authenticator, token, audiences);
    if (!identified) {
      why += "; " + identified.error().message;
    } else if (identified.value()) {
      co_await continue_on(lane);
      co_return *std::move(identified).value();
    }
  }
  co_await continue_on(lane);  // not on a thread of the last one that was asked
  co_return Error{ErrorCode::kUnauthorized, std::move(why)};
}

awaitable<AccessDecision> decide_access(const Server& server, const AccessQuestion& question) {
  AccessDecision decision;
  const AccessWebhook* webhook = server.options.access_webhook;
  const bool rbac_first = webhook == nullptr || !server.options.webhook_before_rbac;
  // Neither can take its rights from system:masters (AUTHZ-1).
  if (in_group(question.user, kMastersGroup) || rbac_first) {
    if (allowed_by_rbac(server, question, decision) || webhook == nullptr) co_return decision;
  }
  Verdict verdict = co_await ask(*webhook, question);
  Lane lane{&server, nullptr, false};
  co_await continue_on(lane);
  if (settled_by_webhook(verdict, decision)) co_return decision;
  if (!rbac_first) allowed_by_rbac(server, question, decision);
  co_return decision;
}

awaitable<StageResult<std::string>> authorize_with_webhook(const Server& server, const User& user,
                                                           const HttpRequest& request) {
  if (tunnel_of(request.path)) co_return authorize(server, user, request);  // no webhook grants it either
  if (in_group(user, kMastersGroup)) co_return std::string{};
  AccessQuestion question{user, attributes_of(request.method, request.path, request.query), version_in(request.path)};
  AccessDecision decision = co_await decide_access(server, question);
  if (decision.allowed) co_return std::move(decision.reason);
  // The history of an object is for those who may get the object, too.
  const auto object = object_in_question(server.options.kinds->current(), request);
  if (object && !decision.denied) {
    AccessQuestion reads{user, attributes_of_get(*object), ""};
    AccessDecision as_object = co_await decide_access(server, reads);
    if (as_object.allowed) co_return std::move(as_object.reason);
  }
  co_return rejected(question, decision);
}

awaitable<StageResult<User>> impersonate_with_webhook(const Server& server, const User& user,
                                                      const HttpRequest& request) {
  auto lengths = check_lengths(request.path);
  if (!lengths) co_return std::move(lengths).error();
  auto impersonation = impersonation_of(request.headers.all());
  if (!impersonation) co_return malformed_impersonation(std::move(impersonation).error());
  if (!impersonation.value()) co_return user;
  for (const Attributes& needed : impersonation.value()->needed) {
    AccessQuestion question{user, needed, ""};
    AccessDecision decision = co_await decide_access(server, question);
    if (!decision.allowed) co_return rejected(question, decision);
  }
  log_impersonation(user, impersonation.value()->as, request);
  co_return std::move(impersonation.value()->as);
}

awaitable<StageResult<void>> authorize_creation(const Server& server, const RequestContext& context) {
  if (in_group(context.user, kMastersGroup)) co_return ok();
  const HttpRequest& request = context.request;
  AccessQuestion question{context.user, attributes_of(request.method, request.path, request.query),
                          version_in(request.path)};
  question.wanted.verb = "create";
  AccessDecision decision = co_await decide_access(server, question);
  if (!decision.allowed) co_return rejected(question, decision);
  co_return ok();
}

awaitable<Result<Value>> answer_review(const Server& server, const RequestContext& context, Value review) {
  const ReviewQuestion question{context.kind, context.user, context.path.ns};
  const std::string& kind = question.kind->kind;
  if (kind == "SelfSubjectReview") {
    // Only this review is answered with a metadata of its own, as upstream.
    review.set("metadata", Value::object({{"creationTimestamp", rfc3339(server.options.clock->now())}}));
    review.set("status", Value::object({{"userInfo", user_info(question.user)}}));
    co_return review;
  }
  if (kind == "SelfSubjectRulesReview") co_return review_rules(server.options.access, question, std::move(review));
  if (kind == "TokenReview") {
    auto asked = token_question(review);
    if (!asked) co_return std::move(asked).error();
    auto identity = co_await identify_token(server, asked.value().token, asked.value().audiences);
    review.set("status", token_status(identity));
    co_return review;
  }
  auto asked = access_question(question, review);
  if (!asked) co_return std::move(asked).error();
  AccessDecision decision = co_await decide_access(server, asked.value());
  review.set("status", access_status(decision));
  co_return review;
}

}  // namespace shiplog::api
