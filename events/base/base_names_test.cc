#include <gtest/gtest.h>

#include "events/base/names.h"

namespace shiplog {
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

}  // namespace
}  // namespace shiplog
