#include "events/base/path_segment.h"

#include <gtest/gtest.h>

namespace shiplog {
namespace {

TEST(PathSegment, EscapesWhatWouldEndItOrTheRequestLine) {
  EXPECT_EQ(path_segment("system:node-2.b_c"), "system:node-2.b_c");
  EXPECT_EQ(path_segment("a?dryRun=All"), "a%3FdryRun=All");
  EXPECT_EQ(path_segment("a b#c/d%e\\f"), "a%20b%23c%2Fd%25e%5Cf");
  EXPECT_EQ(path_segment("é\n"), "%C3%A9%0A");
}

TEST(PercentEncoding, LettersDigitsAndWhatIsPlainStay) {
  EXPECT_EQ(percent_encoded("aZ9-._~/=&", "-._~"), "aZ9-._~%2F%3D%26");
  EXPECT_EQ(percent_encoded("a-\xff", ""), "a%2D%FF");
}

}  // namespace
}  // namespace shiplog
