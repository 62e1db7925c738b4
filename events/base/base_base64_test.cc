#include <gtest/gtest.h>

#include "events/base/base64.h"

namespace shiplog {
namespace {

TEST(Base64, WritesTheExamplesOfItsStandard) {  // RFC 4648 section 10
  const std::pair<const char*, const char*> pairs[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : pairs) {
    EXPECT_EQ(base64_encode(bytes), text);
    EXPECT_EQ(base64_decode(text), std::string{bytes});
    EXPECT_EQ(base64_decoded_size(text), std::string_view{bytes}.size());
  }
}

TEST(Base64, ReadsEveryByteBack) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
    EXPECT_EQ(base64_decode(base64_encode(all)), all);
    EXPECT_EQ(base64url_decode(base64url_encode(all)), all);
  }
}

TEST(Base64, RefusesWhatIsNoBase64) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "Zm9v!Zm8", "Z=m9", "====", "Zm9v\n"}) {
    EXPECT_EQ(base64_decode(text), std::nullopt) << text;
  }
}

TEST(Base64Url, HasNoPaddingAndTwoDigitsOfItsOwn) {  // RFC 4648 section 5
  EXPECT_EQ(base64_encode("\xfb\xff\xfe"), "+//+");
  EXPECT_EQ(base64url_encode("\xfb\xff\xfe"), "-__-");
  EXPECT_EQ(base64url_decode("-__-"), "\xfb\xff\xfe");
  EXPECT_EQ(base64url_encode("f"), "Zg");
  EXPECT_EQ(base64url_encode("fo"), "Zm8");
  EXPECT_EQ(base64url_decode(""), "");
}

TEST(Base64Url, BytesHaveOneText) {
  for (const char* text : {"Z", "Zg==", "Zg=", "Zm9vZ", "+//+", "Zm 8", "Zm8\n"}) {
    EXPECT_EQ(base64url_decode(text), std::nullopt) << text;
  }
  EXPECT_EQ(base64url_decode("Zh"), std::nullopt) << "the last digit has bits of no byte";
  EXPECT_EQ(base64url_decode("Zm9"), std::nullopt);
  EXPECT_EQ(base64_decode("Zh=="), "f") << "as Go's standard encoding does";
}

}  // namespace
}  // namespace shiplog
