#include "services/adapters/members/watch_line.h"

#include <string>

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog {
namespace {

std::string trimmed(const std::string& line) {
  std::string buffer = "of the line before";
  return std::string{without_managed_fields(line, buffer)};
}

TEST(WatchLine, IsReadWithoutTheFieldsOfManagers) {
  const std::string fields = R"([{"manager":"a]}\"","fieldsV1":{"f:spec":{"f:x":{}}}},{"manager":"b"}])";
  EXPECT_EQ(
      trimmed(R"({"type":"ADDED","object":{"metadata":{"managedFields":)" + fields + R"(,"name":"n"},"spec":1}})"),
      R"({"type":"ADDED","object":{"metadata":{"name":"n"},"spec":1}})");
  EXPECT_EQ(trimmed(R"({"object":{"kind":"K","metadata":{"name":"n","managedFields":)" + fields + R"(}},"type":"X"})"),
            R"({"object":{"kind":"K","metadata":{"name":"n"}},"type":"X"})");
  EXPECT_EQ(trimmed(R"({"object":{"metadata":{"managedFields":[]}}})"), R"({"object":{"metadata":{}}})");
}

TEST(WatchLine, KeepsWhatOnlyHasTheName) {
  for (const std::string line : {
           R"({"type":"ADDED","object":{"spec":{"managedFields":[1]},"metadata":{"name":"n"}}})",
           R"({"type":"ADDED","metadata":{"x":{"managedFields":[1]}}})",
           R"({"object":{"metadata":{"labels":{"managedFields":[1]}}}})",
           R"({"object":[{"metadata":{"managedFields":[1]}}]})",
           R"({"object":{"metadata":{"managedFields":"[1]"}}})",
           R"({"object":{"metadata":{"annotations":{"a":",\"managedFields\":[1]"}}}})",
           R"({"object":{"metadata":["managedFields",[1]]}})",
       }) {
    EXPECT_EQ(trimmed(line), line);
  }
}

TEST(WatchLine, OfWhichPartIsMissingIsLeftToTheParser) {
  const std::string whole = R"({"object":{"metadata":{"managedFields":[{"a":"\\"}],"name":"n"}},"type":"A"})";
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string part = whole.substr(0, size);
    EXPECT_FALSE(parse_json(trimmed(part))) << part;
  }
  EXPECT_TRUE(parse_json(trimmed(whole)));
}

TEST(WatchLine, StringsOfAnyLengthEndWhereTheyEnd) {
  for (size_t length = 0; length < 70; ++length) {
    for (const char* end : {"", "\\\\", "\\\"", "\\\\\\\"", "]}"}) {
      const std::string text = "\"" + std::string(length, 'x') + end + "\"";
      const std::string line =
          R"({"object":{"metadata":{"a":)" + text + R"(,"managedFields":[)" + text + R"(],"z":1}}})";
      EXPECT_EQ(trimmed(line), R"({"object":{"metadata":{"a":)" + text + R"(,"z":1}}})");
    }
  }
}

const ObjectParts& some_parts() {
  static const ObjectParts parts{
      {}, {{"metadata", {{"name", {}}}}, {"spec", {{"list", {{"a", {}}, {"b", {{"c", {}}}}}}, {"whole", {}}}}}};
  return parts;
}

std::string parts_of(const std::string& line) {
  std::string buffer = "of the line before";
  return std::string{with_parts(line, some_parts(), buffer)};
}

TEST(WatchLine, IsReadInParts) {
  EXPECT_EQ(
      parts_of(
          R"({"type":"ADDED","object":{"kind":"K","metadata":{"labels":{"name":"x"},"name":"n","uid":"u"},"spec":{"no":[[{}]],"list":[{"a":-1.5e3,"x":null},{"b":{"c":["]"],"d":{}}},{},"text",7],"whole":{"x":[1,{"y":"\\"}]}},"status":{"a":"}"}},"more":[{}]})"),
      R"({"type":"ADDED","object":{"metadata":{"name":"n"},"spec":{"list":[{"a":-1.5e3},{"b":{"c":["]"]}},{},"text",7],"whole":{"x":[1,{"y":"\\"}]}}}})");
  EXPECT_EQ(parts_of(R"({"object":{},"type":"ADDED"})"), R"({"object":{},"type":"ADDED"})");
  EXPECT_EQ(parts_of(R"({"type":"A","object":{"status":1}})"), R"({"type":"A","object":{}})");
  EXPECT_EQ(parts_of(R"({"type":"A","object":{"spec":{"list":[]}}})"), R"({"type":"A","object":{"spec":{"list":[]}}})");
}

TEST(WatchLine, OfAnotherFormThanItsPartsIsReadAllTheSame) {
  EXPECT_EQ(parts_of(R"({"type":"ERROR","object":{"kind":"Status","metadata":null,"spec":"text"}})"),
            R"({"type":"ERROR","object":{"metadata":null,"spec":"text"}})");
  EXPECT_EQ(parts_of(R"({"type":"A","object":{"metadata":{"name":{"x":1}},"spec":[{"whole":1,"z":2}]}})"),
            R"({"type":"A","object":{"metadata":{"name":{"x":1}},"spec":[{"whole":1}]}})");
  for (const std::string line : {
           R"({"type": "ADDED","object":{"status":1}})",
           R"({"type":"ADDED","object":{"status" :1}})",
           R"({"type":"ADDED","object":{"st\u0061tus":1}})",
           R"({"type":"ADDED","object":{"status":1}}x)",
           R"({"type":"ADDED","object":{"status":}})",
           R"({"type":"ADDED","object":{status:1}})",
           R"(["type"])",
           R"()",
       }) {
    EXPECT_EQ(parts_of(line), line) << "left to the parser";
  }
}

TEST(WatchLine, InPartsOfWhichOneIsMissingIsLeftToTheParser) {
  const std::string whole =
      R"({"type":"A","object":{"metadata":{"x":"\\","name":"n"},"spec":{"list":[{"a":1},[{"b":2}],3],"no":{"a":[]}}}})";
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string part = whole.substr(0, size);
    EXPECT_FALSE(parse_json(parts_of(part))) << part;
  }
  EXPECT_TRUE(parse_json(parts_of(whole)));
}

TEST(WatchLine, ArraysOfArraysAreCopiedHoweverDeepTheyAre) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  const std::string line = R"({"type":"A","object":{"spec":{"list":)" + deep + R"(}}})";
  EXPECT_EQ(parts_of(line), line);
}

TEST(WatchLine, HasAtMostAsManyValuesAsAreCounted) {
  EXPECT_EQ(values_in("1"), 1U);
  EXPECT_EQ(values_in(R"({"a":[1,2,{"b":3}],"c":""})"), 7U);
  for (const size_t count : {10, 255, 256, 1000, 4000, 100'000}) {
    std::string text = "[1";
    for (size_t number = 1; number < count; ++number) text += ",{}";
    EXPECT_EQ(values_in(text + "]"), 2 * count) << count;
  }
  const std::string commas(1'000'000, ',');
  EXPECT_EQ(values_in("[\"" + commas + "\",\"\\\"" + commas + "\"]"), 3U) << "those in strings make no values";
}

}  // namespace
}  // namespace shiplog
