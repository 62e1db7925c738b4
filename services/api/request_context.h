#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "events/base/time.h"
#include "events/kinds/kinds.h"
#include "services/api/auth/rbac/rule.h"
#include "services/api/large_requests.h"
#include "services/api/produced.h"
#include "services/api/request.h"
#include "services/api/status.h"
#include "services/http/server.h"
#include "services/runtime/trace.h"

namespace shiplog::api {

struct PastView;
class RequestAudit;

/// What a request is about and how it is answered.
struct RequestTarget {
  ResourcePath path;
  std::shared_ptr<const Kinds> kinds;
  const Kind* kind = nullptr;  ///< owned by `kinds`; nullptr: no such resource is served here
  std::string verb;            ///< Kubernetes verb: get, list, watch, create, ...
  Accept accept;

  ObjectKey key() const { return {kind->type(), path.ns, path.name}; }
  StatusDetails subject() const { return subject(path.name); }
  StatusDetails subject(const std::string& name) const { return {kind->group, kind->kind, kind->plural, name}; }
};

/// Who sends a request, what it is about and how it is answered. Stages fill it in one after the other; once it is
/// shared it does not change.
struct RequestContext : RequestTarget {  // the target: of requests for a resource only
  HttpRequest request;                   ///< without its body, its bearer token and its Impersonate headers
  std::shared_ptr<ResponseWriter> writer;
  std::string audit_id;  ///< also the Audit-Id header of the response
  TraceContext trace;    ///< of the client, else a new one
  Millis timeout;        ///< of the append, and of all conversions of the request together
  std::chrono::steady_clock::time_point arrived = std::chrono::steady_clock::now();
  User user;
  LargeRequests::Permit large;                    ///< of a request with a large body; else nullptr
  std::string body;                               ///< of a request whose path names no resource, or a member's
  std::shared_ptr<ProducedRequestLife> produced;  ///< of a produced request; else nullptr
  std::shared_ptr<const PastView> past;           ///< of a request for a past moment; else nullptr
  std::shared_ptr<RequestAudit> audit;            ///< its events in the audit log; nullptr: nothing is recorded
};
using RequestContextPtr = std::shared_ptr<const RequestContext>;

}  // namespace shiplog::api
