#include "services/api/insight/render.h"

#include <algorithm>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "events/base/valid_utf8.h"

namespace shiplog::api {
namespace {

const char* result_of(const AuditRow& entry) {
  if (entry.duplicate) return "duplicate";
  if (entry.refusal) return "refused";
  return entry.denied() ? "denied" : "accepted";
}

Value refusal_value(const Refusal& refusal) {
  return Value::object({{"code", name_of(refusal.code)}, {"reason", refusal.reason}});
}

/// The entry that led to this one, if there is one.
void set_cause(Value& object, const Cause& cause) {
  set_if(object, "trace", cause.trace_id);
  if (cause.entry_id.empty() && cause.revision == Revision{}) return;
  Value value = Value::object({{"revision", cause.revision.value}});
  if (!cause.entry_id.empty()) value.set("entry", to_string(cause.entry_id));
  object.set("cause", std::move(value));
}

Value event_value(const AuditEvent& event) {
  Value value = Value::object({{"kind", event.kind}, {"family", event.family}});
  if (!event.subject.empty()) value.set("object", to_value(event.subject));
  set_if(value, "summary", event.summary);
  if (!event.because.empty()) value.set("because", to_value(event.because));
  return value;
}

}  // namespace

void set_if(Value& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object.set(key, text);
}

Hash128 hash_of(const StateMeta& meta) {
  State bare;
  State::restore(meta, {}, {}, bare);
  return bare.hash();
}

Value to_value(const ObjectKey& key) {
  Value value = Value::object({{"type", key.type}, {"name", key.name}});
  set_if(value, "namespace", key.ns.str());
  return value;
}

namespace {

Value as_recorded(const AuditRow& entry) {
  Value value = Value::object({{"offset", entry.offset.value},
                               {"id", to_string(entry.id)},
                               {"time", rfc3339_millis(entry.time)},
                               {"revision", entry.revision.value},
                               {"user", entry.actor.user},
                               {"result", result_of(entry)}});
  set_if(value, "service", entry.actor.service);
  set_if(value, "sourceIP", entry.actor.source_ip);
  set_if(value, "userAgent", entry.actor.user_agent);
  set_if(value, "verb", entry.request.verb);
  set_if(value, "path", entry.request.path);
  if (entry.as_of != Revision{}) value.set("asOf", entry.as_of.value);
  set_cause(value, entry.cause);
  for (const std::string& group : entry.actor.groups) value.edit("groups").push_back(group);
  Value events = Value::array();
  for (const AuditEvent& event : entry.events) events.push_back(event_value(event));
  value.set("events", std::move(events));
  for (const ObjectKey& key : entry.also_changed) value.edit("alsoChanged").push_back(to_value(key));
  if (entry.refusal) value.set("refusal", refusal_value(*entry.refusal));
  return value;
}

/// Entries of earlier builds have what clients sent as it was.
bool is_readable(const AuditRow& entry) {
  const auto about_readable = [](const AuditEvent& event) {
    return is_utf8(event.subject.ns.view()) && is_utf8(event.subject.name.view()) && is_utf8(event.summary);
  };
  return is_utf8(entry.actor.user) && is_utf8(entry.actor.user_agent) && is_utf8(entry.request.path) &&
         std::ranges::all_of(entry.actor.groups, [](const std::string& group) { return is_utf8(group); }) &&
         std::ranges::all_of(entry.events, about_readable);
}

}  // namespace

Value to_value(const AuditRow& entry) {
  Value value = as_recorded(entry);
  if (is_readable(entry)) return value;
  auto replaced = parse_json(valid_utf8(to_json(value)));
  return replaced ? std::move(replaced).value() : Value{};
}

Value to_value(const FieldChange& change) {
  Value value = Value::object({{"path", change.path}, {"change", name_of(change.kind)}});
  set_if(value, "before", change.before);
  set_if(value, "after", change.after);
  return value;
}

Result<Value> to_value(const DecisionRow& decision) {
  auto explanation = parse_json(decision.explanation);
  if (!explanation) {
    return Error{ErrorCode::kCorrupt, "the explanation of the decision at offset " +
                                          std::to_string(decision.offset.value) +
                                          " cannot be read: " + explanation.error().message};
  }
  Value value = Value::object({{"object", to_value(decision.subject)},
                               {"kind", decision.kind},
                               {"offset", decision.offset.value},
                               {"time", rfc3339_millis(decision.time)},
                               {"service", decision.service},
                               {"revision", decision.revision.value},
                               {"asOf", decision.as_of.value},
                               {"summary", decision.summary},
                               {"result", decision.refusal ? "refused" : "accepted"},
                               {"explanation", std::move(explanation).value()}});
  set_cause(value, decision.cause);
  if (decision.refusal) value.set("refusal", refusal_value(*decision.refusal));
  return value;
}

}  // namespace shiplog::api
