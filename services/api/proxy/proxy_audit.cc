#include "services/api/proxy/proxy_audit.h"

#include <utility>

#include "services/api/auth/rbac/attributes.h"
#include "services/api/status.h"

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
                           "the member answered " + context.request.method + " " + proxied.path + " with HTTP status " +
                               std::to_string(status));
  }
  then(ok());
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
