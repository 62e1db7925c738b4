#include "services/cron/time_zone.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/time.h"

namespace shiplog::cron {
namespace {

int64_t seconds_of(const std::string& text) { return parse_rfc3339(text).value().value / 1000; }

std::string big_endian(int64_t value, int width) {
  std::string bytes;
  for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

/// The part of a file with times of `width` bytes: transitions to the offset at an index.
std::string part(int width, const std::vector<std::pair<int64_t, int>>& transitions,
                 const std::vector<int64_t>& offsets, int64_t leap_seconds = 0) {
  std::string bytes = "TZif2" + std::string(15, '\0');
  for (const int64_t count : {int64_t{0}, int64_t{0}, leap_seconds, static_cast<int64_t>(transitions.size()),
                              static_cast<int64_t>(offsets.size()), int64_t{4}}) {
    bytes += big_endian(count, 4);
  }
  for (const auto& [at, index] : transitions) bytes += big_endian(at, width);
  for (const auto& [at, index] : transitions) bytes += static_cast<char>(index);
  for (const int64_t offset : offsets) bytes += big_endian(offset, 4) + std::string(2, '\0');
  bytes += std::string{"LMT\0", 4};
  return bytes + std::string(static_cast<size_t>(leap_seconds * (width + 4)), '\0');
}

std::string file(const std::vector<std::pair<int64_t, int>>& transitions, const std::vector<int64_t>& offsets,
                 const std::string& footer) {
  return part(4, {}, {0}) + part(8, transitions, offsets) + "\n" + footer + "\n";
}

TEST(TimeZone, HasItsOffsetsBetweenTransitionsAndFollowsItsRuleAfterThem) {
  const int64_t first = seconds_of("2000-01-01T00:00:00Z"), second = seconds_of("2010-06-01T00:00:00Z");
  const TimeZone zone = TimeZone::from_tzif(file({{first, 1}, {second, 2}}, {-100, 3600, 7200}, "<+03>-3")).value();
  EXPECT_EQ(zone.offset_at(first - 1), (UtcOffset{-100, first}));
  EXPECT_EQ(zone.offset_at(first), (UtcOffset{3600, second}));
  EXPECT_EQ(zone.offset_at(second), UtcOffset{10800});
  const TimeZone without_rule = TimeZone::from_tzif(file({{first, 1}}, {0, 3600}, "")).value();
  EXPECT_EQ(without_rule.offset_at(first + 1), UtcOffset{3600});
  EXPECT_EQ(TimeZone{}.offset_at(first), UtcOffset{});
}

TEST(TimeZone, ReadsAFileOfTheFirstVersion) {
  std::string bytes = part(4, {{100, 1}}, {0, 3600});
  bytes[4] = '\0';
  const TimeZone zone = TimeZone::from_tzif(bytes).value();
  EXPECT_EQ(zone.offset_at(99), (UtcOffset{0, 100}));
  EXPECT_EQ(zone.offset_at(100), UtcOffset{3600});
}

TEST(TimeZone, OfADamagedFileIsAnError) {
  const std::string whole = file({{1, 0}, {2, 0}}, {0}, "UTC0");
  ASSERT_TRUE(TimeZone::from_tzif(whole));
  for (size_t length = 0; length + 7 < whole.size(); ++length) {
    EXPECT_FALSE(TimeZone::from_tzif(whole.substr(0, length))) << length << " bytes";
  }
  EXPECT_FALSE(TimeZone::from_tzif(file({{2, 0}, {1, 0}}, {0}, "UTC0"))) << "out of order";
  EXPECT_FALSE(TimeZone::from_tzif(file({{1, 7}}, {0}, "UTC0"))) << "there is no such offset";
  EXPECT_FALSE(TimeZone::from_tzif(file({}, {0}, "nonsense")));
  EXPECT_FALSE(TimeZone::from_tzif(part(4, {}, {0}) + part(8, {}, {0}, 1))) << "leap seconds";
}

TEST(PosixTimeZone, ChangesOnTheDaysOfItsRule) {
  struct Expected {
    const char* zone;
    const char* at;
    int64_t offset;
    const char* until;
  };
  const std::vector<Expected> cases = {
      {"CET-1CEST,M3.5.0,M10.5.0/3", "2040-01-01T00:00:00Z", 3600, "2040-03-25T01:00:00Z"},
      {"CET-1CEST,M3.5.0,M10.5.0/3", "2040-03-25T01:00:00Z", 7200, "2040-10-28T01:00:00Z"},
      {"EST5EDT,M3.2.0,M11.1.0", "2026-03-08T06:59:59Z", -18000, "2026-03-08T07:00:00Z"},
      {"EST5EDT,M3.2.0,M11.1.0", "2026-11-01T05:59:59Z", -14400, "2026-11-01T06:00:00Z"},
      {"<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "2026-03-29T00:30:00Z", -10800, "2026-03-29T01:00:00Z"},
      {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-01-01T00:00:00Z", 39600, "2026-04-04T15:00:00Z"},
      {"AAA0BBB,J60/0,J300/0", "2028-01-01T00:00:00Z", 0, "2028-03-01T00:00:00Z"},
      {"AAA0BBB,59/0,299/0", "2028-01-01T00:00:00Z", 0, "2028-02-29T00:00:00Z"},
  };
  for (const Expected& each : cases) {
    const auto zone = PosixTimeZone::parse(each.zone);
    ASSERT_TRUE(zone) << each.zone;
    const UtcOffset offset = zone.value().offset_at(seconds_of(each.at));
    EXPECT_EQ(offset.seconds, each.offset) << each.zone << " " << each.at;
    EXPECT_EQ(rfc3339({offset.until * 1000}), each.until) << each.zone << " " << each.at;
  }
  EXPECT_EQ(PosixTimeZone::parse("<+0530>-5:30").value().offset_at(0), UtcOffset{19800});
}

TEST(PosixTimeZone, WhatIsNoneIsRefused) {
  for (const char* text :
       {"", "C", "CET", "<+03-3", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M3.5.0,M10.5.0/3x", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,J0,J1", "<+01>-1:60"}) {
    EXPECT_FALSE(PosixTimeZone::parse(text)) << text;
  }
}

TEST(TimeZoneName, IsOneOfTheDatabase) {
  for (const char* name : {"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+3"}) {
    EXPECT_EQ(time_zone_problem(name), std::nullopt) << name;
  }
  for (const char* name : {"", "Mars/X", "../passwd", "Europe/..", "/etc/passwd", "Local", "Europe//Berlin"}) {
    EXPECT_NE(time_zone_problem(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace shiplog::cron
