#include "services/api/auth/authorization.h"
#include "services/api/auth/rbac/tunnel_access.h"
#include "services/api/insight/insight.h"
#include "services/api/pipeline/access.h"
#include "services/api/pipeline/stages.h"
#include "services/runtime/log.h"

namespace shiplog::api {

Rejection denied_access(const User& user, const Attributes& wanted, const std::string& reason) {
  Rejection rejection{forbidden(user, wanted, reason)};
  rejection.subject = StatusDetails{wanted.group, "", wanted.resource, wanted.name};
  ObjectKey key;
  if (wanted.is_resource) {
    key.type = wanted.group.empty() ? wanted.resource : wanted.resource + "." + wanted.group;
    key.ns = wanted.resource == "namespaces" && wanted.group.empty() ? "" : wanted.ns;
    key.name = wanted.name;
  }
  rejection.denied = DeniedAction{wanted.verb, std::move(key)};
  return rejection;
}

Rejection malformed_impersonation(Error error) {
  Rejection rejection{std::move(error)};
  rejection.denied = DeniedAction{"impersonate", {}};
  return rejection;
}

void log_impersonation(const User& user, const User& as, const HttpRequest& request) {
  log::info("request.impersonated", {log::kv("user", user.name), log::kv("as", as.name),
                                     log::kv("method", request.method), log::kv("path", request.path)});
}

StageResult<User> impersonate(const Server& server, const User& user, const HttpRequest& request) {
  // First of all: a refusal is recorded, and must not be longer than the longest thing that could exist.
  SHIPLOG_TRY(check_lengths(request.path));
  auto parsed = impersonation_of(request.headers.all());
  if (!parsed) return malformed_impersonation(std::move(parsed).error());
  const auto& impersonation = parsed.value();
  if (!impersonation) return user;
  for (const Attributes& needed : impersonation->needed) {
    const auto decision = decide(server.options.access, user, needed);
    if (!decision.allowed) return denied_access(user, needed, decision.reason);
  }
  log_impersonation(user, impersonation->as, request);
  return impersonation->as;
}

StageResult<std::string> authorize(const Server& server, const User& user, const HttpRequest& request) {
  if (const auto cluster = tunnel_of(request.path)) {
    if (may_open_tunnel(user, *cluster)) return std::string{"it is the agent of the cluster"};
    return denied_access(user, attributes_of(request.method, request.path, request.query),
                         "tunnels to cluster " + *cluster + " are opened by its agent only");
  }
  if (in_group(user, kMastersGroup)) return std::string{};
  const Attributes wanted = attributes_of(request.method, request.path, request.query);
  auto decision = decide(server.options.access, user, wanted);
  if (decision.allowed) return std::move(decision.reason);
  // The history of an object is for those who may get the object, too.
  if (const auto object = object_in_question(server.options.kinds->current(), request)) {
    auto as_object = decide(server.options.access, user, attributes_of_get(*object));
    if (as_object.allowed) return std::move(as_object.reason);
  }
  return denied_access(user, wanted, decision.reason);
}

StageResult<void> check_read_only(const HttpRequest& request, const PastPath& past) {
  if (request.method == "GET" || request.method == "HEAD") return ok();
  Rejection rejection{Error{ErrorCode::kMethodNotAllowed, "/at/" + past.options + " is the past, which is read-only: " +
                                                              request.method + " is not supported"}};
  rejection.subject = StatusDetails{};
  return rejection;
}

StageResult<std::shared_ptr<const PastView>> enter_past(const Server& server, const User& user,
                                                        const HttpRequest& request, const PastPath& path) {
  SHIPLOG_TRY(PastView view, server.past->open(path, server.options.clock->now()));
  if (!in_group(user, kMastersGroup)) {
    const Attributes wanted = attributes_of(request.method, request.path, request.query);
    const auto decision = view.past->policy->decide(user, wanted);
    if (!decision.allowed) {
      return denied_access(user, wanted,
                           "not permitted at revision " + std::to_string(view.past->record.value) +
                               ", the moment to be read" + (decision.reason.empty() ? "" : ": " + decision.reason));
    }
  }
  return std::make_shared<const PastView>(std::move(view));
}

}  // namespace shiplog::api
