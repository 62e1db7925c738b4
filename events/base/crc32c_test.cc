#include "events/base/crc32c.h"

#include <string>

#include <gtest/gtest.h>

namespace shiplog {
namespace {

TEST(Crc32c, GivesTheValuesOfRfc3720) {
  std::string rising;
  for (char byte = 0; byte < 32; ++byte) rising.push_back(byte);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  EXPECT_EQ(crc32c(rising), 0x46DD794EU);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(Crc32c, TakenInPiecesIsTheSame) {
  const std::string text = "every record is checked when it is read";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(crc32c(text.substr(cut), crc32c(text.substr(0, cut))), crc32c(text)) << "cut at " << cut;
  }
}

TEST(Crc32c, IsTheSameWithTheProcessorsInstructionAndWithout) {
  std::string bytes;
  for (size_t size = 0; size < 300; ++size) {
    EXPECT_EQ(crc32c(bytes), crc32c_by_tables(bytes)) << size;
    EXPECT_EQ(crc32c(bytes, 7), crc32c_by_tables(bytes, 7)) << size;
    bytes.push_back(static_cast<char>(size * 167));
  }
}

}  // namespace
}  // namespace shiplog
