#include "services/api/insight/kubernetes_audit.h"

#include <string>

#include "services/api/insight/render.h"
#include "services/api/status.h"

namespace shiplog::api {
namespace {

Value user_of(const Actor& actor) {
  Value user = Value::object({{"username", actor.user.empty() ? "system:shiplog:" + actor.service : actor.user}});
  for (const std::string& group : actor.groups) user.edit("groups").push_back(group);
  return user;
}

/// "deployments.apps" is the resource deployments of the group apps.
Value reference_to(const ObjectKey& object) {
  const size_t dot = object.type.find('.');
  Value reference = Value::object({{"resource", object.type.substr(0, dot)}});
  if (dot != std::string::npos) reference.set("apiGroup", object.type.substr(dot + 1));
  set_if(reference, "namespace", object.ns.str());
  set_if(reference, "name", object.name.str());
  return reference;
}

/// Requests without a path are decisions and observations of services.
std::string uri_of(const AuditRow& entry) {
  return entry.request.path.empty() ? "/shiplog/entries/" + to_string(entry.id) : entry.request.path;
}

Value status_of(const AuditRow& entry) {
  Value status = Value::object({{"metadata", Value::object()}});
  if (entry.refusal) {
    status.set("code", http_status(entry.refusal->code));
    status.set("reason", reason_of(entry.refusal->code));
    status.set("message", entry.refusal->reason);
  } else if (entry.denied()) {
    // Requests are recorded as denied for missing permissions, or for content that is not allowed.
    status.set("code", http_status(ErrorCode::kForbidden));
    status.set("message", entry.events.front().summary);
  } else {
    status.set("code", entry.request.verb == "create" ? 201 : 200);
  }
  if (entry.refusal || entry.denied()) status.set("status", "Failure");
  return status;
}

}  // namespace

Value kubernetes_event(const AuditRow& entry) {
  Value annotations = Value::object({{"authorization.k8s.io/decision", entry.denied() ? "forbid" : "allow"},
                                     {"shiplog.io/entry", to_string(entry.id)},
                                     {"shiplog.io/offset", std::to_string(entry.offset.value)},
                                     {"shiplog.io/revision", std::to_string(entry.revision.value)}});
  set_if(annotations, "shiplog.io/service", entry.actor.service);
  set_if(annotations, "shiplog.io/trace", entry.cause.trace_id);
  if (!entry.cause.entry_id.empty()) annotations.set("shiplog.io/cause", to_string(entry.cause.entry_id));
  std::string kinds;
  for (const auto& event : entry.events) kinds += (kinds.empty() ? "" : ",") + event.kind;
  set_if(annotations, "shiplog.io/events", kinds);
  if (!entry.events.empty()) set_if(annotations, "shiplog.io/summary", entry.events.front().summary);
  // metav1.MicroTime; entries carry milliseconds.
  std::string time = rfc3339_millis(entry.time);
  time.insert(time.size() - 1, "000");
  Value event = Value::object({{"kind", "Event"},
                               {"apiVersion", "audit.k8s.io/v1"},
                               {"level", "Metadata"},
                               {"auditID", uid_from(entry.id, 0)},
                               {"stage", "ResponseComplete"},
                               {"requestURI", uri_of(entry)},
                               {"verb", entry.request.verb},
                               {"user", user_of(entry.actor)},
                               {"responseStatus", status_of(entry)},
                               {"requestReceivedTimestamp", time},
                               {"stageTimestamp", time},
                               {"annotations", std::move(annotations)}});
  if (!entry.actor.source_ip.empty()) event.set("sourceIPs", Value::array({entry.actor.source_ip}));
  set_if(event, "userAgent", entry.actor.user_agent);
  if (!entry.events.empty() && !entry.events.front().subject.empty()) {
    event.set("objectRef", reference_to(entry.events.front().subject));
  }
  return event;
}

}  // namespace shiplog::api
