#pragma once

#include <memory>
#include <string>

#include "events/base/time.h"
#include "events/kinds/kinds.h"
#include "services/api/auth/rbac/rule.h"
#include "services/api/large_requests.h"
#include "services/api/request.h"
#include "services/api/status.h"
#include "services/http/server.h"

namespace shiplog::api {

/// What a request is about and how it is answered.
struct RequestTarget {
  ResourcePath path;
  std::shared_ptr<const Kinds> kinds;
  const Kind* kind = nullptr;  ///< owned by `kinds`; nullptr: no such resource is served here
  std::string verb;            ///< Kubernetes verb: get, list, watch, create, ...
  Accept accept;

  ObjectKey key() const { return {kind->type(), path.ns, path.name}; }
  Subject subject() const { return subject(path.name); }
  Subject subject(const std::string& name) const { return {kind->group, kind->kind, kind->plural, name}; }
};

/// Who sends a request, what it is about and how it is answered. Stages fill it in one after the other; once it is
/// shared it does not change.
struct RequestContext : RequestTarget {  // the target: of requests for a resource only
  HttpRequest request;                   ///< without its body, its bearer token and its Impersonate headers
  std::shared_ptr<ResponseWriter> writer;
  std::string audit_id;  ///< also the Audit-Id header of the response
  Millis timeout;        ///< of the append
  User user;
  LargeRequests::Place large;  ///< of a request with a large body; else nullptr
};
using RequestContextPtr = std::shared_ptr<const RequestContext>;

}  // namespace shiplog::api
