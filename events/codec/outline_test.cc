#include "events/codec/outline.h"

#include <gtest/gtest.h>

#include "events/codec/codec.h"
#include "events/codec/samples.h"

namespace shiplog {
namespace {

constexpr EntryId kId{{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}};

Entry entry_with(std::vector<Event> events) {
  Entry entry;
  entry.id = kId;
  entry.time = UtcMillis{1};
  entry.actor.user = "somebody";
  entry.events = std::move(events);
  return entry;
}

TEST(Outline, NamesTheIdAndEachFamilyOnce) {
  const Outline found =
      outline(encode(entry_with({LeaseTaken{"scheduler", "a", 1}, RequestDenied{}, LeaseTaken{"binder", "a", 1}})));
  EXPECT_EQ(found.id, kId);
  EXPECT_EQ(found.families, (std::vector<Family>{Family::kControl, Family::kApi}));
}

TEST(Outline, TheIdAloneIsFoundWithEveryKindAndInNothingElse) {
  for (const Event& event : samples::every_kind()) {
    EXPECT_EQ(entry_id_in(encode(entry_with({event}))), entry_with({}).id) << name_of(event);
  }
  const std::string whole = encode(entry_with({}));
  EXPECT_TRUE(entry_id_in(std::string_view{whole}.substr(0, 17)).empty());
  EXPECT_TRUE(entry_id_in("").empty());
  EXPECT_TRUE(entry_id_in(std::string(100, '\xff')).empty());
}

TEST(Outline, KnowsTheFamilyOfEveryKind) {
  for (const Event& event : samples::every_kind()) {
    EXPECT_EQ(outline(encode(entry_with({event}))).families, std::vector<Family>{family_of(event)}) << name_of(event);
  }
}

TEST(Outline, OfInvalidBytesDescribesThem) {
  const std::string whole = encode(entry_with({LeaseTaken{"scheduler", "a", 1}}));
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_LE(outline(std::string_view{whole}.substr(0, length)).families.size(), 1U);
  }
  EXPECT_TRUE(outline(std::string(100, '\xff')).families.empty());
}

}  // namespace
}  // namespace shiplog
