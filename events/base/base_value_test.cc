#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/value.h"

namespace shiplog {
namespace {

Value pod() {
  return Value::object({{"metadata", Value::object({{"name", "nginx"}, {"labels", Value::object({{"app", "web"}})}})},
                        {"spec", Value::object({{"replicas", 3}})}});
}

TEST(Value, StaysSmall) { EXPECT_EQ(sizeof(Value), 16U); }

TEST(Value, KeepsStringsOfAnyLengthWithTheirNulBytes) {
  for (size_t length = 0; length < 40; ++length) {  // 14 is the longest that is stored inside
    std::string text(length, 'x');
    if (length > 2) text[1] = '\0';
    const Value value{text};
    const Value copy = value;  // NOLINT(performance-unnecessary-copy-initialization)
    Value moved = value;
    const Value target = std::move(moved);
    EXPECT_EQ(value.as_string(), text);
    EXPECT_EQ(copy, value);
    EXPECT_EQ(target.str(), text);
    EXPECT_NE(value, Value{text + "x"});
  }
}

TEST(Value, ReadsNullAndFallbacksWhereNothingIs) {
  const Value value = pod();
  EXPECT_TRUE(value["spec"]["template"]["spec"].is_null());
  EXPECT_EQ(value["spec"]["paused"].as_int(7), 7);
  EXPECT_EQ(value["metadata"]["name"].as_int(7), 7);
  EXPECT_EQ(value["metadata"][0].as_string("none"), "none");
  EXPECT_EQ(Value::array({1, 2})[5], Value{});
  EXPECT_EQ(value.find("status"), nullptr);
}

TEST(Value, FindsAMemberThatIsNull) {
  const Value value = Value::object({{"a", nullptr}});
  ASSERT_NE(value.find("a"), nullptr);
  EXPECT_TRUE(value.find("a")->is_null());
}

TEST(Value, SortsMembersHoweverTheyCome) {
  Value one;
  one.set("zebra", 1);
  one.set("ant", 2);
  one.set("a key longer than fourteen bytes", 3);
  const Value two =
      Value::object(Value::Object{{"a key longer than fourteen bytes", 3}, {"zebra", 0}, {"ant", 2}, {"zebra", 1}});
  EXPECT_EQ(one, two);
  std::vector<std::string_view> keys;
  for (const auto& member : two.members()) keys.push_back(member.key());
  EXPECT_EQ(keys, (std::vector<std::string_view>{"a key longer than fourteen bytes", "ant", "zebra"}));
}

TEST(Value, KeepsTheLastOfEqualKeysAlsoNextToEachOther) {
  EXPECT_EQ(Value::object(Value::Object{{"a", 1}, {"a", 2}, {"b", 3}}), Value::object({{"a", 2}, {"b", 3}}));
}

TEST(Value, EditingACopyLeavesTheOriginal) {
  const Value before = pod();
  Value after = before;
  after.edit("metadata").edit("labels").set("app", "changed");
  after.edit("spec").edit("ports").push_back(80);
  after.edit("metadata").erase("name");
  EXPECT_EQ(before, pod());
  EXPECT_EQ(to_json(after), R"({"metadata":{"labels":{"app":"changed"}},"spec":{"ports":[80],"replicas":3}})");
}

TEST(Value, EditingTheOriginalLeavesACopyOfItsChild) {
  Value value = pod();
  const Value labels = value["metadata"]["labels"];
  value.edit("metadata").edit("labels").set("app", "changed");
  EXPECT_EQ(labels["app"].as_string(), "web");
}

TEST(Value, UntouchedPartsStayShared) {
  const Value before = pod();
  Value after = before;
  after.edit("spec").set("replicas", 4);
  EXPECT_EQ(before["metadata"].members().data(), after["metadata"].members().data());
  EXPECT_NE(before["spec"].members().data(), after["spec"].members().data());
}

TEST(Value, SettingWhatIsThereLeavesItShared) {
  const Value before = pod();
  Value after = before;
  after.set("spec", before["spec"]);
  after.set("metadata", Value::object(Value::Object{before["metadata"].members().begin(),  // made anew
                                                    before["metadata"].members().end()}));
  EXPECT_EQ(before.members().data(), after.members().data());
  after.set("spec", 3);
  EXPECT_NE(before.members().data(), after.members().data());
  EXPECT_NE(after, before);
  EXPECT_EQ(before["metadata"].members().data(), after["metadata"].members().data());
}

TEST(Value, SettingDistinguishesWhatHasAnotherJson) {
  Value value = Value::object({{"number", 0.0}, {"list", Value::array({0.0})}});
  value.set("number", -0.0);
  value.set("list", Value::array({-0.0}));
  EXPECT_TRUE(std::signbit(value["number"].as_double()));
  EXPECT_TRUE(std::signbit(value["list"][0].as_double()));
  value.set("number", 0);
  EXPECT_TRUE(value["number"].is_int());
  value.set("null", nullptr);
  EXPECT_TRUE(value.contains("null"));
}

TEST(Value, CanBeReplacedByItsOwnChild) {
  Value value = pod();
  value = std::move(value.edit("metadata"));
  EXPECT_EQ(value["name"].as_string(), "nginx");
  value = value["labels"];
  EXPECT_EQ(value, Value::object({{"app", "web"}}));
  value = Value{value};
  EXPECT_EQ(value.size(), 1U);
}

TEST(Value, CanHoldACopyOfItself) {
  Value value = pod();
  value.set("old", value);
  EXPECT_EQ(value["old"], pod());
  value.set("name", value["metadata"]["name"]);
  EXPECT_EQ(value["name"].as_string(), "nginx");
}

TEST(Value, AKeyMayPointIntoWhatIsEdited) {
  Value value = Value::object({{"a key longer than fourteen bytes", 1}});
  const Value shared = value;
  value.set(value.members()[0].key(), 2);
  EXPECT_EQ(value, Value::object({{"a key longer than fourteen bytes", 2}}));
  EXPECT_TRUE(value.erase(value.members()[0].key()));
  EXPECT_EQ(value.size(), 0U);
  EXPECT_EQ(shared.size(), 1U);
  EXPECT_FALSE(value.erase("a key longer than fourteen bytes"));
}

TEST(Value, AMovedFromValueIsNull) {
  Value value = pod();
  const Value taken = std::move(value);
  EXPECT_TRUE(value.is_null());  // NOLINT(bugprone-use-after-move): promised
  EXPECT_EQ(taken, pod());
}

TEST(Value, WholeDoublesReadAsIntegersButDiffer) {
  EXPECT_EQ(Value{3.0}.as_int(), 3);
  EXPECT_EQ(Value{3.5}.as_int(-1), -1);
  EXPECT_EQ(Value{1e300}.as_int(-1), -1);
  EXPECT_EQ(Value{3}.as_double(), 3.0);
  EXPECT_NE(Value{3}, Value{3.0});
  EXPECT_NE(Value{1}, Value{true});
  EXPECT_NE(Value{0}, Value{nullptr});
}

TEST(Value, KnowsWhatOmitemptyLeavesOut) {
  for (const Value& empty : {Value{}, Value{false}, Value{0}, Value{0.0}, Value{""}, Value::array(), Value::object()}) {
    EXPECT_TRUE(empty.is_empty()) << to_json(empty);
  }
  for (const Value& full : {Value{true}, Value{-1}, Value{0.5}, Value{"x"}, Value::array({nullptr}), pod()}) {
    EXPECT_FALSE(full.is_empty()) << to_json(full);
  }
}

TEST(Value, BecomesAnObjectOrAnArrayWhenEditedAsOne) {
  Value value{"a string that is stored outside"};
  value.set("a", 1);
  EXPECT_EQ(to_json(value), R"({"a":1})");
  value.push_back(2);
  EXPECT_EQ(to_json(value), "[2]");
}

TEST(Value, FindsKeysOfAnyLengthInObjectsOfAnySize) {
  for (const size_t members : {1U, 3U, 15U, 16U, 17U, 40U}) {
    Value object = Value::object();
    for (size_t i = 0; i < members; ++i) object.set(std::string(i, 'k'), static_cast<int64_t>(i));
    for (size_t i = 0; i < 50; ++i) {
      const std::string key(i, 'k');
      ASSERT_EQ(object.contains(key), i < members) << i << " of " << members;
      if (i < members) {
        EXPECT_EQ(object[key].as_int(), static_cast<int64_t>(i));
      }
      EXPECT_FALSE(object.contains(key + "x"));
      EXPECT_FALSE(object.contains(key + '\0')) << "a zero is a byte of the key";
    }
  }
}

}  // namespace
}  // namespace shiplog
