#include "services/api/admission/names.h"

#include <gtest/gtest.h>

#include "services/api/admission/base64.h"

namespace shiplog::api {
namespace {

TEST(Names, SubdomainsLabelsAndServices) {  // META-12
  EXPECT_FALSE(subdomain_problem("a.b-c.1"));
  for (const char* bad : {"", "A", "a..b", ".a", "a.", "-a", "a-", "a_b", "a b"})
    EXPECT_TRUE(subdomain_problem(bad)) << bad;
  EXPECT_TRUE(subdomain_problem(std::string(254, 'a')));
  EXPECT_FALSE(subdomain_problem(std::string(253, 'a')));
  EXPECT_FALSE(label_problem("1a"));
  EXPECT_TRUE(label_problem("a.b"));
  EXPECT_TRUE(label_problem(std::string(64, 'a')));
  EXPECT_FALSE(service_name_problem("a1"));
  EXPECT_TRUE(service_name_problem("1a"));
}

TEST(Names, QualifiedNamesAndLabelValues) {
  for (const char* good : {"a", "A.b_c-1", "example.com/a"}) EXPECT_FALSE(qualified_name_problem(good)) << good;
  for (const char* bad : {"", "/a", "a/", "a/b/c", "-a", "A/b", "a b"}) EXPECT_TRUE(qualified_name_problem(bad)) << bad;
  EXPECT_FALSE(label_value_problem(""));
  EXPECT_FALSE(label_value_problem("A.b"));
  EXPECT_TRUE(label_value_problem("a/b"));
  EXPECT_TRUE(label_value_problem(std::string(64, 'a')));
}

TEST(Names, KeysOfData) {
  EXPECT_FALSE(config_key_problem("a.B_c-1"));
  for (const char* bad : {"", "a/b", ".", "..", "..a", "a b"}) EXPECT_TRUE(config_key_problem(bad)) << bad;
}

TEST(Names, PathSegments) {
  EXPECT_FALSE(path_segment_problem("system:node:X"));
  for (const char* bad : {".", "..", "a/b", "a%b", "a\nb"}) EXPECT_TRUE(path_segment_problem(bad)) << bad;
}

TEST(Base64, IsThatOfTheRfc) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe"), "//4=");
  EXPECT_EQ(base64_bytes("Zg=="), 1U);
  EXPECT_EQ(base64_bytes("Zm9v"), 3U);
  EXPECT_EQ(base64_bytes(""), 0U);
}

}  // namespace
}  // namespace shiplog::api
