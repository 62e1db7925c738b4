#include "services/programs/shiplogd/trim_point.h"

#include <gtest/gtest.h>

namespace shiplog {
namespace {

/// A record a second, of 100 bytes.
TrimPoints of_records(int64_t count) {
  TrimPoints points;
  for (int64_t number = 0; number < count; ++number) {
    points.add(Offset{number}, 100, [&] { return UtcMillis{1'000'000 + number * 1000}; });
  }
  return points;
}

TEST(TrimPoints, KeepsWhatIsYoungerThanTheAge) {
  const TrimPoints points = of_records(1000);
  const UtcMillis end{1'000'000 + 1000 * 1000};
  const Offset point = points.point({.age = Millis{300'000}}, end);
  EXPECT_LE(point.value, 700);
  EXPECT_GT(point.value, 700 - 64) << "to the granularity of the table";
  EXPECT_EQ(points.point({.age = Millis{2'000'000}}, end), Offset{0});
}

TEST(TrimPoints, KeepsWhatAHoldBeginsWith) {
  const TrimPoints points = of_records(10'000);
  const UtcMillis end{1'000'000 + 10'000 * 1000};
  const JournalRetention second{.age = Millis{1000}};
  EXPECT_GT(points.point(second, end), Offset{9900});
  const Offset held = points.point(second, end, UtcMillis{1'000'000 + 5000 * 1000});
  EXPECT_LE(held, Offset{5000 - 600}) << "ten minutes before, as clocks differ";
  EXPECT_GT(held, Offset{5000 - 600 - 64});
  EXPECT_EQ(points.point(second, end, UtcMillis{}), Offset{0}) << "a hold without a beginning";
}

TEST(TrimPoints, KeepsTheNewestBytes) {
  const TrimPoints points = of_records(1000);
  const Offset point = points.point({.bytes = 20'000}, UtcMillis{});
  EXPECT_LE(point.value, 800);
  EXPECT_GT(point.value, 800 - 64);
  EXPECT_EQ(points.point({.bytes = 200'000}, UtcMillis{}), Offset{0});
}

TEST(TrimPoints, GoesOnAfterATrim) {
  TrimPoints points = of_records(1000);
  const Offset first = points.point({.bytes = 20'000}, UtcMillis{});
  points.trimmed(first);
  EXPECT_EQ(points.point({.bytes = 20'000}, UtcMillis{}), first);
  for (int64_t number = 1000; number < 1100; ++number) points.add(Offset{number}, 100, [] { return UtcMillis{}; });
  EXPECT_GT(points.point({.bytes = 20'000}, UtcMillis{}), first);
}

TEST(TrimPoints, KeepsAllWithoutARetention) {
  EXPECT_EQ(of_records(1000).point({}, UtcMillis{9'000'000'000}), Offset{0});
}

TEST(RetentionWords, AreAnAgeASizeOrNone) {
  const auto parse = [](std::string_view text) { return parse_journal_retention("journal-retention", text); };
  EXPECT_EQ(parse("6h").value().age, Millis{6 * 3600 * 1000});
  EXPECT_EQ(parse("30d").value().age, Millis{30LL * 24 * 3600 * 1000});
  EXPECT_EQ(parse("50Gi").value().bytes, 50ULL << 30U);
  EXPECT_TRUE(parse("none").value().keeps_all());
  for (const char* wrong : {"", "0", "-1h", "0d", "d", "forever", "6 h"}) {
    const auto refused = parse(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_NE(refused.error().message.find("--journal-retention="), std::string::npos);
  }
  EXPECT_FALSE(parse_age("audit-retention", "50Gi"));
  EXPECT_FALSE(parse_age("audit-retention", "none").value());
}

}  // namespace
}  // namespace shiplog
