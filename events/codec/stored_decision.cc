#include "events/codec/stored_decision.h"

#include <string>
#include <variant>

#include "events/base/json_match.h"
#include "events/codec/entry_layout.h"
#include "events/codec/explanation_codec.h"
#include "schemas/events/v1/entry.pb.h"

namespace shiplog {
namespace codec {
namespace {

namespace pb = ::shiplog::events::v1;

constexpr uint32_t kVarint = 0;
constexpr uint32_t kLengthFirst = 2;

constexpr uint32_t tag_of(int field, uint32_t type) { return static_cast<uint32_t>(field) << 3U | type; }

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

  WireReader left_;
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

}  // namespace

std::optional<EntryLayout> layout_of_decision(std::string_view bytes) {
  constexpr uint64_t kControl = 7;  // entry.proto: the hundreds of a kind's number name the family
  constexpr std::string_view kDecides = "\x0a\x06" "decide";
  EntryLayout layout;
  bool decides = false;
  uint64_t last = 0;
  WireReader left{bytes};
  while (!left.ended()) {
    const auto begin = static_cast<size_t>(left.position() - bytes.data());
    const auto tag = left.varint();
    if (!tag) return std::nullopt;
    const uint64_t field = *tag >> 3U;
    const bool repeated = field == pb::Entry::kExpectsFieldNumber || field == pb::Entry::kEventsFieldNumber;
    if (field < last || (field == last && !repeated)) return std::nullopt;
    last = field;
    if ((*tag & 7U) == kVarint) {
      if (!left.varint()) return std::nullopt;
      continue;
    }
    if ((*tag & 7U) != kLengthFirst) return std::nullopt;
    const auto content = left.content();
    if (!content) return std::nullopt;
    if (field == pb::Entry::kRequestFieldNumber) {
      decides = content->starts_with(kDecides);
      if (!decides) return std::nullopt;
    } else if (field == pb::Entry::kEventsFieldNumber) {
      const auto kind = WireReader{*content}.varint();
      if (!kind || (*kind >> 3U) / 100 == kControl) return std::nullopt;
      if (layout.events++ == 0) layout.events_begin = begin;
      layout.events_end = static_cast<size_t>(left.position() - bytes.data());
    }
  }
  if (!decides || layout.events == 0) return std::nullopt;
  return layout;
}

}  // namespace codec

bool holds_events(std::string_view bytes, const std::vector<Event>& events) {
  const auto layout = codec::layout_of_decision(bytes);
  if (!layout || layout->events != events.size()) return false;
  codec::MessageMatcher entry{bytes.substr(layout->events_begin, layout->events_end - layout->events_begin)};
  for (const Event& event : events) {
    const bool same = entry.message(codec::pb::Entry::kEventsFieldNumber, [&](codec::MessageMatcher& one) {
      return std::visit([&](const auto& kind) { return codec::matches(one, kind); },
                        static_cast<const EventVariant&>(event));
    });
    if (!same) return false;
  }
  return entry.ended();
}

}  // namespace shiplog
