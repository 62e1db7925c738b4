#include <gtest/gtest.h>

#include "events/base/utf8.h"
#include "events/base/valid_utf8.h"

namespace shiplog {
namespace {

TEST(Utf8, AcceptsEveryCodePointAndNothingElse) {
  for (const char* text : {"", "a", "é", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xf0\x90\x80\x80",
                           "\xf4\x8f\xbf\xbf", "12345678é", "😀 plain text after it"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  // A lone tail, overlong forms, surrogates, above U+10FFFF, cut short; also behind eight plain bytes.
  for (const std::string text : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                                 "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xff"}) {
    EXPECT_FALSE(is_utf8(text));
    EXPECT_FALSE(is_utf8("12345678" + text));
    EXPECT_FALSE(is_utf8(text + "a"));
  }
}

TEST(Utf8, WhatIsNoneIsReplaced) {
  EXPECT_EQ(valid_utf8("/aé"), "/aé");
  EXPECT_EQ(valid_utf8("\xff/\xc3"), "\uFFFD/\uFFFD");
  EXPECT_EQ(valid_utf8("é\xe2\x82€"), "é\uFFFD\uFFFD€");
}

TEST(Utf8, MessagesStayPrintableAndShort) {
  EXPECT_EQ(quoted("a\né\xff"), "\"a?é?\"");
  EXPECT_EQ(printable("ééé", 5), "éé...");
  EXPECT_EQ(printable("éé", 4), "éé");
  EXPECT_EQ(printable("a\u009b1m\u00a0"), "a?1m\u00a0") << "a control character of two bytes";
}

}  // namespace
}  // namespace shiplog
