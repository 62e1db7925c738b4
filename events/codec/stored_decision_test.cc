#include "events/codec/stored_decision.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "events/codec/codec.h"
#include "events/codec/samples.h"

namespace shiplog {
namespace {

Entry decision_of(std::vector<Event> events) {
  Entry entry = samples::entry_of(std::move(events));
  entry.request.verb = "decide";
  return entry;
}

Entry without_events(Entry entry) {
  entry.events.clear();
  return entry;
}

/// The bytes are read as a decision that holds these events, without decoding them.
bool taken_for(std::string_view bytes, const std::vector<Event>& events) {
  return decode_without_events(bytes) && holds_events(bytes, events);
}

bool quick(const Event& event) {
  static const std::set<std::string_view> kQuick = {"ObjectCreated",   "ObjectUpdated",    "StatusUpdated",
                                                    "BindingPut",      "PlacementDecided", "WorkRendered",
                                                    "StatusAggregated"};
  return kQuick.contains(name_of(event));
}

/// Of a kind that is compared as bytes.
std::vector<Event> quick_samples() {
  std::vector<Event> samples = samples::every_kind();
  std::erase_if(samples, [](const Event& event) { return !quick(event); });
  return samples;
}

TEST(StoredDecision, IsReadWithoutItsEvents) {
  for (const Event& event : samples::every_kind()) {
    const Entry entry = decision_of({event});
    const auto read = decode_without_events(encode(entry));
    EXPECT_EQ(read.has_value(), family_of(event) != Family::kControl) << name_of(event);
    if (!read) continue;
    EXPECT_TRUE(*read == without_events(entry)) << name_of(event);
  }
  EXPECT_FALSE(decode_without_events(encode(decision_of({}))));
  EXPECT_FALSE(decode_without_events(encode(samples::entry_of(quick_samples()))));
  EXPECT_FALSE(decode_without_events(""));
}

TEST(StoredDecision, HoldsTheEventsThatItWasMadeOf) {
  for (const Event& event : samples::every_kind()) {
    EXPECT_EQ(holds_events(encode(decision_of({event})), {event}), quick(event)) << name_of(event);
  }
  const auto all = quick_samples();
  EXPECT_EQ(all.size(), 7U);
  EXPECT_TRUE(holds_events(encode(decision_of(all)), all));
  for (const Event& event : all) {
    const std::vector<Event> blank{
        std::visit([](const auto& kind) -> Event { return std::decay_t<decltype(kind)>{}; }, event)};
    EXPECT_TRUE(holds_events(encode(decision_of(blank)), blank)) << name_of(event);
    EXPECT_FALSE(holds_events(encode(decision_of({event})), blank)) << name_of(event);
    EXPECT_FALSE(holds_events(encode(decision_of(blank)), {event})) << name_of(event);
  }
}

TEST(StoredDecision, HoldsNoOtherEvents) {
  const auto all = quick_samples();
  const std::string bytes = encode(decision_of(all));
  for (size_t left_out = 0; left_out < all.size(); ++left_out) {
    auto fewer = all;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(left_out));
    EXPECT_FALSE(holds_events(bytes, fewer));
    EXPECT_FALSE(holds_events(encode(decision_of(fewer)), all));
  }
  auto swapped = all;
  std::swap(swapped.front(), swapped.back());
  EXPECT_FALSE(holds_events(bytes, swapped));
  EXPECT_FALSE(holds_events(bytes, {}));
}

// Every bit of each: a change is noticed, or changes nothing.
TEST(StoredDecision, NoChangedBytesPassForTheOnesThatWereRecorded) {
  for (const Event& event : quick_samples()) {
    const std::vector<Event> events{event, event};
    const Entry entry = decision_of(events);
    const std::string bytes = encode(entry);
    ASSERT_TRUE(taken_for(bytes, events)) << name_of(event);
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string changed = bytes;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
      if (!taken_for(changed, events)) continue;
      const auto decoded = decode(changed);
      ASSERT_TRUE(decoded) << name_of(event) << ", bit " << bit << ": " << decoded.error().message;
      EXPECT_TRUE(decoded.value().events == events) << name_of(event) << ", bit " << bit;
      EXPECT_TRUE(without_events(decoded.value()) == *decode_without_events(changed))
          << name_of(event) << ", bit " << bit;
    }
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(taken_for(std::string_view{bytes}.substr(0, size), events)) << name_of(event) << ", " << size;
    }
  }
}

TEST(StoredDecision, ARepairedTextIsNotTakenForWhatItWas) {
  const std::vector<Event> events{WorkRendered{{"works", "ns", "w"}, Value::object({{"text", "\xff"}}), {}}};
  const std::string bytes = encode(decision_of(events));
  EXPECT_FALSE(holds_events(bytes, events));
  EXPECT_TRUE(holds_events(bytes, decode(bytes).value().events));
}

// Protobuf reads fields in any order, and the last of two.
TEST(StoredDecision, WhatEncodeDoesNotWriteIsLeftToDecode) {
  const auto events = quick_samples();
  const std::string bytes = encode(decision_of(events));
  const std::string request = std::string{"\x22\x08\x0a\x06"} + "create";
  const auto decoded = decode(bytes + request);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded.value().request.verb, "create");
  EXPECT_FALSE(decode_without_events(bytes + request));
  EXPECT_FALSE(decode_without_events(bytes + bytes));
}

}  // namespace
}  // namespace shiplog
