#include "services/api/auth/authorization.h"
#include "services/api/pipeline/stages.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

/// 403, which is left in the audit trail.
Rejection refused(const User& user, const Attributes& wanted, const std::string& reason) {
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

}  // namespace

StageResult<User> impersonate(const Server& server, const User& user, const HttpRequest& request) {
  // First of all: a refusal is recorded, and must not be longer than the longest thing that could exist.
  SHIPLOG_TRY(check_lengths(request.path));
  SHIPLOG_TRY(const auto impersonation, impersonation_of(request.headers.all()));
  if (!impersonation) return user;
  for (const Attributes& needed : impersonation->needed) {
    const auto decision = decide(server.options.access, user, needed);
    if (!decision.allowed) return refused(user, needed, decision.reason);
  }
  log::info("request.impersonated", {log::kv("user", user.name), log::kv("as", impersonation->as.name),
                                     log::kv("method", request.method), log::kv("path", request.path)});
  return impersonation->as;
}

StageResult<void> authorize(const Server& server, const User& user, const HttpRequest& request) {
  if (in_group(user, kMastersGroup)) return ok();
  const Attributes wanted = attributes_of(request.method, request.path, request.query);
  const auto decision = decide(server.options.access, user, wanted);
  if (!decision.allowed) return refused(user, wanted, decision.reason);
  return ok();
}

}  // namespace shiplog::api
