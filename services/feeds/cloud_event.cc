#include "services/feeds/cloud_event.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "services/feeds/facts.h"
#include "services/feeds/redact.h"

namespace shiplog::feeds {
namespace {

constexpr size_t kOffsetDigits = 20;
constexpr size_t kIndexDigits = 6;
/// Of the facts of one event as JSON: what a decision considered of thousands of clusters may be more.
constexpr size_t kMostFactsBytes = size_t{1} << 20U;
constexpr size_t kTraceIdDigits = 32;  // of what the journal keeps of a trace

std::string padded(uint64_t number, size_t digits) {
  const std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

void append_member(std::string_view name, std::string_view text, std::string& out) {
  append_json_string(name, out);
  out += ':';
  append_json_string(text, out);
}

/// What happened to an object, with what it contributes to the state hash: of the object as it is stored, so that a
/// consumer can compare even what was left out here.
Result<void> append_change(const ChangeRow& change, std::string& out) {
  const bool removed = change.operation == VersionOperation::kRemoved;
  out += R"("change":{"hash":)";
  if (removed) {
    out += "null";
  } else {
    append_json_string(to_string(siphash128(to_string(change.object) + "\n" + change.json)), out);
  }
  out += ',';
  append_member("name", change.object.name, out);
  out += ',';
  append_member("namespace", change.object.ns, out);
  out += R"(,"object":)";
  bool redacted = false;
  if (removed) {
    out += "null";
  } else if (may_need_redaction(change.object.type, change.json)) {
    SHIPLOG_TRY(Value object, parse_stored_json(change.json));
    const Redacted rest = redact(change.object.type, std::move(object));
    redacted = rest.redacted;
    append_json(rest.value, out);
  } else {
    out += change.json;
  }
  out += ',';
  append_member("operation", name_of(change.operation), out);
  out += redacted ? R"(,"redacted":true)" : R"(,"redacted":false)";
  out += R"(,"revision":)" + std::to_string(change.revision.value) + ",";
  append_member("type", change.object.type, out);
  out += '}';
  return ok();
}

/// An explanation that is too large is left out but for its summary.
void append_facts(const Event& event, std::string& out) {
  const size_t begin = out.size();
  Value facts = redact(facts_of(event)).value;
  append_json(facts, out);
  if (out.size() - begin <= kMostFactsBytes || !facts["why"].is_object()) return;
  out.resize(begin);
  facts.set("why", Value::object({{"summary", facts["why"]["summary"]}, {"omitted", true}}));
  append_json(facts, out);
}

Value request_of(const Entry& entry) {
  Value::Array groups;
  for (const std::string& group : entry.actor.groups) groups.emplace_back(group);
  return Value::object({{"user", entry.actor.user},
                        {"groups", Value::array(std::move(groups))},
                        {"service", entry.actor.service},
                        {"sourceIP", entry.actor.source_ip},
                        {"userAgent", entry.actor.user_agent},
                        {"verb", entry.request.verb},
                        {"path", entry.request.path}});
}

/// Makes the events of one entry.
class EventsOfEntry {
 public:
  EventsOfEntry(const FeedEntry& of, std::string_view source) : of_{of}, source_{source} {
    request_ = to_json(request_of(of.entry));
  }

  Result<std::vector<CloudEvent>> run() {
    const std::vector<Event>& events = of_.entry.events;
    std::vector<ObjectKey> subjects;
    for (const Event& event : events) subjects.push_back(subject_of(event));
    std::vector<const ChangeRow*> others;
    std::vector<const ChangeRow*> own(events.size(), nullptr);
    for (const ChangeRow& change : of_.changes) {
      // The last event about the object, as it changes once in an entry, by all its events together.
      const auto found = std::find(subjects.rbegin(), subjects.rend(), change.object);
      if (found == subjects.rend()) {
        others.push_back(&change);
      } else {
        own[static_cast<size_t>(subjects.rend() - found - 1)] = &change;
      }
    }
    for (size_t index = 0; index < events.size(); ++index) {
      SHIPLOG_TRY(add(index, subjects[index], own[index], ""));
    }
    for (const ChangeRow* change : others) {
      // Numbered by the revision, not by a count: so its id depends on nothing else in the entry.
      SHIPLOG_TRY(add(cause_of(*change), change->object, change, "-r" + std::to_string(change->revision.value)));
    }
    return std::move(made_);
  }

 private:
  /// The event that changed an object which none is about.
  size_t cause_of(const ChangeRow& change) const {
    const std::vector<Event>& events = of_.entry.events;
    for (size_t index = 0; index < events.size(); ++index) {
      const auto* aggregated = std::get_if<StatusAggregated>(&events[index]);
      if (aggregated != nullptr && aggregated->template_object == change.object) return index;
    }
    return events.empty() ? 0 : events.size() - 1;
  }

  Result<void> add(size_t index, const ObjectKey& object, const ChangeRow* change, const std::string& suffix) {
    const Entry& entry = of_.entry;
    const Event& event = entry.events[index];
    CloudEvent made;
    made.sequence = {of_.offset, static_cast<uint32_t>(made_.size())};
    made.family = family_of(event);
    made.object = object;
    made.id = to_string(entry.id) + "-" + std::to_string(index) + suffix;
    made.source = source_;
    made.type = type_of(made.family, name_of(event));
    made.subject = object.empty() ? "" : to_string(object);
    made.time = entry.time;
    made.data_schema = schema_id(name_of(event));
    const Revision revision = change == nullptr ? of_.revision : change->revision;
    if (!entry.actor.user.empty()) made.extensions.emplace_back("actor", entry.actor.user);
    if (!entry.cause.entry_id.empty()) made.extensions.emplace_back("causeid", to_string(entry.cause.entry_id));
    made.extensions.emplace_back("entryid", to_string(entry.id));
    made.extensions.emplace_back("revision", std::to_string(revision.value));
    made.extensions.emplace_back("sequence", to_string(made.sequence));
    if (!entry.cause.trace_id.empty()) {
      made.extensions.emplace_back("traceid", entry.cause.trace_id.substr(0, kTraceIdDigits));
    }
    made.data = "{";
    if (change == nullptr) {
      made.data += R"("change":null)";
    } else {
      SHIPLOG_TRY(append_change(*change, made.data));
    }
    made.data += R"(,"event":)";
    append_facts(event, made.data);
    made.data += R"(,"request":)" + request_ + "}";
    made_.push_back(std::move(made));
    return ok();
  }

  const FeedEntry& of_;
  std::string_view source_;
  std::string request_;
  std::vector<CloudEvent> made_;
};

}  // namespace

std::string to_string(const Sequence& sequence) {
  return padded(static_cast<uint64_t>(sequence.offset.value), kOffsetDigits) + "." +
         padded(sequence.index, kIndexDigits);
}

Result<Sequence> parse_sequence(std::string_view text) {
  Sequence sequence;
  const size_t dot = text.find('.');
  const auto read = [](std::string_view digits, auto& number) {
    const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return wrong == std::errc{} && end == digits.data() + digits.size() && !digits.starts_with('-');
  };
  if (dot == std::string_view::npos || !read(text.substr(0, dot), sequence.offset.value) ||
      !read(text.substr(dot + 1), sequence.index)) {
    return Error{ErrorCode::kBadRequest,
                 "\"" + std::string{text} + "\" is not a place in a feed: use the attribute sequence of an event, as " +
                     to_string(Sequence{Offset{1234}, 1})};
  }
  return sequence;
}

Result<std::vector<CloudEvent>> cloud_events_of(const FeedEntry& entry, std::string_view source) {
  return EventsOfEntry{entry, source}.run();
}

std::string to_json(const CloudEvent& event) {
  std::string out{R"({"specversion":"1.0",)"};
  append_member("id", event.id, out);
  out += ',';
  append_member("source", event.source, out);
  out += ',';
  append_member("type", event.type, out);
  // The specification forbids an empty subject.
  if (!event.subject.empty()) {
    out += ',';
    append_member("subject", event.subject, out);
  }
  out += ',';
  append_member("time", rfc3339_millis(event.time), out);
  out += R"(,"datacontenttype":"application/json",)";
  append_member("dataschema", event.data_schema, out);
  for (const auto& [name, value] : event.extensions) {
    out += ',';
    append_member(name, value, out);
  }
  return out + R"(,"data":)" + event.data + "}";
}

std::string schema_id(std::string_view event_kind) { return "urn:shiplog:feeds:v1:" + std::string{event_kind}; }

std::string type_of(Family family, std::string_view event_kind) {
  return "io.shiplog." + std::string{name_of(family)} + "." + std::string{event_kind} + ".v1";
}

}  // namespace shiplog::feeds
