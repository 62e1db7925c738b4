#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "events/base/value.h"
#include "events/kinds/kinds.h"
#include "services/api/auditing/audit_policy.h"

// The events of an audit log: audit.k8s.io/v1 Event. Pure.
namespace shiplog::api {

/// Microseconds since 1970.
struct UtcMicros {
  int64_t value = 0;
};
/// metav1.MicroTime: "2006-01-02T15:04:05.000000Z".
std::string rfc3339_micros(UtcMicros at);

/// What of a request is recorded with each of its events.
struct AuditedRequest {
  AuditDecision decision;
  UtcMicros received;
  std::string audit_id, uri, verb, user_agent;
  rbac::User user;                      ///< who was authenticated; no name: the request was not authenticated
  std::shared_ptr<rbac::User> acts_as;  ///< who is impersonated; nullptr: the user acts as itself
  std::vector<std::string> source_ips;

  bool is_resource = false;  ///< it has an objectRef
  std::string resource, subresource, group, version, ns, name, uid, resource_version;
  std::map<std::string, std::string> annotations;

  std::shared_ptr<const std::string> body;  ///< at level Request and above; nullptr: none
  std::string content_type;
  std::shared_ptr<const Kinds> kinds;  ///< to read a body that is protobuf; nullptr: it cannot be read
  const Kind* kind = nullptr;
};

/// One event, before it is rendered: that is done where events are written.
struct AuditLogEvent {
  std::shared_ptr<const AuditedRequest> request;
  AuditStage stage = AuditStage::kRequestReceived;
  UtcMicros at;
  int status = 0;             ///< HTTP status of the response; 0: there is none yet
  std::string message;        ///< of responseStatus, where the response has none
  std::string response;       ///< the body, at level RequestResponse or of an error
  std::string response_type;  ///< its media type
  size_t bytes() const;       ///< of memory, about
};

/// The event as a document. Bearer tokens in it are replaced (redact.h), whatever the policy says.
Value to_value(const AuditLogEvent& event);

/// The event as one line of `--audit-log-format=legacy`.
std::string legacy_line(const Value& event);

/// An EventList for a webhook.
Value event_list(std::vector<Value> events);

/// Removes requestObject and responseObject of an event whose JSON is longer than `most`, which an annotation then
/// states. False: it is still too long.
bool truncate_event(Value& event, size_t most);

/// The addresses of a request's client: those of the headers X-Forwarded-For and X-Real-Ip, as far as they are
/// addresses, and that of the connection last. Anyone can send these headers: only the last one is certain.
std::vector<std::string> source_addresses(std::string_view forwarded_for, std::string_view real_ip,
                                          const std::string& connection);

}  // namespace shiplog::api
