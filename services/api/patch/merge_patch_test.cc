#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/api/patch/patch.h"

namespace shiplog::api {
namespace {

std::string after(std::string_view object, std::string_view patch) {
  const auto result = apply_merge_patch(parse_json(object).value(), parse_json(patch).value());
  return result ? to_json(result.value()) : "error";
}

TEST(MergePatch, ExamplesOfTheRfc) {  // PT-2, RFC 7386 appendix A
  EXPECT_EQ(after(R"({"a":"b"})", R"({"a":"c"})"), R"({"a":"c"})");
  EXPECT_EQ(after(R"({"a":"b"})", R"({"b":"c"})"), R"({"a":"b","b":"c"})");
  EXPECT_EQ(after(R"({"a":"b","b":"c"})", R"({"a":null})"), R"({"b":"c"})");
  EXPECT_EQ(after(R"({"a":["b"]})", R"({"a":"c"})"), R"({"a":"c"})");
  EXPECT_EQ(after(R"({"a":"c"})", R"({"a":["b"]})"), R"({"a":["b"]})");
  EXPECT_EQ(after(R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})"), R"({"a":{"b":"d"}})");
  EXPECT_EQ(after(R"({"a":[{"b":"c"}]})", R"({"a":[1]})"), R"({"a":[1]})");
  EXPECT_EQ(after(R"({"e":null})", R"({"a":1})"), R"({"a":1,"e":null})");
  EXPECT_EQ(after("{}", R"({"a":{"bb":{"ccc":null}}})"), R"({"a":{"bb":{}}})");
}

TEST(MergePatch, MustBeAnObject) {
  for (const char* patch : {"[]", "1", "null", R"("x")"}) EXPECT_EQ(after("{}", patch), "error") << patch;
}

}  // namespace
}  // namespace shiplog::api
