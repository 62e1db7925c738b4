#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/merge_patch.h"
#include "events/base/random.h"
#include "tests/support/literals.h"

namespace shiplog {
namespace {

using test::json;

std::string between(std::string_view before, std::string_view after) {
  const auto patch = merge_patch(json(before), json(after));
  return patch ? to_json(*patch) : "none";
}

TEST(MergePatch, NamesWhatDiffersAndNothingElse) {
  EXPECT_EQ(between(R"({"a":1,"b":{"c":2,"d":[1]}})", R"({"a":1,"b":{"c":2,"d":[1]}})"), "{}");
  EXPECT_EQ(between(R"({"a":1,"b":{"c":2,"d":[1]}})", R"({"a":1,"b":{"c":3,"d":[1]}})"), R"({"b":{"c":3}})");
  EXPECT_EQ(between(R"({"a":1,"b":2,"c":3})", R"({"b":2})"), R"({"a":null,"c":null})");
  EXPECT_EQ(between(R"({"b":2})", R"({"a":{},"b":2,"c":{"d":{"e":1}}})"), R"({"a":{},"c":{"d":{"e":1}}})");
  EXPECT_EQ(between(R"({"a":[1,{"b":null}]})", R"({"a":[2,{"b":null}]})"), R"({"a":[2,{"b":null}]})")
      << "an array is replaced as a whole";
  EXPECT_EQ(between(R"({"a":{"b":1}})", R"({"a":"text"})"), R"({"a":"text"})");
  EXPECT_EQ(between(R"({"a":"text"})", R"({"a":{"b":1}})"), R"({"a":{"b":1}})");
}

TEST(MergePatch, OfANullThatItWouldRemoveThereIsNone) {
  EXPECT_EQ(between("{}", R"({"a":null})"), "none");
  EXPECT_EQ(between(R"({"a":1})", R"({"a":{"b":null}})"), "none");
  EXPECT_EQ(between(R"({"a":null})", R"({"a":null,"b":1})"), R"({"b":1})") << "it is there already";
  for (const char* other : {"[]", "1", "null", R"("x")"}) EXPECT_EQ(between("{}", other), "none") << other;
}

/// Of few names and values, so that many of two are equal.
Value random_object(Random& random, int depth) {
  Value object = Value::object();
  for (uint64_t left = random_below(random, 5); left > 0; --left) {
    const std::string name(1, static_cast<char>('a' + random_below(random, 6)));
    switch (random_below(random, depth == 0 ? 3 : 5)) {
      case 0:
        object.set(name, random_below(random, 3) == 0 ? Value{} : Value{"text"});
        break;
      case 1:
        object.set(name, static_cast<int64_t>(random_below(random, 2)));
        break;
      case 2:
        object.set(name, Value::array({static_cast<int64_t>(random_below(random, 2))}));
        break;
      default:
        object.set(name, random_object(random, depth - 1));
    }
  }
  return object;
}

TEST(MergePatch, MakesTheOneOfTheOther) {
  SeededRandom random{11};
  int made = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Value before = random_object(random, 3);
    const Value after = random_object(random, 3);
    const auto patch = merge_patch(before, after);
    if (!patch) continue;
    ++made;
    ASSERT_EQ(merge_patched(before, *patch), after) << to_json(before) << " and " << to_json(*patch);
    ASSERT_EQ(patch->size() == 0, before == after);
  }
  EXPECT_GT(made, 5'000);
}

}  // namespace
}  // namespace shiplog
