#include "events/codec/stored_decision.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "events/base/json_match.h"
#include "events/base/utf8.h"
#include "events/codec/explanation_codec.h"
#include "events/codec/stored_fields.h"
#include "schemas/events/v1/entry.pb.h"

namespace shiplog {
namespace codec {
namespace {

namespace pb = ::shiplog::events::v1;

constexpr uint32_t kVarint = 0;
constexpr uint32_t kLengthFirst = 2;

constexpr uint32_t tag_of(int field, uint32_t type) { return static_cast<uint32_t>(field) << 3U | type; }

template <class Use>
bool for_each_entry_field(std::string_view bytes, Use use) {
  return for_each_field(bytes, {pb::Entry::kExpectsFieldNumber, pb::Entry::kEventsFieldNumber}, use);
}

/// The bytes of one message beside the struct that they should be of. The functions are called in the order of the
/// fields' numbers; each is true if its field is what encode() would write.
class MessageMatcher {
 public:
  explicit MessageMatcher(std::string_view bytes) : left_{bytes} {}

  bool ended() const { return left_.ended(); }

  bool text(int field, std::string_view wanted) { return wanted.empty() || take(field) == wanted; }
  bool json(int field, const Value& wanted) {
    if (wanted.is_null()) return true;
    const auto found = take(field);
    return found && is_json_of(*found, wanted);
  }
  bool number(int field, int64_t wanted) {
    if (wanted == 0) return true;
    return left_.take_tag(tag_of(field, kVarint)) && left_.varint() == static_cast<uint64_t>(wanted);
  }
  template <class Matches>
  bool message(int field, Matches matches) {
    const auto found = take(field);
    if (!found) return false;
    MessageMatcher inner{*found};
    return matches(inner) && inner.ended();
  }
  bool key(int field, const ObjectKey& wanted) {
    return message(field, [&](MessageMatcher& inner) {
      return inner.text(1, wanted.type) && inner.text(2, wanted.ns) && inner.text(3, wanted.name);
    });
  }
  bool why(int field, const Explanation& wanted) {
    if (wanted == Explanation{}) return true;
    return message(field, [&](MessageMatcher& inner) {
      thread_local std::string facts;
      facts.clear();
      write_facts(wanted, facts);
      return inner.text(pb::Explanation::kInputsDigestFieldNumber, wanted.inputs_digest) &&
             inner.text(pb::Explanation::kFactsFieldNumber, facts);
    });
  }

 private:
  std::optional<std::string_view> take(int field) {
    if (!left_.take_tag(tag_of(field, kLengthFirst))) return std::nullopt;
    return left_.content();
  }

  StoredFieldReader left_;
};

// The kinds that most decisions consist of. `event` is the message Event, whose only field is the kind.

bool matches(MessageMatcher& event, const ObjectCreated& wanted) {
  return event.message(pb::Event::kObjectCreatedFieldNumber, [&](MessageMatcher& it) {
    return it.key(pb::ObjectCreated::kObjectFieldNumber, wanted.object) &&
           it.json(pb::ObjectCreated::kValueFieldNumber, wanted.value);
  });
}

bool matches(MessageMatcher& event, const ObjectUpdated& wanted) {
  return event.message(pb::Event::kObjectUpdatedFieldNumber, [&](MessageMatcher& it) {
    return it.key(pb::ObjectUpdated::kObjectFieldNumber, wanted.object) &&
           it.json(pb::ObjectUpdated::kValueFieldNumber, wanted.value);
  });
}

bool matches(MessageMatcher& event, const StatusUpdated& wanted) {
  return event.message(pb::Event::kStatusUpdatedFieldNumber, [&](MessageMatcher& it) {
    return it.key(pb::StatusUpdated::kObjectFieldNumber, wanted.object) &&
           it.json(pb::StatusUpdated::kValueFieldNumber, wanted.value);
  });
}

bool matches(MessageMatcher& event, const BindingPut& wanted) {
  return event.message(pb::Event::kBindingPutFieldNumber, [&](MessageMatcher& it) {
    return it.key(pb::BindingPut::kBindingFieldNumber, wanted.binding) &&
           it.json(pb::BindingPut::kValueFieldNumber, wanted.value) &&
           it.why(pb::BindingPut::kWhyFieldNumber, wanted.why);
  });
}

bool matches(MessageMatcher& event, const PlacementDecided& wanted) {
  const auto counted = [](MessageMatcher& it, int field, const std::string& name, int64_t replicas) {
    return it.message(field, [&](MessageMatcher& one) { return one.text(1, name) && one.number(2, replicas); });
  };
  return event.message(pb::Event::kPlacementDecidedFieldNumber, [&](MessageMatcher& it) {
    if (!it.key(pb::PlacementDecided::kBindingFieldNumber, wanted.binding)) return false;
    for (const Target& target : wanted.targets) {
      if (!counted(it, pb::PlacementDecided::kTargetsFieldNumber, target.cluster, target.replicas)) return false;
    }
    if (!it.number(pb::PlacementDecided::kObservedGenerationFieldNumber, wanted.observed_generation) ||
        !it.text(pb::PlacementDecided::kAppliedPlacementFieldNumber, wanted.applied_placement) ||
        !it.text(pb::PlacementDecided::kAffinityNameFieldNumber, wanted.affinity_name) ||
        !it.why(pb::PlacementDecided::kWhyFieldNumber, wanted.why)) {
      return false;
    }
    for (const ComponentReplicas& component : wanted.components) {
      if (!counted(it, pb::PlacementDecided::kComponentsFieldNumber, component.name, component.replicas)) return false;
    }
    return true;
  });
}

bool matches(MessageMatcher& event, const WorkRendered& wanted) {
  return event.message(pb::Event::kWorkRenderedFieldNumber, [&](MessageMatcher& it) {
    return it.key(pb::WorkRendered::kWorkFieldNumber, wanted.work) &&
           it.json(pb::WorkRendered::kValueFieldNumber, wanted.value) &&
           it.why(pb::WorkRendered::kWhyFieldNumber, wanted.why);
  });
}

bool matches(MessageMatcher& event, const StatusAggregated& wanted) {
  return event.message(pb::Event::kStatusAggregatedFieldNumber, [&](MessageMatcher& it) {
    return it.key(pb::StatusAggregated::kBindingFieldNumber, wanted.binding) &&
           it.json(pb::StatusAggregated::kAggregatedStatusFieldNumber, wanted.aggregated_status) &&
           it.number(pb::StatusAggregated::kFullyAppliedFieldNumber, wanted.fully_applied ? 1 : 0) &&
           it.text(pb::StatusAggregated::kReasonFieldNumber, wanted.reason) &&
           it.text(pb::StatusAggregated::kMessageFieldNumber, wanted.message) &&
           (wanted.template_object == ObjectKey{} ||
            it.key(pb::StatusAggregated::kTemplateObjectFieldNumber, wanted.template_object)) &&
           it.json(pb::StatusAggregated::kTemplateStatusFieldNumber, wanted.template_status);
  });
}

template <class Kind>
bool matches(MessageMatcher& /*event*/, const Kind& /*wanted*/) {
  return false;
}

// The entry without its events. Each function is true if the field is one that it knows, with a value that decode()
// would accept.

bool read(const StoredField& field, std::string& into) {
  if (field.is_number || !is_utf8(field.content)) return false;
  into = field.content;
  return true;
}

bool read(const StoredField& field, SharedText& into) {
  if (field.is_number || !is_utf8(field.content)) return false;
  into = field.content;
  return true;
}

bool read(const StoredField& field, uint64_t& into) {
  into = field.value;
  return field.is_number;
}

bool read(const StoredField& field, int64_t& into) {
  into = static_cast<int64_t>(field.value);
  return field.is_number;
}

bool read(const StoredField& field, int32_t& into) {
  into = static_cast<int32_t>(static_cast<uint32_t>(field.value));
  return field.is_number;
}

bool read(const StoredField& field, uint32_t& into) {
  into = static_cast<uint32_t>(field.value);
  return field.is_number;
}

bool read(const StoredField& field, EntryId& into) {
  if (field.is_number || field.content.size() != into.bytes.size()) return false;
  std::copy(field.content.begin(), field.content.end(), into.bytes.begin());
  return true;
}

bool read(const StoredField& field, ObjectKey& into);

/// A message whose fields are these members, in the order of their numbers from 1 on.
template <class... Members>
bool read_message(const StoredField& field, Members&... members) {
  return !field.is_number && for_each_field(field.content, {}, [&](const StoredField& inner) {
    uint32_t number = 0;
    return ((++number == inner.number && read(inner, members)) || ...);
  });
}

bool read(const StoredField& field, ObjectKey& into) { return read_message(field, into.type, into.ns, into.name); }

bool read(const StoredField& field, Actor& into) {
  return !field.is_number &&
         for_each_field(field.content, {pb::Actor::kGroupsFieldNumber}, [&](const StoredField& inner) {
           switch (inner.number) {
             case pb::Actor::kUserFieldNumber:
               return read(inner, into.user);
             case pb::Actor::kGroupsFieldNumber:
               return read(inner, into.groups.emplace_back());
             case pb::Actor::kServiceFieldNumber:
               return read(inner, into.service);
             case pb::Actor::kSourceIpFieldNumber:
               return read(inner, into.source_ip);
             case pb::Actor::kUserAgentFieldNumber:
               return read(inner, into.user_agent);
             default:
               return false;
           }
         });
}

}  // namespace
}  // namespace codec

std::optional<Entry> decode_without_events(std::string_view bytes) {
  using codec::read;
  using codec::read_message;
  using Message = codec::pb::Entry;
  constexpr uint64_t kControl = 7;  // entry.proto: the hundreds of a kind's number name the family
  std::optional<Entry> entry{std::in_place};
  entry->fold_version = 0;
  uint32_t event_count = 0;
  uint32_t events = 0;
  const auto use = [&](const codec::StoredField& field) {
    switch (field.number) {
      case Message::kIdFieldNumber:
        return read(field, entry->id);
      case Message::kTimeMsFieldNumber:
        return read(field, entry->time.value);
      case Message::kActorFieldNumber:
        return read(field, entry->actor);
      case Message::kRequestFieldNumber:
        return read_message(field, entry->request.verb, entry->request.path) && entry->request.verb == "decide";
      case Message::kCauseFieldNumber:
        return read_message(field, entry->cause.revision.value, entry->cause.entry_id, entry->cause.trace_id);
      case Message::kAsOfFieldNumber:
        return read(field, entry->as_of.value);
      case Message::kFenceFieldNumber:
        return read_message(field, entry->fence.service, entry->fence.epoch);
      case Message::kFoldVersionFieldNumber:
        return read(field, entry->fold_version);
      case Message::kExpectsFieldNumber: {
        Expect& expect = entry->expects.emplace_back();
        return read_message(field, expect.object, expect.revision.value);
      }
      case Message::kEventsFieldNumber: {
        const auto tag = codec::StoredFieldReader{field.content}.varint();
        ++events;
        return !field.is_number && tag && (*tag >> 3U) / 100 != kControl;
      }
      case Message::kSourceFieldNumber: {
        RequestSource& source = entry->source;
        return read_message(field, source.id, source.topic, source.partition, source.offset, source.done_before);
      }
      case Message::kEventCountFieldNumber:
        return read(field, event_count);
      default:
        return false;
    }
  };
  const bool whole = codec::for_each_entry_field(bytes, use);
  if (!whole || events == 0 || event_count != events || entry->request.verb != "decide") return std::nullopt;
  return entry;
}

bool holds_events(std::string_view bytes, const std::vector<Event>& events) {
  size_t same = 0;
  const bool all = codec::for_each_entry_field(bytes, [&](const codec::StoredField& field) {
    if (field.number != codec::pb::Entry::kEventsFieldNumber) return true;
    if (same == events.size()) return false;
    codec::MessageMatcher event{field.content};
    return std::visit([&](const auto& kind) { return codec::matches(event, kind); },
                      static_cast<const EventVariant&>(events[same++])) &&
           event.ended();
  });
  return all && same == events.size();
}

}  // namespace shiplog
