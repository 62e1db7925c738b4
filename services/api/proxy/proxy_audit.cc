#include "services/api/proxy/proxy_audit.h"

#include <string>
#include <utility>

#include "events/base/valid_utf8.h"
#include "services/api/auth/rbac/attributes.h"
#include "services/api/pipeline/async.h"
#include "services/api/status.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;

const char* reason_of_status(int status) {
  return status == kUnauthorized ? "Unauthorized" : status == kForbidden ? "Forbidden" : "BadRequest";
}

}  // namespace

void record_proxied(const Server& server, const RequestContext& context, const ProxiedRequest& proxied, int status,
                    std::function<void(Result<void>)> then) {
  if (status == kUnauthorized || status == kForbidden) {
    record_refused_proxied(server, context, status,
                           "the member answered " + context.request.method + " " + valid_utf8(proxied.path) +
                               " with HTTP status " + std::to_string(status));
    return then(ok());
  }
  Entry entry =
      entry_for(server, context, attributes_of(context.request.method, proxied.path, context.request.query).verb);
  entry.events.emplace_back(
      MemberRequested{{type::kCluster, "", proxied.cluster}, context.request.method, valid_utf8(proxied.path), status});
  append_audit(server, std::move(entry), context.timeout, [then = std::move(then)](const Result<Outcome>& outcome) {
    const bool refused = outcome && outcome.value().refusal;
    if (outcome && !refused) return then(ok());
    const std::string reason = refused ? outcome.value().refusal->reason : outcome.error().message;
    log::error("audit.member_request_lost", {log::kv("reason", reason)});
    then(Error{
        ErrorCode::kInternal,
        "the audit entry of the request to the member could not be stored, so that the response is withheld; what "
        "was to be changed may have been changed: " +
            reason});
  });
}

void record_refused_proxied(const Server& server, const RequestContext& context, int status,
                            const std::string& message) {
  const Attributes wanted = attributes_of(context.request.method, context.request.path, context.request.query);
  Entry entry = entry_for(server, context, wanted.verb);
  const ObjectKey cluster{type::kCluster, "", wanted.name};
  server.denials->record(server.options.record->replica(), {std::move(entry.actor),
                                                            std::move(entry.request.verb),
                                                            std::move(entry.request.path),
                                                            std::move(entry.cause),
                                                            {cluster, status, reason_of_status(status), message}});
}

}  // namespace shiplog::api
