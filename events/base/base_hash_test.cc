#include <gtest/gtest.h>

#include "events/base/hash.h"

namespace shiplog {
namespace {

// The digest as the reference prints it: 16 bytes in the order of memory.
std::string bytes_of(const Hash128& hash) {
  std::string text;
  for (const uint64_t half : {hash.lo, hash.hi}) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
      char byte[3];
      std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned>(half >> shift & 0xffU));
      text += byte;
    }
  }
  return text;
}

TEST(Hash, SipHashGivesTheReferenceVectors) {  // inputs 00 01 02 ... of each length
  const std::pair<size_t, const char*> vectors[] = {
      {0, "a3817f04ba25a8e66df67214c7550293"},  {1, "da87c1d86b99af44347659119b22fc45"},
      {7, "a1f1ebbed8dbc153c0b84aa61ff08239"},  {8, "3b62a9ba6258f5610f83e264f31497b4"},
      {15, "5493e99933b0a8117e08ec0f97cfc3d9"}, {16, "6ee2a4ca67b054bbfd3315bf85230577"},
      {63, "5150d1772f50834a503e069a973fbd7c"},
  };
  for (const auto& [length, digest] : vectors) {
    std::string input;
    for (size_t i = 0; i < length; ++i) input += static_cast<char>(i);
    EXPECT_EQ(bytes_of(siphash128(input)), digest) << length;
  }
}

TEST(Hash, FnvGivesTheNamesOfWorks) {  // N-4, N-5
  EXPECT_EQ(fnv1a32("default-nginx-deployment"), 2439396529U);
  EXPECT_EQ(fnv1a32("prod-app-config-configmap"), 1289509650U);
  EXPECT_EQ(fnv1a32("system.x-clusterrole"), 2999913377U);
  EXPECT_EQ(fnv1a32("test-namespace"), 2598055607U);
  EXPECT_EQ(fnv1a32(""), 2166136261U);
}

TEST(Hash, ASumDoesNotDependOnTheOrderAndCanBeReverted) {
  const Hash128 a = siphash128("a");
  const Hash128 b = siphash128("b");
  Hash128 one = a;
  one += b;
  Hash128 two = b;
  two += a;
  EXPECT_EQ(one, two);
  one -= a;
  EXPECT_EQ(one, b);
  one -= b;
  EXPECT_EQ(one, Hash128{});
}

TEST(Hash, SumsCarryFromTheLowHalf) {
  Hash128 sum{.lo = ~uint64_t{0}, .hi = 1};
  sum += Hash128{.lo = 1, .hi = 0};
  EXPECT_EQ(sum, (Hash128{.lo = 0, .hi = 2}));
  EXPECT_EQ(to_string(sum), "00000000000000020000000000000000");
}

}  // namespace
}  // namespace shiplog
