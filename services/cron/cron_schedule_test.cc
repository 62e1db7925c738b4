#include "services/cron/cron_schedule.h"

#include <chrono>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace shiplog::cron {
namespace {

UtcMillis at(const std::string& text) { return parse_rfc3339(text).value(); }

/// What comes after `after`, so many times.
std::vector<std::string> runs(const std::string& schedule, const TimeZone& zone, const std::string& after,
                              size_t count = 1) {
  const auto parsed = CronSchedule::parse(schedule);
  EXPECT_TRUE(parsed) << schedule << ": " << (parsed ? "" : parsed.error().message);
  if (!parsed) return {};
  std::vector<std::string> found;
  UtcMillis from = at(after);
  for (size_t i = 0; i < count; ++i) {
    const auto next = parsed.value().next(zone, from);
    if (!next) break;
    found.push_back(rfc3339(*next));
    from = *next;
  }
  return found;
}

using Times = std::vector<std::string>;

// Central Europe's rules: summer time from the last Sunday of March to that of October, at 01:00 UTC.
TimeZone berlin();

TEST(CronSchedule, ComesRoundAfterTheTimeAskedForNotAtIt) {
  const std::vector<std::tuple<const char*, const char*, const char*>> cases = {
      {"* * * * *", "2026-01-01T10:00:00Z", "2026-01-01T10:01:00Z"},
      {"* * * * *", "2026-01-01T09:59:59.999Z", "2026-01-01T10:00:00Z"},
      {"*/15 * * * *", "2026-01-01T10:15:00Z", "2026-01-01T10:30:00Z"},
      {"20-35/15 * * * *", "2026-01-01T10:21:00Z", "2026-01-01T10:35:00Z"},
      {"5/20 * * * *", "2026-01-01T10:26:00Z", "2026-01-01T10:45:00Z"},
      {"0 9 * * mon-fri", "2026-01-02T09:00:00Z", "2026-01-05T09:00:00Z"},
      {"0 9 * jan,MAR *", "2026-01-31T09:00:00Z", "2026-03-01T09:00:00Z"},
      {"30 23 31 12 *", "2026-12-31T23:30:00Z", "2027-12-31T23:30:00Z"},
      {"0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
      {"@hourly", "2026-01-01T10:00:00Z", "2026-01-01T11:00:00Z"},
      {"@daily", "2026-01-01T10:00:00Z", "2026-01-02T00:00:00Z"},
      {"@weekly", "2026-01-01T10:00:00Z", "2026-01-04T00:00:00Z"},
      {"@monthly", "2026-01-01T10:00:00Z", "2026-02-01T00:00:00Z"},
      {"@yearly", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
      {"@every 1h30m", "2026-01-01T10:00:07.5Z", "2026-01-01T11:30:07Z"},
      {"@every 10ms", "2026-01-01T10:00:00Z", "2026-01-01T10:00:01Z"},
  };
  for (const auto& [schedule, after, next] : cases) EXPECT_EQ(runs(schedule, {}, after), Times{next}) << schedule;
}

TEST(CronSchedule, OneOfTwoRestrictedDayFieldsIsEnough) {
  EXPECT_EQ(runs("0 0 13 * fri", {}, "2026-02-01T00:00:00Z", 3),
            (Times{"2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z"}));
  EXPECT_EQ(runs("0 0 13 * *", {}, "2026-02-01T00:00:00Z", 2), (Times{"2026-02-13T00:00:00Z", "2026-03-13T00:00:00Z"}));
  EXPECT_EQ(runs("0 0 */2 * fri", {}, "2026-02-01T00:00:00Z", 3),
            (Times{"2026-02-03T00:00:00Z", "2026-02-05T00:00:00Z", "2026-02-06T00:00:00Z"}))
      << "a step restricts";
}

TEST(CronSchedule, WhatNeverComesRoundIsNotSearchedForEver) {
  EXPECT_EQ(runs("0 0 30 2 *", {}, "2026-01-01T00:00:00Z"), Times{});
  EXPECT_EQ(runs("0 0 31 2,4,6,9,11 *", berlin(), "2026-01-01T00:00:00Z"), Times{});
}

TEST(CronSchedule, FollowsTheClocksOfTheZone) {
  EXPECT_EQ(runs("0 9 * * *", berlin(), "2026-03-27T12:00:00Z", 3),
            (Times{"2026-03-28T08:00:00Z", "2026-03-29T07:00:00Z", "2026-03-30T07:00:00Z"}));
  EXPECT_EQ(runs("0 0 * * *", berlin(), "2026-10-23T23:00:00Z", 3),
            (Times{"2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", "2026-10-26T23:00:00Z"}));
}

TEST(CronSchedule, ATimeThatTheClocksSkipDoesNotComeAndOneTheyRepeatComesTwice) {
  EXPECT_EQ(runs("30 2 * * *", berlin(), "2026-03-28T00:00:00Z", 2),
            (Times{"2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z"}));
  EXPECT_EQ(runs("30 2 * * *", berlin(), "2026-10-24T22:00:00Z", 2),
            (Times{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"}));
  EXPECT_EQ(runs("0 * * * *", berlin(), "2026-03-29T00:00:00Z", 2),
            (Times{"2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"}));
}

/// What the clocks of the zone show.
struct Shown {
  int64_t minute, hour;
  unsigned day, month, weekday;
};

Shown shown_at(const TimeZone& zone, int64_t seconds) {
  const int64_t local = seconds + zone.offset_at(seconds).seconds;
  const std::chrono::sys_days day =
      std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds{std::chrono::seconds{local}});
  const std::chrono::year_month_day date{day};
  return {local / 60 % 60, local / 3600 % 24, unsigned{date.day()}, unsigned{date.month()},
          std::chrono::weekday{day}.c_encoding()};
}

TEST(CronSchedule, AgreesWithASearchMinuteByMinute) {
  const TimeZone zone = berlin();
  const std::vector<std::pair<const char*, std::function<bool(const Shown&)>>> schedules = {
      {"*/7 1-3 * * *", [](const Shown& s) { return s.minute % 7 == 0 && s.hour >= 1 && s.hour <= 3; }},
      {"59 23 * * sun", [](const Shown& s) { return s.minute == 59 && s.hour == 23 && s.weekday == 0; }},
      {"0 2 1 4,11 *", [](const Shown& s) { return s.minute == 0 && s.hour == 2 && s.day == 1 && s.month % 7 == 4; }},
      {"0 2,3 28-31 3,10 *",
       [](const Shown& s) {
         return s.minute == 0 && (s.hour == 2 || s.hour == 3) && s.day >= 28 && (s.month == 3 || s.month == 10);
       }},
      {"13 0 1 * mon", [](const Shown& s) { return s.minute == 13 && s.hour == 0 && (s.day == 1 || s.weekday == 1); }},
  };
  for (const auto& [schedule, matches] : schedules) {
    const CronSchedule parsed = CronSchedule::parse(schedule).value();
    for (const char* from : {"2026-03-25T00:00:00Z", "2026-10-21T00:00:00Z"}) {
      UtcMillis next = *parsed.next(zone, at(from));
      for (int64_t second = at(from).value / 1000 + 60; second < at(from).value / 1000 + 12 * 86'400; second += 60) {
        const bool comes = next.value == second * 1000;
        ASSERT_EQ(comes, matches(shown_at(zone, second))) << schedule << " at " << rfc3339({second * 1000});
        if (comes) next = *parsed.next(zone, next);
      }
    }
  }
}

TEST(CronSchedule, WhatIsNoScheduleIsRefusedWithTheReason) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"", "expected exactly 5 fields, found 0: []"},
      {"* * * *", "expected exactly 5 fields, found 4: [* * * *]"},
      {"60 * * * *", "end of range (60) above maximum (59): 60"},
      {"* * 0 * *", "beginning of range (0) below minimum (1): 0"},
      {"5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"},
      {"*/0 * * * *", "step of range should be a positive number: */0"},
      {"@never", "unrecognized descriptor: @never"},
      {"@every soon", "failed to parse duration @every soon: time: invalid duration \"soon\""},
      {"a * * * *", "failed to parse int from a: strconv.Atoi: parsing \"a\": invalid syntax"},
  };
  for (const auto& [text, why] : cases) {
    const auto parsed = CronSchedule::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().message, why);
  }
  EXPECT_TRUE(CronSchedule::parse("0-59/9223372036854775807 * * * *")) << "a step may be larger than the range";
}

TimeZone berlin() {
  // A file of the second version without transitions: all is in its last line.
  const std::string counts_1(24, '\0');
  const std::string header_1 = "TZif2" + std::string(15, '\0') + counts_1;
  std::string counts_2(24, '\0');
  counts_2[19] = 1;  // offsets
  counts_2[23] = 4;  // characters of names
  const std::string offset = std::string{"\x00\x00\x0e\x10\x00\x00", 6} + std::string{"CET\0", 4};
  return TimeZone::from_tzif(header_1 + "TZif2" + std::string(15, '\0') + counts_2 + offset +
                             "\nCET-1CEST,M3.5.0,M10.5.0/3\n")
      .value();
}

}  // namespace
}  // namespace shiplog::cron
