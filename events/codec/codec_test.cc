#include "events/codec/codec.h"

#include <algorithm>
#include <cstdint>
#include <random>

#include <boost/pfr.hpp>
#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/codec/samples.h"

namespace shiplog {
namespace {

// The error of decode(), or its result encoded again.
std::string said(std::string_view bytes) {
  const auto decoded = decode(bytes);
  return decoded ? encode(decoded.value()) : decoded.error().message;
}

TEST(Samples, SetEveryFieldOfEveryKind) {
  for (const Event& event : samples::every_kind()) {
    std::visit(
        [&](const auto& kind) {
          const std::decay_t<decltype(kind)> blank{};
          size_t at = 0;
          boost::pfr::for_each_field(kind, [&](const auto& field) {
            bool differs = false;
            boost::pfr::for_each_field(blank, [&](const auto& other, size_t index) {
              if constexpr (std::is_same_v<decltype(field), decltype(other)>) differs |= index == at && field != other;
            });
            EXPECT_TRUE(differs) << name_of(event) << ": field " << at << " has its default";
            ++at;
          });
        },
        event);
  }
}

TEST(Codec, ReturnsEveryKindAsItWas) {
  for (const Event& event : samples::every_kind()) {
    const Entry entry = samples::entry_of({event});
    const auto decoded = decode(encode(entry));
    ASSERT_TRUE(decoded) << name_of(event) << ": " << decoded.error().message;
    EXPECT_TRUE(decoded.value() == entry) << name_of(event);
  }
}

TEST(Codec, ReturnsManyEventsInTheirOrder) {
  const Entry entry = samples::entry_of(samples::every_kind());
  const auto decoded = decode(encode(entry));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_TRUE(decoded.value() == entry);
}

TEST(Codec, ReturnsEmptyEntriesAndEmptyEvents) {
  EXPECT_TRUE(decode(encode(Entry{})).value() == Entry{});
  for (const Event& event : samples::every_kind()) {
    Entry entry;
    entry.events.push_back(std::visit([](const auto& kind) -> Event { return std::decay_t<decltype(kind)>{}; }, event));
    EXPECT_TRUE(decode(encode(entry)).value() == entry) << name_of(event);
  }
}

TEST(Codec, WritesEqualEntriesAsEqualBytes) {
  const std::string once = encode(samples::entry_of(samples::every_kind()));
  EXPECT_EQ(encode(samples::entry_of(samples::every_kind())), once);
  EXPECT_EQ(said(once), once);
}

TEST(Codec, WritesTheCommonJudgementOfClustersOnce) {
  PlacementDecided placement;
  Entry entry;
  size_t alone = 0;
  for (int number = 0; number < 1000; ++number) {
    // Five of them are judged each in a way of its own, the others alike in two ways.
    const std::string reason = number % 200 == 0 ? "cluster " + std::to_string(number) + " is odd" : "";
    const std::vector<Verdict> verdicts = {{"ClusterAffinity", true, {}},
                                           {"SpreadConstraint", true, {}},
                                           {"TaintToleration", number % 2 == 0, RenderFailed{reason}}};
    const std::string name = "member-" + std::to_string(number);
    if (number % 200 == 0 || number < 2) {
      placement.why.add({name, 0, number, -1}, {verdicts, {{"ClusterLocality", number % 2 == 0 ? 100 : 0}}});
    } else {
      placement.why.clusters.push_back({name, static_cast<uint32_t>(number % 2 + 1), number, -1});
    }
    if (number > 0) continue;
    entry.events = {placement};
    alone = encode(entry).size();
  }
  placement.why.clusters.push_back({"not judged"});
  entry.events = {placement};
  const std::string bytes = encode(entry);
  EXPECT_TRUE(decode(bytes).value() == entry);
  EXPECT_LT(bytes.size(), 1000 * alone / 6);
}

// A PlacementRefused whose explanation has these bytes for its facts.
std::string explained_by(const std::string& facts) {
  PlacementRefused refused;
  refused.why.inputs_digest = "d";
  Entry entry;
  entry.events = {refused};
  // 52 LENGTH Event: TAG LENGTH PlacementRefused: 0A 00 (binding) 3A LENGTH Explanation: digest. The lengths grow.
  std::string bytes = encode(entry);
  const std::string digest = std::string{"\x12\x01"} + "d";
  const size_t end = bytes.find(digest) + digest.size();
  const std::string field = "\x32" + std::string{static_cast<char>(facts.size())} + facts;
  EXPECT_LT(bytes.size() + field.size(), 127U);
  bytes.insert(end, field);
  for (const size_t back : {1U, 5U, 8U}) {
    char& length = bytes[end - digest.size() - back];
    length = static_cast<char>(length + static_cast<char>(field.size()));
  }
  return bytes;
}

TEST(Codec, ReadsAFactOfANewerBuildAsText) {
  // summary: a Fact with field 2000, of length 0.
  const auto decoded = decode(explained_by(std::string{"\x0A\x03\x82\x7D\x00", 5}));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(std::get<PlacementRefused>(decoded.value().events[0]).why.summary,
            (Fact{Text{"fact 2000, which only a newer version knows"}}));
}

TEST(Codec, RefusesFactsThatAreCutShortOrDoNotAgree) {
  const auto message = [](const std::string& facts) {
    const auto decoded = decode(explained_by(facts));
    return decoded ? "taken" : decoded.error().message;
  };
  const std::string begin = "entry without an id: event 0, PlacementRefused: why.facts: ";
  EXPECT_EQ(message("\x0A\x7F"), begin + "they are cut short");
  const std::string cluster = "\x22\x01m";
  const std::string counts = "\x32\x01\x01\x3A\x01\x01";
  EXPECT_EQ(message(cluster), begin + "the columns of the clusters differ in length");
  EXPECT_EQ(message(cluster + "\x2A\x01\x05" + counts), begin + "there is no judgement 5");
  EXPECT_EQ(message(cluster + std::string{"\x2A\x01\x00", 3} + counts + "\x42\x01\x01"), "taken")
      << "field 8 is of a newer build";
}

TEST(Codec, KeepsExtremeNumbers) {
  PlacementDecided placement;
  placement.targets = {{"m1", INT64_MIN}, {"m2", INT64_MAX}};
  LeaseTaken lease;
  lease.epoch = UINT64_MAX;
  RequestDenied denied;
  denied.status = INT32_MIN;
  Entry entry = samples::entry_of({placement, lease, denied});
  entry.time = {INT64_MIN};
  entry.as_of = {UINT64_MAX};
  entry.fold_version = UINT32_MAX;
  EXPECT_TRUE(decode(encode(entry)).value() == entry);
}

TEST(Codec, KeepsAnObjectOfFourMegabytes) {
  const Value value = Value::object({{"data", std::string(size_t{4} * 1024 * 1024, 'x')}});
  const Entry entry = samples::entry_of({ObjectCreated{{"configmaps", "default", "big"}, value}});
  EXPECT_TRUE(decode(encode(entry)).value() == entry);
}

TEST(Codec, RepairsTextThatIsNoUtf8SoThatItCanBeReadBack) {
  Entry entry;
  entry.actor.user_agent = "curl/\xC3\x28\xFF ok \xE2\x82";
  WorkApplyFailed failed;
  failed.message = "\x80";
  entry.events = {failed,
                  ObjectUpdated{.object = {}, .value = Value::object({{"note", "a\xF0\x9F\x98 b \xF0\x9F\x98\x80"}})}};
  const auto decoded = decode(encode(entry));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded.value().actor.user_agent, "curl/\uFFFD(\uFFFD ok \uFFFD\uFFFD");
  EXPECT_EQ(std::get<WorkApplyFailed>(decoded.value().events[0]).message, "\uFFFD");
  EXPECT_EQ(std::get<ObjectUpdated>(decoded.value().events[1]).value["note"].as_string(),
            "a\uFFFD\uFFFD\uFFFD b \U0001F600");
}

TEST(Codec, RefusesBytesCutShortAnywhere) {
  for (const Event& event : samples::every_kind()) {
    const std::string whole = encode(samples::entry_of({event, event}));
    for (size_t length = 0; length < whole.size(); ++length) {
      const auto decoded = decode(std::string_view{whole}.substr(0, length));
      ASSERT_FALSE(decoded) << name_of(event) << " cut to " << length << " bytes passes for whole";
      ASSERT_EQ(decoded.error().code, ErrorCode::kCorrupt);
    }
  }
}

TEST(Codec, NamesTheEntryThatWasCutShort) {
  const std::string whole = encode(samples::entry_of({ObjectRemoved{}}));
  constexpr size_t kEventCountBytes = 3;
  EXPECT_EQ(said(std::string_view{whole}.substr(0, whole.size() - kEventCountBytes)),
            "entry 1032547698badcfeefcdab8967452301: cut short: it has 1 events of an unknown number");
}

TEST(Codec, NamesTheEventAndTheFieldWhoseJsonIsBroken) {
  std::string bytes = encode(samples::entry_of({ObjectRemoved{}, ClusterObserved{{}, Value::array({1, 2})}}));
  bytes[bytes.find("[1,2]") + 2] = ';';
  const auto decoded = decode(bytes);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt);
  EXPECT_TRUE(decoded.error().message.starts_with(
      "entry 1032547698badcfeefcdab8967452301: event 1, ClusterObserved: status: invalid JSON at line 1, column 3"))
      << decoded.error().message;
}

// An Event message inside an Entry: field 10, length-delimited; event_count is field 1000.
std::string entry_with_event(const std::string& event) {
  return std::string{"\x52"} + static_cast<char>(event.size()) + event + "\xC0\x3E\x01";
}

TEST(Codec, NamesAKindOfANewerBuild) {
  const auto decoded = decode(  // tag (299 << 3) | 2, then a message of two bytes
      entry_with_event(std::string{"\xDA\x12\x02\x0A\x00", 5}));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(decoded.error().message,
            "entry without an id: event 0: kind 299 (family scheduling) is not known to this build: a newer one wrote "
            "it. Run that version or a later one");
}

TEST(Codec, NamesAKindOfAFamilyOfANewerBuild) {
  EXPECT_NE(said(entry_with_event(std::string{"\xC2\x3E\x00", 3})).find("kind 1000 is not known"), std::string::npos);
}

TEST(Codec, RefusesAnEventOfNoKind) {
  EXPECT_EQ(said(entry_with_event("")), "entry without an id: event 0: it is of no kind");
}

TEST(Codec, SkipsFieldsThatANewerBuildAddedToKnownKinds) {
  // LeaseTaken (701) with epoch 5 and a field 99 holding 7.
  LeaseTaken expected;
  expected.epoch = 5;
  const auto decoded = decode(entry_with_event(std::string{"\xEA\x2B\x05\x18\x05\x98\x06\x07", 8}));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_TRUE(decoded.value().events == std::vector<Event>{expected});
}

TEST(Codec, RefusesAnIdThatIsNotSixteenBytesLong) {
  EXPECT_EQ(said(std::string{"\x0A\x03\x61\x62\x63\xC0\x3E\x00", 8}), "entry without an id: id: 3 bytes instead of 16");
}

// Every answer to altered bytes is an entry or kCorrupt; what is taken for an entry can be written and read again.
TEST(Codec, SurvivesAlteredBytes) {
  constexpr unsigned kSeed = 20250611;
  constexpr int kRounds = 20000;
  std::mt19937 random{kSeed};  // NOLINT(cert-msc51-cpp): the same bytes in every run
  std::vector<std::string> originals;
  for (const Event& event : samples::every_kind()) originals.push_back(encode(samples::entry_of({event})));
  const auto below = [&](size_t end) { return static_cast<size_t>(random()) % end; };
  int taken = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::string bytes = originals[below(originals.size())];
    for (size_t left = 1 + below(4); left > 0; --left) {
      const size_t at = below(bytes.size());
      switch (random() % 5) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
          break;
        case 2:
          bytes.erase(at, 1 + below(8));
          break;
        case 3:
          bytes.insert(at, originals[below(originals.size())].substr(0, 1 + below(16)));
          break;
        default:
          bytes.insert(at, 1 + below(8), static_cast<char>(random()));
          break;
      }
      if (bytes.empty()) break;
    }
    const auto decoded = decode(bytes);
    if (!decoded) {
      ASSERT_EQ(decoded.error().code, ErrorCode::kCorrupt) << "round " << round;
      ASSERT_FALSE(decoded.error().message.empty());
      continue;
    }
    ++taken;
    const auto again = decode(encode(decoded.value()));
    ASSERT_TRUE(again) << "round " << round << ": " << again.error().message;
    ASSERT_TRUE(again.value() == decoded.value()) << "round " << round;
  }
  EXPECT_GT(taken, 0);  // else the alterations are too coarse to reach the structs
}

}  // namespace
}  // namespace shiplog
