#include "services/http/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace shiplog {
namespace {

std::string unpacked(const std::string& packed, size_t size) {
  std::string bytes(size + 1, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string in = packed;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  inflateEnd(&stream);
  return bytes;
}

TEST(Gzip, IsTheSameAfterPackingAndUnpacking) {
  std::string noise;
  uint32_t seed = 1;
  for (int at = 0; at < 300'000; ++at) noise += static_cast<char>((seed = seed * 1664525U + 1013904223U) >> 24U);
  for (const std::string& bytes : {std::string{}, std::string{"a"}, std::string(1'000'000, 'x'), noise}) {
    EXPECT_TRUE(unpacked(gzip(bytes), bytes.size()) == bytes) << bytes.size();
  }
  EXPECT_LT(gzip(std::string(1'000'000, 'x')).size(), 10'000U);
}

TEST(Gzip, IsAcceptedAccordingToTheHeader) {
  for (const char* yes : {"gzip", "GZIP", "deflate, gzip", "gzip;q=0.5", " gzip ; q=1", "br,gzip,*"}) {
    EXPECT_TRUE(takes_gzip(yes)) << yes;
  }
  for (const char* no : {"", "identity", "gzip;q=0", "gzip; q=0.0", "gzipped", "x-gzip", "*"}) {
    EXPECT_FALSE(takes_gzip(no)) << no;
  }
}

}  // namespace
}  // namespace shiplog
