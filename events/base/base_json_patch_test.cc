#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/json_patch.h"
#include "tests/support/literals.h"

namespace shiplog {
namespace {

using test::json;

Result<Value> patched(std::string_view object, std::string_view patch) {
  return apply_json_patch(json(object), json(patch));
}

std::string after(std::string_view object, std::string_view patch) {
  const auto result = patched(object, patch);
  return result ? to_json(result.value()) : "error: " + result.error().message;
}

TEST(JsonPatch, EveryOperation) {  // PT-1, RFC 6902 section 4
  EXPECT_EQ(after(R"({"a":1})", R"([{"op":"add","path":"/b","value":{"c":2}}])"), R"({"a":1,"b":{"c":2}})");
  EXPECT_EQ(after(R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])"), R"({"a":2})");
  EXPECT_EQ(after(R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])"), R"({"a":[1,2,3]})");
  EXPECT_EQ(after(R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])"), R"({"a":[1,2]})");
  EXPECT_EQ(after(R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])"), R"({"b":2})");
  EXPECT_EQ(after(R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/0"}])"), R"({"a":[2]})");
  EXPECT_EQ(after(R"({"a":[{"b":1}]})", R"([{"op":"replace","path":"/a/0/b","value":null}])"), R"({"a":[{"b":null}]})");
  EXPECT_EQ(after(R"({"a":{"b":1}})", R"([{"op":"move","from":"/a/b","path":"/c"}])"), R"({"a":{},"c":1})");
  EXPECT_EQ(after(R"({"a":[1,2,3]})", R"([{"op":"move","from":"/a/0","path":"/a/2"}])"), R"({"a":[2,3,1]})");
  EXPECT_EQ(after(R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a","path":"/a/c"}])"), R"({"a":{"b":1,"c":{"b":1}}})");
  EXPECT_EQ(after(R"({"a":[1.0,{"b":2}]})", R"([{"op":"test","path":"/a","value":[1,{"b":2.0}]}])"),
            after(R"({"a":[1.0,{"b":2}]})", "[]"));
  EXPECT_EQ(after(R"({"a":1})", R"([{"op":"replace","path":"","value":{"z":1}}])"), R"({"z":1})");
}

TEST(JsonPatch, PointersAreUnescaped) {
  EXPECT_EQ(after(R"({"metadata":{"labels":{"a/b":"1","c~d":"2"}}})",
                  R"([{"op":"remove","path":"/metadata/labels/a~1b"},{"op":"remove","path":"/metadata/labels/c~0d"}])"),
            R"({"metadata":{"labels":{}}})");
  EXPECT_EQ(after(R"({"":{"":1}})", R"([{"op":"replace","path":"//","value":2}])"), R"({"":{"":2}})");
}

TEST(JsonPatch, WhatCannotBeAppliedIsInvalid) {  // PT-1
  for (const char* patch : {R"([{"op":"remove","path":"/x"}])", R"([{"op":"replace","path":"/x","value":1}])",
                            R"([{"op":"add","path":"/x/y","value":1}])", R"([{"op":"add","path":"/a/7","value":1}])",
                            R"([{"op":"add","path":"/a/01","value":1}])", R"([{"op":"add","path":"/a/x","value":1}])",
                            R"([{"op":"add","path":"/n/x","value":1}])", R"([{"op":"test","path":"/n","value":2}])",
                            R"([{"op":"test","path":"/x","value":2}])", R"([{"op":"move","from":"/a","path":"/a/0"}])",
                            R"([{"op":"move","from":"/x","path":"/y"}])", R"([{"op":"copy","from":"/x","path":"/y"}])",
                            R"([{"op":"remove","path":""}])", R"([{"op":"remove","path":"/a/-"}])"}) {
    const auto result = patched(R"({"a":[1],"n":1})", patch);
    ASSERT_FALSE(result.has_value()) << patch;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalid) << patch << result.error().message;
  }
}

TEST(JsonPatch, WhatCannotBeReadIsABadRequest) {
  for (const char* patch :
       {"{}", "1", "[1]", "[{}]", R"([{"op":"add","path":"/a"}])", R"([{"op":"add","value":1}])",
        R"([{"op":"no","path":"/a","value":1}])", R"([{"op":"add","path":"a","value":1}])",
        R"([{"op":"add","path":"/~2","value":1}])", R"([{"op":"move","path":"/a"}])", R"([{"op":7,"path":"/a"}])"}) {
    const auto result = patched("{}", patch);
    ASSERT_FALSE(result.has_value()) << patch;
    EXPECT_EQ(result.error().code, ErrorCode::kBadRequest) << patch;
  }
}

struct Deviation {
  const char* patch;
  const char* after;  // empty: cannot be applied
};

/// What gopkg.in/evanphx/json-patch.v4 (v4.12.0, which kube-apiserver uses) makes of an object.
constexpr Deviation kDeviations[] = {
    {R"([{"op":"replace","path":"/x","value":1}])", R"({"a":[1,2],"o":{"m":3},"x":1})"},
    {R"([{"op":"replace","path":"/o/x","value":1}])", R"({"a":[1,2],"o":{"m":3,"x":1}})"},
    {R"([{"op":"replace","path":"/x/y","value":1}])", ""},
    {R"([{"op":"replace","path":"/a/2","value":1}])", ""},
    {R"([{"op":"replace","path":"/a/-","value":1}])", ""},
    {R"([{"op":"replace","path":"/a/-1","value":9}])", R"({"a":[1,9],"o":{"m":3}})"},
    {R"([{"op":"replace","path":"/a/-2","value":9}])", R"({"a":[9,2],"o":{"m":3}})"},
    {R"([{"op":"replace","path":"/a/-3","value":9}])", ""},
    {R"([{"op":"replace","path":"/a/+1","value":9}])", R"({"a":[1,9],"o":{"m":3}})"},
    {R"([{"op":"replace","path":"/a/01","value":9}])", R"({"a":[1,9],"o":{"m":3}})"},
    {R"([{"op":"add","path":"/a/-1","value":9}])", R"({"a":[1,2,9],"o":{"m":3}})"},
    {R"([{"op":"add","path":"/a/-3","value":9}])", R"({"a":[9,1,2],"o":{"m":3}})"},
    {R"([{"op":"add","path":"/a/-4","value":9}])", ""},
    {R"([{"op":"add","path":"/a/3","value":9}])", ""},
    {R"([{"op":"add","path":"/x"}])", R"({"a":[1,2],"o":{"m":3},"x":null})"},
    {R"([{"op":"add","path":"","value":{}}])", ""},
    {R"([{"op":"remove","path":"/x"}])", ""},
    {R"([{"op":"remove","path":"/a/-1"}])", R"({"a":[1],"o":{"m":3}})"},
    {R"([{"op":"remove","path":"/a/-3"}])", ""},
    {R"([{"op":"remove","path":"/a/2"}])", ""},
    {R"([{"op":"remove","path":""}])", ""},
    {R"([{"op":"test","path":"/x","value":null}])", R"({"a":[1,2],"o":{"m":3}})"},
    {R"([{"op":"test","path":"/x","value":1}])", ""},
    {R"([{"op":"test","path":"/a/-1","value":2}])", R"({"a":[1,2],"o":{"m":3}})"},
    {R"([{"op":"test","path":"/a/5","value":null}])", ""},
    {R"([{"op":"test","path":"","value":{"a":[1,2],"o":{"m":3}}}])", R"({"a":[1,2],"o":{"m":3}})"},
    {R"([{"op":"copy","from":"/x","path":"/o/x"}])", R"({"a":[1,2],"o":{"m":3,"x":null}})"},
    {R"([{"op":"copy","from":"/x/y","path":"/o/x"}])", ""},
    {R"([{"op":"copy","from":"/a/-1","path":"/o/x"}])", R"({"a":[1,2],"o":{"m":3,"x":2}})"},
    {R"([{"op":"copy","from":"","path":"/x"}])", ""},
    {R"([{"op":"move","from":"/x","path":"/y"}])", ""},
    {R"([{"op":"move","from":"/a/-1","path":"/a/0"}])", R"({"a":[2,1],"o":{"m":3}})"},
    {R"([{"op":"move","from":"/o","path":"/o/m"}])", ""},
    {R"([{"op":"add","path":"text/x","value":1}])", R"({"a":[1,2],"o":{"m":3},"x":1})"},
    {R"([{"op":"add","path":"/~2","value":1}])", R"({"a":[1,2],"o":{"m":3},"~2":1})"},
    {R"([{"op":"add","path":"x","value":1}])", ""},
    {R"([{"op":"no","path":"/x","value":1}])", ""},
    {"[{}]", ""},
};

TEST(JsonPatch, KubernetesRulesAreThoseOfItsLibrary) {
  for (const auto& [patch, after] : kDeviations) {
    const auto result = apply_json_patch(json(R"({"a":[1,2],"o":{"m":3}})"), json(patch), JsonPatchRules::kKubernetes);
    EXPECT_TRUE(result || result.error().code == ErrorCode::kInvalid) << patch;
    EXPECT_EQ(result ? to_json(result.value()) : "", after) << patch << (result ? "" : result.error().message);
  }
  for (const char* patch : {"{}", "1", "[1]"}) {
    const auto result = apply_json_patch(json("{}"), json(patch), JsonPatchRules::kKubernetes);
    ASSERT_FALSE(result.has_value()) << patch;
    EXPECT_EQ(result.error().code, ErrorCode::kBadRequest) << patch;
  }
}

TEST(JsonPatch, OperationsOnLongListsAreBounded) {
  Value::Array items(50'000, Value{1});
  const Value object = Value::object({{"a", Value::array(std::move(items))}});
  Value in_front = Value::array();
  Value behind = Value::array();
  for (int i = 0; i < 10'000; ++i) {
    in_front.push_back(json(R"({"op":"add","path":"/a/0","value":1})"));
    behind.push_back(json(R"({"op":"add","path":"/a/-","value":1})"));
  }
  EXPECT_EQ(apply_json_patch(object, in_front).error().code, ErrorCode::kTooLarge);
  EXPECT_TRUE(apply_json_patch(object, behind).has_value()) << "these move nothing";
}

TEST(JsonPatch, BombsAreDefused) {  // HTTP-9
  Value many = Value::array();
  for (int i = 0; i <= 10'000; ++i) many.push_back(json(R"({"op":"test","path":"","value":{}})"));
  EXPECT_EQ(apply_json_patch(json("{}"), many).error().code, ErrorCode::kTooLarge);

  Value doubling = Value::array();
  for (int i = 0; i < 64; ++i) {
    doubling.push_back(Value::object({{"op", "copy"}, {"from", ""}, {"path", "/k" + std::to_string(i)}}));
  }
  EXPECT_EQ(apply_json_patch(json(R"({"a":"some text of some length"})"), doubling).error().code, ErrorCode::kTooLarge);

  Value nesting = Value::array();
  for (int i = 0; i < 1000; ++i) {
    nesting.push_back(json(R"({"op":"add","path":"/b","value":{}})"));
    nesting.push_back(json(R"({"op":"move","from":"/a","path":"/b/a"})"));
    nesting.push_back(json(R"({"op":"move","from":"/b","path":"/a"})"));
  }
  EXPECT_EQ(apply_json_patch(json(R"({"a":{}})"), nesting).error().code, ErrorCode::kInvalid);
}

TEST(JsonPointer, LeadsToAPlaceForReadingAndWriting) {
  Value object = json(R"({"a/b": [{"m~n": 1}]})");
  const auto pointer = parse_json_pointer("/a~1b/0/m~0n");
  ASSERT_TRUE(pointer);
  ASSERT_NE(find_at(object, *pointer), nullptr);
  edit_at(object, *pointer) = "new";
  EXPECT_EQ(object, json(R"({"a/b": [{"m~n": "new"}]})"));
  EXPECT_EQ(find_at(object, *parse_json_pointer("/a~1b/1")), nullptr);
  EXPECT_FALSE(parse_json_pointer("a"));
}

}  // namespace
}  // namespace shiplog
