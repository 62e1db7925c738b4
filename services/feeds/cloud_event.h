#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/entry.h"
#include "projections/history/history_query.h"

namespace shiplog::feeds {

/// The place of an event in the feeds of one journal: grows from event to event over all families. Text that compares
/// as the numbers do, so that it is CloudEvents' attribute `sequence`: "00000000000000001234.000001".
struct Sequence {
  Offset offset;
  uint32_t index = 0;  ///< among the events of the entry
  auto operator<=>(const Sequence&) const = default;
};
std::string to_string(const Sequence& sequence);
/// Error: kBadRequest.
Result<Sequence> parse_sequence(std::string_view text);

/// An accepted entry and what the fold made of it.
struct FeedEntry {
  Offset offset;
  Entry entry;
  Revision revision;               ///< of the state afterwards
  std::vector<ChangeRow> changes;  ///< all of them, in revision order
};

/// One event of a feed, CloudEvents 1.0.
struct CloudEvent {
  Sequence sequence;
  Family family = Family::kApi;
  ObjectKey object;  ///< what it is about; empty: the fleet. Events about one object have one key on Kafka
  std::string id;
  std::string source;
  std::string type;     ///< "io.shiplog.api.ObjectCreated.v1"
  std::string subject;  ///< to_string(object), or ""
  UtcMillis time;
  std::string data_schema;
  std::vector<std::pair<std::string, std::string>> extensions;  ///< name and value, sorted
  std::string data;                                             ///< JSON
};

/// One for each event of the entry, in its order; then one for each object that changed although no event is about it:
/// of the event that changed it, about this object. So every change is in exactly one of them, and all that are about
/// an object have its key. Equal entries give equal events. Without Secret data and sealed text (redact.h). Pure.
/// Error: kCorrupt, the JSON of a change cannot be parsed.
Result<std::vector<CloudEvent>> cloud_events_of(const FeedEntry& entry, std::string_view source);

/// CloudEvents' JSON format, structured mode, in one line.
std::string to_json(const CloudEvent& event);

/// "urn:shiplog:feeds:v1:ObjectCreated": the $id of the schema of such events.
std::string schema_id(std::string_view event_kind);
std::string type_of(Family family, std::string_view event_kind);

}  // namespace shiplog::feeds
