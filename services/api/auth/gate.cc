#include "services/api/auth/gate.h"

#include <algorithm>

#include "events/base/base64.h"
#include "projections/objects/object_query.h"
#include "services/api/auth/access.h"
#include "services/api/auth/token_signer.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

/// The text of the Authorization header behind "Bearer "; nullopt: there is no such header, or another scheme.
std::optional<std::string> bearer_token(const HttpRequest& request) {
  const std::string* header = request.headers.find("Authorization");
  constexpr std::string_view kScheme = "Bearer ";
  if (header == nullptr || header->size() <= kScheme.size()) return std::nullopt;
  if (!equal_ignoring_case(std::string_view{*header}.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  const size_t begin = header->find_first_not_of(' ', kScheme.size());
  return begin == std::string::npos ? std::nullopt : std::optional{header->substr(begin)};
}

Result<Value> stored(Server& server, const ObjectKey& key) {
  SHIPLOG_TRY(const auto row,
              server.options.record->read([&](const View& view) { return ObjectQuery{view}.get(key); }));
  if (!row) return Error{ErrorCode::kNotFound, to_string(key) + " is gone"};
  return server.load(row->json);
}

void unauthorized(const ServerPtr& server, const ContextPtr& context) {
  // Why not is for the operator; whoever guesses tokens learns nothing.
  server->fail(context, Error{ErrorCode::kUnauthorized, "Unauthorized"});
}

/// Answers 403 and leaves it in the audit trail.
void refuse(const ServerPtr& server, const ContextPtr& context, const Attributes& wanted, const std::string& reason) {
  const Error error = forbidden(context->user, wanted, reason);
  ObjectKey key;
  if (wanted.is_resource) {
    key.type = wanted.group.empty() ? wanted.resource : wanted.resource + "." + wanted.group;
    key.ns = wanted.resource == "namespaces" && wanted.group.empty() ? "" : wanted.ns;
    key.name = wanted.name;
  }
  const auto kinds = server->options.catalogue->current();
  const Kind* kind = kinds->find_type(key.type);
  Store& store = kind == nullptr ? *server->options.record : server->store(*kind);
  server->record_denial(*context, store, wanted.verb, key, error);
  server->answer_status(context, http_status(error.code),
                        failure_status(error, {wanted.group, "", wanted.resource, wanted.name}));
}

/// AUTHZ-9. False: refused, and answered.
bool impersonate(const ServerPtr& server, const ContextPtr& context) {
  auto asked = impersonation_of(context->request.headers.all());
  if (!asked) {
    server->fail(context, asked.error());
    return false;
  }
  if (!asked.value()) return true;
  for (const Attributes& needed : asked.value()->needed) {
    const auto decision = decide(*server, context->user, needed);
    if (decision.allowed) continue;
    refuse(server, context, needed, decision.reason);
    return false;
  }
  log::info("request.impersonated",
            {log::kv("user", context->user.name), log::kv("as", asked.value()->as.name),
             log::kv("method", context->request.method), log::kv("path", context->request.path)});
  context->user = std::move(asked.value()->as);
  std::erase_if(context->request.headers.all(), [](const auto& field) {
    return field.first.size() >= 12 && equal_ignoring_case(std::string_view{field.first}.substr(0, 12), "impersonate-");
  });
  return true;
}

/// The user is known: may they?
void authorize(const ServerPtr& server, const ContextPtr& context, const std::function<void()>& then) {
  context->request.headers.erase("Authorization");  // AUTHN-9: it is nobody's business from here on
  // First of all: a refusal is recorded, and must not be longer than the longest thing that could exist.
  if (auto fits = check_lengths(context->request.path); !fits) return server->fail(context, fits.error());
  if (!impersonate(server, context)) return;
  if (in_group(context->user, kMastersGroup)) return then();
  const HttpRequest& request = context->request;
  const Attributes wanted = attributes_of(request.method, request.path, request.query);
  const auto decision = decide(*server, context->user, wanted);
  if (!decision.allowed) return refuse(server, context, wanted, decision.reason);
  then();
}

Result<TokenIdentity> identify_bootstrap(Server& server, const std::string& id, const std::string& token_secret) {
  const auto secret = stored(server, {type::kSecret, "kube-system", "bootstrap-token-" + id});
  if (!secret || deleting(secret.value())) return Error{ErrorCode::kUnauthorized, "there is no such bootstrap token"};
  TokenIdentity identity;
  SHIPLOG_TRY(identity.user, bootstrap_user(secret.value(), id, token_secret, server.options.clock->now()));
  return identity;
}

}  // namespace

RbacPolicy::Decision decide(const Server& server, const User& user, const Attributes& wanted) {
  if (server.options.access != nullptr) return server.options.access->decide(user, wanted);
  return {in_group(user, kMastersGroup), ""};
}

Result<TokenIdentity> identify(Server& server, std::string_view token, const std::vector<std::string>& audiences) {
  if (const auto parts = bootstrap_token_parts(token)) return identify_bootstrap(server, parts->first, parts->second);
  if (server.options.tokens == nullptr) return Error{ErrorCode::kUnauthorized, "this server issues no tokens"};
  SHIPLOG_TRY(const Value claims, server.options.tokens->verify(token));
  SHIPLOG_TRY(auto identity, identity_from(claims, server.options.clock->now(), audiences));
  for (const TokenObject& needed : identity.depends_on) {
    const auto object = stored(server, needed.key);
    // A Secret without a uid carries the token: another of its name, made later, has another one.
    const bool same = object && (needed.uid.empty() ? object.value()["data"]["token"].str() == base64_encode(token)
                                                    : uid_of(object.value()) == needed.uid);
    if (same && !deleting(object.value())) continue;
    return Error{ErrorCode::kUnauthorized, needed.kind + " " + to_string(needed.key) + " of the token is gone"};
  }
  return identity;
}

void admit_request(const ServerPtr& server, const ContextPtr& context, std::function<void()> then) {
  const HttpPeer& peer = context->request.peer;
  if (peer.certified && !peer.common_name.empty()) {  // AUTHN-2, AUTHN-3
    context->user = {peer.common_name, peer.organizations, "", {}};
    if (!in_group(context->user, kAuthenticatedGroup)) context->user.groups.emplace_back(kAuthenticatedGroup);
    return authorize(server, context, then);
  }
  if (auto token = bearer_token(context->request)) {
    // Looks up what the token depends on: not on an I/O thread.
    return server->workers->post([server, context, token = std::move(*token), then = std::move(then)] {
      auto identity = identify(*server, token, {kTokenIssuer});
      if (!identity) {
        log::info("request.unauthorized",
                  {log::kv("peer", context->request.peer.address), log::kv("reason", identity.error().message)});
        return unauthorized(server, context);
      }
      context->user = std::move(identity.value().user);
      authorize(server, context, then);
    });
  }
  if (!server->options.anonymous || peer.stranger || context->request.headers.contains("Authorization")) {
    return unauthorized(server, context);
  }
  context->user = {kAnonymousUser, {kUnauthenticatedGroup}, "", {}};
  authorize(server, context, then);
}

std::optional<Error> refuse_write(const Server& server, const Context& context, const ObjectKey& key, const Value& old,
                                  const Value& object) {
  if (in_group(context.user, kMastersGroup)) return std::nullopt;
  const HttpRequest& request = context.request;
  if (old.is_null() && request.method != "POST") {
    Attributes wanted = attributes_of(request.method, request.path, request.query);
    wanted.verb = "create";
    const auto decision = decide(server, context.user, wanted);
    if (!decision.allowed) return forbidden(context.user, wanted, decision.reason);
  }
  if (server.options.access == nullptr) return std::nullopt;
  if (auto owned = server.options.access->refuse_owned(context.user, key, old, object)) return owned;
  return rbac::is_rbac(key.type) ? server.options.access->escalation(context.user, key, old, object) : std::nullopt;
}

std::optional<Error> refuse_deletion(const Server& server, const Context& context, const ObjectKey& key,
                                     const Value& old) {
  if (server.options.access == nullptr) return std::nullopt;
  return server.options.access->refuse_owned(context.user, key, old, {});
}

}  // namespace shiplog::api
