// What hostile expressions and values may cost. None of these tests measures time: what would take minutes is refused,
// or has a cost.
#include <set>

#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "services/cel/cel_json.h"
#include "services/cel/cel_libraries.h"
#include "services/cel/program.h"

namespace shiplog::cel {
namespace {

using Kind = CelValue::Kind;

constexpr uint64_t kCostLimit = 1'000'000;
constexpr std::string_view kTooExpensive = "operation cancelled: actual cost limit exceeded";

struct Evaluated {
  CelValue value;
  uint64_t cost = 0;
  std::string error() const { return value.is_error() ? value.error_message() : ""; }
};

/// `field` is the type of x.
Evaluated evaluated(const std::string& text, const Value& x = {}, const CelField& field = {}) {
  const auto program = CelProgram::compile(text, {&kubernetes_functions(), {{"x", field.type}}});
  if (!program) return {CelValue::error(program.error().message)};
  CelMeter meter{kCostLimit};
  const std::vector<CelValue> variables = {from_json(x, field)};
  CelValue value = program.value().evaluate(variables, meter);
  return {std::move(value), meter.spent()};
}

uint64_t cost_of(const std::string& text, const Value& x = {}, const CelField& field = {}) {
  const Evaluated made = evaluated(text, x, field);
  EXPECT_EQ(made.error(), "") << text.substr(0, 100);
  return made.cost;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

Value list_of(int size, const Value& item) {
  Value list = Value::array();
  for (int i = 0; i < size; ++i) list.push_back(item);
  return list;
}

CelField string_set() {
  return {CelType::list(CelType::Kind::kString),
          CelEncoding::kListSet,
          {},
          std::make_shared<const CelField>(CelField{CelType::Kind::kString})};
}

CelField object_with(const std::map<std::string, CelField>& fields) {
  CelObjectType type;
  type.name = "object";
  type.fields.insert(fields.begin(), fields.end());
  return {CelType::object(std::make_shared<const CelObjectType>(std::move(type)))};
}

/// The memory of a value; what is in it several times counts once.
class Memory {
 public:
  uint64_t of(const CelValue& value) {
    uint64_t bytes = sizeof(CelValue);
    if (value.is(Kind::kString) || value.is(Kind::kBytes)) {
      const std::string_view text = value.as_string();
      return bytes + (text.size() > 14 && seen_.insert(text.data()).second ? text.size() : 0);
    }
    if (value.is(Kind::kList) && seen_.insert(&value.as_list()).second) {
      for (size_t i = 0; i < value.as_list().size(); ++i) bytes += of(value.as_list().at(i));
    }
    if (value.is(Kind::kMap) && seen_.insert(&value.as_map()).second) {
      constexpr uint64_t kOfPlace = 80;  // of the hash table, besides the copy of the key
      for (const CelValue& key : value.as_map().keys()) {
        const uint64_t copied = key.is(Kind::kString) ? key.as_string().size() : 0;
        bytes += kOfPlace + copied + of(key) + of(value.as_map().find(key).value_or(CelValue{}));
      }
    }
    return bytes;
  }

 private:
  std::set<const void*> seen_;
};

TEST(CelBounds, MemoryHasACost) {
  const Value word{std::string(20'000, 'a')};
  const Value url{"http://host/" + std::string(20'000, 'p') + "?q"};
  const Value query{"http://host/?" + repeated("a&", 5000) + "b"};
  Value keys = Value::object();
  for (int i = 0; i < 2000; ++i) keys.set("key" + std::to_string(i), i);
  const std::string zeros = "[" + repeated("0, ", 2000) + "0]";
  std::string numbers = "{";
  for (int i = 0; i < 500; ++i) numbers += std::to_string(i) + ": 0, ";
  numbers += "-1: 0}";
  const std::vector<std::pair<std::string, Value>> samples = {
      {"lists.range(100).map(i, " + zeros + ")", {}},
      {"lists.range(100).map(i, " + numbers + ")", {}},
      {"lists.range(100).map(i, [x, x, x, x])", word},
      {"lists.range(100).map(i, x + 'b')", word},
      {"lists.range(100).map(i, {x: i})", word},
      {"lists.range(100).map(i, x.split(''))", Value{std::string(5000, 'a')}},
      {"lists.range(100).map(i, x.findAll('a'))", Value{std::string(5000, 'a')}},
      {"lists.range(100).map(i, x.map(k, k))", keys},
      {"lists.range(100).map(i, x.transformMap(k, v, i))", keys},
      {"lists.range(100).map(i, dyn([x]).transformMapEntry(j, v, {v: j}))", word},
      {"[url(x)].map(u, lists.range(100).map(i, u.getEscapedPath()))", url},
      {"[url(x)].map(u, lists.range(20).map(i, u.getQuery()))", query},
  };
  constexpr uint64_t kMostBytesOfUnit = 250;  // 250 MB for an evaluation
  for (const auto& [text, x] : samples) {
    const Evaluated made = evaluated(text, x);
    if (made.error().starts_with(kTooExpensive)) continue;
    EXPECT_EQ(made.error(), "") << text.substr(0, 80);
    EXPECT_LE(Memory{}.of(made.value), kMostBytesOfUnit * made.cost) << text.substr(0, 80);
  }
}

TEST(CelBounds, BytesOfAFieldAreDecodedOnce) {
  Value object = Value::object();
  object.set("blob", base64_encode(std::string(3000, 'b')));
  const CelField field = object_with({{"blob", CelField{CelType::Kind::kBytes}}, {"below", CelField{}}});
  const Evaluated made = evaluated("lists.range(100).map(i, x.blob)", object, field);
  ASSERT_EQ(made.error(), "");
  EXPECT_LT(Memory{}.of(made.value), 10'000U);
  EXPECT_EQ(made.value.as_list().at(0).as_string(), std::string(3000, 'b'));
}

TEST(CelBounds, TypesThatDoubleAtEachLevelAreCompiled) {
  const std::string doubled = "optional.of({1: 1})" + repeated(".optMap(a, {a: a})", 60);
  EXPECT_TRUE(CelProgram::compile(doubled + ".optMap(a, a == a)", {&kubernetes_functions(), {}}));
  const auto wrong = CelProgram::compile(doubled + ".optMap(a, a + 1)", {&kubernetes_functions(), {}});
  ASSERT_FALSE(wrong);
  EXPECT_LT(wrong.error().message.find('\n'), 400U) << "the types are cut";
  const std::string nested = repeated("[", 100) + "1" + repeated("]", 100);
  EXPECT_TRUE(CelProgram::compile(nested + " == " + nested, {&kubernetes_functions(), {}}));
}

TEST(CelBounds, ValuesNestNoDeeperThanTheStackAllows) {
  const std::string inner =
      "optional.of(a)" + repeated(".optMap(a, " + repeated("[", 60) + "a" + repeated("]", 60) + ")", 60);
  const std::string lists = "optional.of(1)" + repeated(".optFlatMap(a, " + inner + ")", 11);
  EXPECT_EQ(evaluated(lists + ".hasValue()").error(), "values are nested too deeply");
  const std::string maps = "optional.of(a)" + repeated(".optMap(a, {'k': a})", 60);
  EXPECT_EQ(evaluated("optional.of(1)" + repeated(".optFlatMap(a, " + maps + ")", 11) + ".hasValue()").error(),
            "values are nested too deeply");
  const std::string optionals = "optional.of(a)" + repeated(".optMap(a, optional.of(a))", 60);
  EXPECT_EQ(evaluated("optional.of(1)" + repeated(".optFlatMap(a, " + optionals + ")", 11) + ".hasValue()").error(),
            "values are nested too deeply");
  const std::string inner_of_5 = "optional.of(a)" + repeated(".optMap(a, [a])", 60);
  EXPECT_EQ(
      evaluated("optional.of(1)" + repeated(".optFlatMap(a, " + inner_of_5 + ")", 5) + ".optMap(a, a == a)").error(),
      "")
      << "300 levels are compared";
}

/// Like the variables of a policy, each of which may be a list with all of them.
class MapOfItself final : public CelMap {
 public:
  size_t size() const override { return 1; }
  std::vector<CelValue> keys() const override { return {CelValue::string("me")}; }
  std::optional<CelValue> find(const CelValue&) const override {
    return CelValue::list({CelValue::map(std::make_shared<const MapOfItself>())});
  }
};

TEST(CelBounds, RecursionOverAMapOfItselfEnds) {
  for (const char* text : {"x == x", "x in [x]", "'%s'.format([x]) == ''"}) {
    const auto program = CelProgram::compile(text, {&kubernetes_functions(), {{"x", {}}}});
    ASSERT_TRUE(program) << text;
    CelMeter meter{kCostLimit};
    const std::vector<CelValue> variables = {CelValue::map(std::make_shared<const MapOfItself>())};
    const CelValue value = program.value().evaluate(variables, meter);
    ASSERT_TRUE(value.is_error()) << text;
    EXPECT_EQ(value.error_message(), kTooExpensive) << text;
  }
}

TEST(CelBounds, WhatIsComparedWithinFunctionsIsCharged) {
  const std::string doubled = "optional.of([1])" + repeated(".optMap(a, [a, a])", 60);
  for (const char* test :
       {"[a].indexOf(a) == 0", "[a].lastIndexOf(a) == 0", "sets.contains([a], [a])", "sets.intersects([a], [a])",
        "sets.equivalent([a], [a])", "[a, a].distinct().size() == 1", "a == a", "a in [a]"}) {
    EXPECT_EQ(evaluated(doubled + ".optMap(a, " + test + ").hasValue()").error(), kTooExpensive) << test;
  }
}

TEST(CelBounds, WorkHasACostBeforeItIsDone) {
  const Value names = list_of(100, "name");
  // RE2 needs some milliseconds to reject each pattern, and `all` continues after an error.
  EXPECT_EQ(evaluated("x.all(n, n.matches('(?i)\\\\pL{1000}' + ''))", names).error(), kTooExpensive);
  EXPECT_EQ(evaluated("x.replace(x + 'b', '')", Value{std::string(50'000, 'a')}).error(), kTooExpensive);
  const std::string most = "x + x + x + x + x + x + x + x + x + x";
  EXPECT_EQ(evaluated("(" + most + ").replace(x + 'b', '') == ''", Value{std::string(40'000, 'a')}).error(),
            kTooExpensive);
  EXPECT_EQ(evaluated("(" + most + ").split(x + 'b').size() == 1", Value{std::string(40'000, 'a')}).error(),
            kTooExpensive);
}

TEST(CelBounds, CostsGrowWithWhatIsLookedAt) {
  Value keys = Value::object();
  for (int i = 0; i < 8000; ++i) keys.set("key" + std::to_string(i), i);
  EXPECT_GE(cost_of("x.exists(k, true)", keys), 1000U) << "all keys are collected";
  const Value word{std::string(100'000, 'a')};
  EXPECT_GE(cost_of("x in {'a': 1}", word), 1000U);
  EXPECT_GE(cost_of("{'a': 1}[?x].hasValue()", word), 1000U);
  EXPECT_GE(cost_of("[1].exists(i, int(x) == 1 || true)", word), 1000U);
  EXPECT_GE(cost_of("[x, x].sort().size() == 2", word), 20'000U);
  EXPECT_GE(cost_of("[url('http://h/' + x)].all(u, u == u && u == u)", word), 10'000U + 1000U + 2000U);
  EXPECT_GE(cost_of("[1].all(i, " + repeated("true && ", 1000) + "true)"), 250U) << "literals";
  Value items = Value::array();
  items.push_back(std::string(100'000, 'a'));
  EXPECT_GE(cost_of("x == x", items, string_set()), 20'000U) << "the items of a set are written to be found";
  EXPECT_GE(cost_of("(x + x).size() == 1", items, string_set()), 20'000U);
}

TEST(CelBounds, ComparisonsCostATenthOfTheShorterText) {
  // cel-go counts code points.
  const Value accents{repeated("\u00e9", 45)};
  EXPECT_EQ(cost_of("x == '" + repeated("a", 80) + "'", accents), 1 + 5U);
  EXPECT_EQ(cost_of("x == '" + repeated("a", 20) + "'", accents), 1 + 2U);
  EXPECT_EQ(cost_of("x < '" + repeated("\u20ac", 31) + "'", accents), 1 + 4U);
  EXPECT_EQ(cost_of("x == 1", accents), 1 + 1U);
}

TEST(CelBounds, RegularExpressionsHaveTheCostOfTheirPlaces) {
  const Value names = list_of(100, "some-name-of-thirty-characters");
  EXPECT_LT(cost_of("x.all(n, n.matches('^[\\\\p{L}\\\\p{N}_.-]{1,63}$'))", names), 200'000U)
      << "a class of letters is one place, however many instructions it has";
  EXPECT_GT(cost_of("x[0].matches('[ab]*a[ab]{900}c')", names), 150U);
  EXPECT_EQ(evaluated("x.matches('([ab]*a[ab]{900}){1}c')", Value{std::string(500'000, 'a')}).error(), kTooExpensive);
}

TEST(CelBounds, MessagesOfWrongExpressionsAreNotMuchLonger) {
  const auto message = [](const std::string& text) {
    const auto program = CelProgram::compile(text, {&kubernetes_functions(), {}});
    return program ? std::string{} : program.error().message;
  };
  EXPECT_LT(message("[" + repeated("nope, ", 15'000) + "nope]").size(), 110'000U);
  EXPECT_EQ(message("[" + repeated("nope, ", 15'000) + "nope]").find('^'), std::string::npos) << "the line is too long";
  EXPECT_LT(message("[" + repeated("nope, ", 2000) + "nope]").size(), 60'000U);
  EXPECT_NE(message("[nope, nope]").find('^'), std::string::npos);
}

TEST(CelBounds, PatternsOfAnExpressionAreBoundedTogether) {
  const std::string large = "'a'.matches('^\\\\pL{1,200}$')";
  EXPECT_TRUE(CelProgram::compile(large, {&kubernetes_functions(), {}}));
  const auto many = CelProgram::compile(repeated(large + " && ", 9) + "true", {&kubernetes_functions(), {}});
  ASSERT_FALSE(many);
  EXPECT_NE(many.error().message.find("regular expressions are too large together"), std::string::npos);
  EXPECT_FALSE(CelProgram::compile("'a'.matches('" + repeated("\\\\pL", 200) + "')", {&kubernetes_functions(), {}}))
      << "it would take long to read";
}

}  // namespace
}  // namespace shiplog::cel
