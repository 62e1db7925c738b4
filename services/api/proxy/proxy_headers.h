#pragma once

#include <string>

#include "events/base/result.h"
#include "services/api/auth/rbac/rule.h"
#include "services/api/proxied_request.h"
#include "services/http/http.h"

// What of a header passes through the cluster proxy. Pure.
namespace shiplog::api {

/// Without what concerns one connection only (RFC 9110, 7.6.1): hop-by-hop headers, and those that Connection names.
HttpHeaders end_to_end_headers(const HttpHeaders& headers);

/// What the proxy adds to a request.
struct ProxiedIdentity {
  const User& user;
  std::string client_address;
  std::string audit_id;
  std::string traceparent;
  std::string tracestate;
};

/// The headers of the request to the member: those of the client without hop-by-hop headers, those that its Connection
/// header names, credentials, Impersonate-*, X-Remote-* and statements about where it comes from; then the user and its
/// groups to impersonate, but for system:authenticated and system:unauthenticated, and the trace. Neither uid nor extra
/// are passed on. Error: kBadRequest, the user's name or a group cannot be a header.
Result<HttpHeaders> headers_to_member(const HttpHeaders& headers, const ProxiedRequest& proxied,
                                      const ProxiedIdentity& identity);

/// The headers of the response to the client: without hop-by-hop headers and those by which a member could act on the
/// client's relation to this server (cookies, transport security). A redirect within the member becomes one through the
/// proxy. Error: kUnavailable, the member redirects elsewhere.
Result<HttpHeaders> headers_from_member(const HttpResponse& head, const ProxiedRequest& proxied);

}  // namespace shiplog::api
