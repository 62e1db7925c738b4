#include <limits>

#include <gtest/gtest.h>

#include "events/base/schema_duration.h"
#include "events/base/time.h"

namespace shiplog {
namespace {

TEST(Time, IsWrittenInSecondsOrMilliseconds) {
  const UtcMillis at{1136214245123};
  EXPECT_EQ(rfc3339(at), "2006-01-02T15:04:05Z");
  EXPECT_EQ(rfc3339_millis(at), "2006-01-02T15:04:05.123Z");
  EXPECT_EQ(rfc3339(UtcMillis{0}), "1970-01-01T00:00:00Z");
}

TEST(Time, BeforeTheEpochCountsDown) {
  EXPECT_EQ(rfc3339_millis(UtcMillis{-1}), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(rfc3339(UtcMillis{-86400000}), "1969-12-31T00:00:00Z");
}

TEST(Time, OutsideFourDigitYearsStopsAtTheEnds) {
  EXPECT_EQ(rfc3339(UtcMillis{std::numeric_limits<int64_t>::max()}), "9999-12-31T23:59:59Z");
  EXPECT_EQ(rfc3339(UtcMillis{std::numeric_limits<int64_t>::min()}), "0000-01-01T00:00:00Z");
}

TEST(Time, ReadsFractionsAndOffsets) {  // NEG-10
  const std::pair<const char*, int64_t> cases[] = {
      {"2006-01-02T15:04:05Z", 1136214245000},        {"2006-01-02T15:04:05.123456789Z", 1136214245123},
      {"2006-01-02T15:04:05+01:30", 1136208845000},   {"2006-01-02T15:04:05-23:59", 1136300585000},
      {"2006-01-02T15:04:05.5+00:00", 1136214245500}, {"1969-12-31T23:59:59.999Z", -1},
      {"2004-02-29T00:00:00Z", 1078012800000},        {"0001-01-01T00:00:00Z", -62135596800000},
  };
  for (const auto& [text, millis] : cases) {
    const auto at = parse_rfc3339(text);
    ASSERT_TRUE(at) << text;
    EXPECT_EQ(at.value().value, millis) << text;
  }
}

TEST(Time, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "2006-01-02", "2006-01-02T15:04:05", "2006-01-02 15:04:05Z", "2006-1-2T15:04:05Z", "2006-02-29T00:00:00Z",
        "2006-13-01T00:00:00Z", "2006-00-01T00:00:00Z", "2006-01-00T00:00:00Z", "2006-01-02T24:00:00Z",
        "2006-01-02T15:60:00Z", "2006-01-02T15:04:60Z", "2006-01-02T15:04:05.Z", "2006-01-02T15:04:05Zx",
        "2006-01-02T15:04:05+24:00", "2006-01-02T15:04:05+0130", "+006-01-02T15:04:05Z"}) {
    const auto at = parse_rfc3339(text);
    ASSERT_FALSE(at) << text;
    EXPECT_EQ(at.error().code, ErrorCode::kBadRequest);
  }
}

TEST(Time, EveryDayOfFourHundredYearsReadsBack) {
  for (int64_t day = -100 * 365; day < 300 * 366; ++day) {
    const UtcMillis at{day * 86'400'000 + 43'200'001};
    const auto back = parse_rfc3339(rfc3339_millis(at));
    ASSERT_TRUE(back) << rfc3339_millis(at);
    ASSERT_EQ(back.value(), at);
  }
}

TEST(Duration, ReadsGoDurations) {
  const std::pair<const char*, int64_t> cases[] = {
      {"0", 0},
      {"-0", 0},
      {"1h2m3.5s", 3723500},
      {"300ms", 300},
      {"-1.5h", -5400000},
      {"+5s", 5000},
      {".5s", 500},
      {"5.s", 5000},
      {"1500us", 1},
      {"1500\xC2\xB5s", 1},
      {"1500\xCE\xBCs", 1},
      {"999999ns", 0},
      {"00001m", 60000},
      {"1s1s", 2000},
      {"1.0000000000000000000000000001s", 1000},
      {"2562047h47m16.854s", 9223372036854},
  };
  for (const auto& [text, millis] : cases) {
    const auto duration = parse_duration(text);
    ASSERT_TRUE(duration) << text;
    EXPECT_EQ(duration.value().value, millis) << text;
  }
}

TEST(Duration, RefusesWhatIsNoDuration) {
  for (const char* text : {"", "-", "1", "s", ".s", "1.", "1d", "1 s", "1h-2m", "1e3s", "--1s", "2562048h",
                           "9223372036854775808ns", "99999999999999999999999999999999999999999999h"}) {
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_EQ(duration.error().code, ErrorCode::kBadRequest);
  }
}

TEST(Duration, OfASchemaMayHaveDaysAndWords) {
  constexpr int64_t kSecond = 1'000'000'000;
  const std::vector<std::pair<const char*, int64_t>> cases = {
      {"1h30m", 5400 * kSecond},          {"-1.5s", -1'500'000'000},
      {"3d", 3 * 86400 * kSecond},        {"2 weeks", 14 * 86400 * kSecond},
      {"1 hour 30 min", 5400 * kSecond},  {" 1 HR ", 3600 * kSecond},
      {"5 minutes", 300 * kSecond},       {"7\xC2\xB5s", 7000},
      {"1 day 4 moons", 86400 * kSecond},
  };
  for (const auto& [text, nanoseconds] : cases) EXPECT_EQ(parse_schema_duration(text), nanoseconds) << text;
  for (const char* text : {"", " ", "d", "3", "4 moons", "-3d", "1.5d", "3d!", "100000000w", "99999999999999999999d"}) {
    EXPECT_EQ(parse_schema_duration(text), std::nullopt) << text;
  }
}

TEST(Age, IsPrintedAsKubectlPrintsIt) {
  constexpr int64_t kHour = 3600;
  constexpr int64_t kDay = 24 * kHour;
  constexpr int64_t kYear = 365 * kDay;
  const std::pair<int64_t, const char*> cases[] = {
      {-2, "<invalid>"},
      {-1, "0s"},
      {0, "0s"},
      {119, "119s"},
      {120, "2m"},
      {150, "2m30s"},
      {599, "9m59s"},
      {600, "10m"},
      {3 * kHour - 1, "179m"},
      {3 * kHour, "3h"},
      {3 * kHour + 720, "3h12m"},
      {8 * kHour, "8h"},
      {2 * kDay - 1, "47h"},
      {2 * kDay, "2d"},
      {2 * kDay + kHour, "2d1h"},
      {8 * kDay, "8d"},
      {2 * kYear - 1, "729d"},
      {2 * kYear, "2y"},
      {2 * kYear + 10 * kDay, "2y10d"},
      {8 * kYear + 10 * kDay, "8y"},
  };
  for (const auto& [seconds, text] : cases) EXPECT_EQ(human_duration(Millis{seconds * 1000}), text) << seconds;
  EXPECT_EQ(human_duration(Millis{-1999}), "0s");
}

}  // namespace
}  // namespace shiplog
