#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/quantity.h"
#include "events/base/random.h"

namespace shiplog {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

Quantity of(std::string_view text) {
  const auto quantity = parse_quantity(text);
  EXPECT_TRUE(quantity) << text;
  return quantity ? quantity.value() : Quantity{};
}

TEST(Quantity, ReadsEverySuffix) {
  const std::pair<const char*, int64_t> cases[] = {
      {"0", 0},
      {"-0", 0},
      {"2", 2000},
      {"1500m", 1500},
      {"0.5", 500},
      {".5", 500},
      {"5.", 5000},
      {"+5", 5000},
      {"-1.5", -1500},
      {"1k", 1'000'000},
      {"1M", 1000000000},
      {"1e3", 1000000},
      {"1E3", 1000000},
      {"1e-3", 1},
      {"1e+2", 100000},
      {"1Ki", 1024000},
      {"1.5Gi", 1610612736000},
      {"0.1Ki", 102400},
      {"2000000u", 2000},
      {"3000000000n", 3000},
      {"007", 7000},
      {"1G", 1000000000000},
      {"1T", 1000000000000000},
      {"1Ti", 1099511627776000},
  };
  for (const auto& [text, milli] : cases) EXPECT_EQ(of(text).milli(), milli) << text;
  EXPECT_EQ(of("1Pi").units(), 1125899906842624);
  EXPECT_EQ(of("1Ei").units(), 1152921504606846976);
  EXPECT_EQ(of("1E").units(), 1000000000000000000);
  EXPECT_EQ(of("12E2").units(), 1200);
}

TEST(Quantity, FinerThanAThousandthRoundsAwayFromZero) {
  const std::pair<const char*, int64_t> cases[] = {{"1n", 1},      {"1u", 1},      {"-1n", -1},
                                                   {"1.0001m", 2}, {"-1500u", -2}, {"1e-400", 1},
                                                   {"0e-400", 0},  {"0.0000", 0},  {"8966.8436Ki", 9182047847}};
  for (const auto& [text, milli] : cases) EXPECT_EQ(of(text).milli(), milli) << text;
}

TEST(Quantity, UnitsRoundAwayFromZero) {
  EXPECT_EQ(of("1500m").units(), 2);
  EXPECT_EQ(of("1m").units(), 1);
  EXPECT_EQ(of("-1.5").units(), -2);
  EXPECT_EQ(of("2").units(), 2);
}

TEST(Quantity, LargeNumbersStopInsteadOfWrapping) {
  EXPECT_EQ(of("9223372036854775807").units(), kMax);
  EXPECT_EQ(of("12E").units(), kMax);
  EXPECT_EQ(of("12E").milli(), kMax);
  EXPECT_EQ(of("-12E").milli(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(of("8Ei"), of("100Ei"));
  EXPECT_EQ(of("8Ei").units(), kMax);
  EXPECT_EQ(of("1e400"), of("99999999999999999999999999999999999999999999"));
  EXPECT_EQ(of("0e999999999999"), Quantity{});
  Quantity sum = of("1e400") * kMax;
  EXPECT_EQ(sum + sum, sum);
  EXPECT_EQ(Quantity{} - sum - sum, sum * -1);
  EXPECT_EQ(sum * -1 * -1, sum);
}

TEST(Quantity, RefusesWhatIsNoQuantity) {
  for (const char* text : {"",
                           "+",
                           "-",
                           ".",
                           "m",
                           "Ki",
                           "1..2",
                           "1.2.3",
                           "--1",
                           "+-1",
                           "1K",
                           "1ki",
                           "1KI",
                           "1Kib",
                           "1mi",
                           "1 Gi",
                           "1Gi ",
                           "0x10",
                           "1e",
                           "1e+",
                           "1e1.5",
                           "1e+-3",
                           "1e99999999999999999999",
                           "abc",
                           "1m1",
                           "\xd9\xa1"}) {
    const auto quantity = parse_quantity(text);
    ASSERT_FALSE(quantity) << text;
    EXPECT_EQ(quantity.error().code, ErrorCode::kBadRequest);
    EXPECT_NE(quantity.error().message.find('"' + std::string{text} + '"'), std::string::npos);
  }
}

TEST(Quantity, IsPrintedInCanonicalForm) {
  const std::pair<const char*, const char*> cases[] = {
      {"0", "0"},
      {"0Ki", "0"},
      {"0.5", "500m"},
      {"1500m", "1500m"},
      {"2000m", "2"},
      {"1000", "1k"},
      {"1500", "1500"},
      {"-1.5", "-1500m"},
      {"12E", "12E"},
      {"1024", "1024"},
      {"1Ki", "1Ki"},
      {"1.5Gi", "1536Mi"},
      {"1025Ki", "1025Ki"},
      {"1024Ki", "1Mi"},
      {"-3Pi", "-3Pi"},
      {"0.5Ki", "512"},
      {"0.1Ki", "102400m"},
      {"1u", "1m"},
      {"1e9", "1G"},
      {"8Ei", "9223372036854775807"},
      {"7489.477Ti", "8234767047460913152m"},
  };
  for (const auto& [text, canonical] : cases) EXPECT_EQ(to_string(of(text), quantity_format(text)), canonical) << text;
  EXPECT_EQ(to_string(of("1Ki")), "1024");
}

TEST(Quantity, CanonicalFormReadsBackAsTheSameNumber) {
  for (int64_t milli = -5'000'000; milli < 5'000'000; milli += 977) {
    const auto quantity = Quantity::from_milli(milli);
    ASSERT_EQ(of(to_string(quantity, QuantityFormat::kDecimal)), quantity) << milli;
    ASSERT_EQ(of(to_string(quantity, QuantityFormat::kBinary)), quantity) << milli;
  }
}

/// A sign has every digit read for itself; without one most are read as a whole.
TEST(Quantity, IsTheSameHoweverItsDigitsAreRead) {
  SeededRandom random{3};
  const std::vector<std::string> suffixes = {"", "m", "k", "M", "Ki", "Mi", "Gi", "Ti", "Ei", "u", "e3", "E"};
  for (int round = 0; round < 20'000; ++round) {
    std::string text = std::to_string(random.next() >> random_below(random, 64));
    if (random_below(random, 3) == 0) text.insert(0, random_below(random, 4), '0');
    if (random_below(random, 4) == 0) text.insert(random_below(random, text.size() + 1), ".");
    text += suffixes[random_below(random, suffixes.size())];
    ASSERT_EQ(of(text), of("+" + text)) << text;
  }
}

TEST(Quantity, AddsComparesAndDivides) {
  EXPECT_EQ(of("1") + of("500m"), of("1.5"));
  EXPECT_EQ(of("1Gi") - of("1Mi"), of("1023Mi"));
  EXPECT_EQ(of("250m") * 4, of("1"));
  EXPECT_LT(of("999m"), of("1"));
  EXPECT_GT(of("1Ki"), of("1k"));
  EXPECT_TRUE((of("1") - of("2")).negative());
  EXPECT_EQ(of("1").divided_by(of("300m")), 3);
  EXPECT_EQ(of("-1").divided_by(of("300m")), -4);
}

TEST(QuantityDeathTest, DividingByNothingIsABug) { EXPECT_DEATH(of("1").divided_by(Quantity{}), "positive"); }

}  // namespace
}  // namespace shiplog
