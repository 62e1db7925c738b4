#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/cel/cel_json.h"
#include "services/cel/cel_libraries.h"
#include "services/cel/cel_time.h"
#include "services/cel/field_names.h"
#include "services/cel/parser.h"
#include "services/cel/program.h"

namespace shiplog::cel {
namespace {

constexpr uint64_t kLimit = 1'000'000;

Value json(const char* text) {
  auto read = parse_json(text);
  EXPECT_TRUE(read) << text;
  return read ? std::move(read).value() : Value{};
}

/// With a variable x of any type.
CelEnvironment environment() { return {&kubernetes_functions(), {{"x", CelType{}}}}; }

/// The result as text: "true", "error: division by zero", or what the compiler reports.
std::string result_of(const std::string& text, const Value& x = {}, uint64_t limit = kLimit) {
  const auto program = CelProgram::compile("string(" + text + ")", environment());
  const auto plain = program ? program : CelProgram::compile(text, environment());
  if (!plain) return plain.error().message;
  CelMeter meter{limit};
  const std::vector<CelValue> variables = {from_json(x)};
  const CelValue value = plain.value().evaluate(variables, meter);
  if (value.is_error()) return "error: " + value.error_message();
  if (value.is(CelValue::Kind::kString)) return std::string{value.as_string()};
  return value.type_of().text();
}

std::string issue_of(const std::string& text, const CelEnvironment& given = environment()) {
  const auto program = CelProgram::compile(text, given);
  if (program) return "type " + program.value().type().text();
  const std::string& message = program.error().message;
  const std::string first = message.substr(0, message.find('\n'));
  const size_t place = first.find(": ", first.find("<input>"));
  return place == std::string::npos ? first : first.substr(place + 2);
}

void expect_results(const std::map<std::string, std::string>& expected, const Value& x = {}) {
  for (const auto& [text, wanted] : expected) EXPECT_EQ(result_of(text, x), wanted) << text;
}

TEST(Cel, LiteralsAreRead) {
  expect_results({{"1", "1"},
                  {"-9223372036854775808", "-9223372036854775808"},
                  {"0xff", "255"},
                  {"7u", "7"},
                  {"1.5e3", "1500"},
                  {".25", "0.25"},
                  {"true", "true"},
                  {"'a\\n\\x41\\u00e9\\101'", "a\nA\u00e9A"},
                  {"r'a\\n'", "a\\n"},
                  {"'''it's'''", "it's"},
                  {"\"\"\"a\nb\"\"\"", "a\nb"},
                  {"b'abc'", "abc"},
                  {"br'\\x'", "\\x"}});
}

TEST(Cel, OperatorsHaveTheOrderOfTheGrammar) {
  expect_results({{"1 + 2 * 3", "7"},
                  {"(1 + 2) * 3", "9"},
                  {"10 - 3 - 2", "5"},
                  {"7 / 2", "3"},
                  {"-7 / 2", "-3"},
                  {"-7 % 3", "-1"},
                  {"!true || true", "true"},
                  {"1 < 2 == true", "true"},
                  {"false ? 1 : true ? 2 : 3", "2"},
                  {"1 in [1, 2]", "true"},
                  {"'a' in {'a': 1}", "true"},
                  {"--1", "1"},
                  {"!!true", "true"}});
}

TEST(Cel, ArithmeticReportsWhatItCannotDo) {
  expect_results({{"9223372036854775807 + 1", "error: integer overflow"},
                  {"-9223372036854775808 - 1", "error: integer overflow"},
                  {"9223372036854775807 * 2", "error: integer overflow"},
                  {"-(-9223372036854775808)", "error: integer overflow"},
                  {"-9223372036854775808 / -1", "error: integer overflow"},
                  {"1 / 0", "error: division by zero"},
                  {"1 % 0", "error: modulus by zero"},
                  {"1.0 / 0.0", "+Inf"},
                  {"0u - 1u", "error: unsigned integer overflow"},
                  {"[1, 2][2]", "error: index out of bounds: 2"},
                  {"{'a': 1}['b']", "error: no such key: b"},
                  {"x + 'a'", "error: no such overload"}},
                 json("1"));
}

TEST(Cel, NumbersOfDifferentTypesCompareByValue) {
  expect_results({{"1 < 1.5", "true"},
                  {"2u > 1", "true"},
                  {"x == 1.0", "true"},
                  {"9007199254740993 > 9007199254740992.0", "true"},
                  {"18446744073709551615u > -1", "true"},
                  {"dyn(1) == 1u", "true"},
                  {"dyn('1') == 1", "false"},
                  {"1.0 in [dyn(1)]", "true"},
                  {"{1: 'a'}[dyn(1u)]", "a"}},
                 json("1"));
}

TEST(Cel, LogicIgnoresErrorsThatDoNotDecide) {
  expect_results({{"true || 1 / 0 > 1", "true"},
                  {"1 / 0 > 1 || true", "true"},
                  {"1 / 0 > 1 && false", "false"},
                  {"1 / 0 > 1 || false", "error: division by zero"},
                  {"true ? 1 : 1 / 0", "1"},
                  {"[0, 1].exists(i, 1 / i == 1)", "true"},
                  {"[1, 0].all(i, 1 / i == 2)", "false"},
                  {"[0, 1].all(i, 1 / i == 1)", "error: division by zero"},
                  {"[0, 1].exists_one(i, 1 / i == 1)", "error: division by zero"}});
}

TEST(Cel, MacrosComputeListsAndMaps) {
  expect_results({{"[1, 2, 3].filter(i, i > 1) == [2, 3]", "true"},
                  {"[1, 2, 3].map(i, i * 2) == [2, 4, 6]", "true"},
                  {"[1, 2, 3].map(i, i > 1, i * 2) == [4, 6]", "true"},
                  {"{'a': 1, 'b': 2}.filter(k, k != 'a') == ['b']", "true"},
                  {"{'a': 1}.all(k, k == 'a')", "true"},
                  {"[1, 2].exists_one(i, i == 2)", "true"},
                  {"[[1], [2, 3]].map(l, l.map(i, i + l.size())) == [[2], [4, 5]]", "true"},
                  {"[1, 2].all(i, [i].all(i, i > 0))", "true"},
                  {"[5, 6].all(i, v, v == i + 5)", "true"},
                  {"{'a': 1}.exists(k, v, k == 'a' && v == 1)", "true"},
                  {"{'a': 1, 'b': 2}.transformMap(k, v, v + 1) == {'a': 2, 'b': 3}", "true"},
                  {"{'a': 1, 'b': 2}.transformMap(k, v, k == 'b', v) == {'b': 2}", "true"},
                  {"['a', 'b'].transformMapEntry(i, v, {v: i}) == {'a': 0, 'b': 1}", "true"},
                  {"['a', 'a'].transformMapEntry(i, v, {v: i})", "error: insert failed: key already exists"},
                  {"['a'].transformList(i, v, string(i) + v) == ['0a']", "true"},
                  {"[{'n': 2}, {'n': 1}].sortBy(e, e.n) == [{'n': 1}, {'n': 2}]", "true"}});
}

TEST(Cel, FieldsThatAreMissingAreErrorsUnlessAsked) {
  const Value x = json(R"({"a": {"b": 1}, "l": [1]})");
  expect_results({{"has(x.a)", "true"},
                  {"has(x.a.c)", "false"},
                  {"has(x.c.d)", "error: no such key: c"},
                  {"x.a.b", "1"},
                  {"x['a']['b']", "1"},
                  {"x.c", "error: no such key: c"},
                  {"x.?c.hasValue()", "false"},
                  {"x.?a.b.orValue(0)", "1"},
                  {"x.?a.c.orValue(5)", "5"},
                  {"x.?c.d.e.orValue(5)", "5"},
                  {"x.l[?3].orValue(9)", "9"},
                  {"x[?'a'].b.value()", "1"},
                  {"x.?a.b.optMap(b, b + 1).value()", "2"},
                  {"x.?c.optMap(b, b + 1).hasValue()", "false"},
                  {"x.?a.optFlatMap(a, a.?b).value()", "1"},
                  {"[?x.?c, ?x.?a].size()", "1"},
                  {"{?'c': x.?c}.size()", "0"}},
                 x);
}

// As cel-go 0.22 evaluates them.
TEST(Cel, ValuesWithoutFieldsHaveNone) {
  const Value x = json(R"({"nil": null, "text": "a", "number": 5, "list": [1, null], "map": {"a": 1}})");
  expect_results({{"has(x.nil.f)", "false"},
                  {"has(x.text.f)", "false"},
                  {"has(x.number.f)", "false"},
                  {"has(x.list[1].f)", "false"},
                  {"has(dyn(timestamp(0)).f)", "false"},
                  {"has(x.list.f)", "error: unsupported index type 'string' in list"},
                  {"has(x.nil.f.g)", "error: no such key: f"},
                  {"x.nil.f", "error: no such key: f"},
                  {"x.text.f", "error: no such key: f"},
                  {"x.number['f']", "error: no such key: f"},
                  {"x.nil[0]", "error: no such key: 0"},
                  {"x.list.f", "error: unsupported index type 'string' in list"},
                  {"x.nil.?f.hasValue()", "false"},
                  {"x.text[?'f'].hasValue()", "false"},
                  {"x.nil[?0].hasValue()", "false"},
                  {"x.?nil.hasValue()", "true"},
                  {"x.?nil.f.g.hasValue()", "false"},
                  {"x.?map.a.f.hasValue()", "false"},
                  {"x.?list.f.hasValue()", "error: unsupported index type 'string' in list"},
                  {"has(x.?nil.f)", "false"},
                  {"has(x.?none.f)", "false"}},
                 x);
}

TEST(Cel, ConversionsRefuseWhatDoesNotFit) {
  expect_results({{"int('12')", "12"},
                  {"int('1.5')", "error: type conversion error from 'string' to 'int'"},
                  {"int('+5')", "5"},
                  {"int('+-5')", "error: type conversion error from 'string' to 'int'"},
                  {"uint('++5')", "error: type conversion error from 'string' to 'uint'"},
                  {"int(1e20)", "error: integer overflow"},
                  {"int(-1.9)", "-1"},
                  {"uint(-1)", "error: unsigned integer overflow"},
                  {"double('1.5')", "1.5"},
                  {"bool('true')", "true"},
                  {"string(b'\\xff')", "error: invalid UTF-8 in bytes, cannot convert to string"},
                  {"size('\u00e9\u00e9')", "2"},
                  {"'\u00e9'.size()", "1"},
                  {"bytes('\u00e9').size()", "2"},
                  {"type(1) == int", "true"},
                  {"type(x) == string", "false"},
                  {"type([]) == list", "true"},
                  {"type(timestamp(0)) == google.protobuf.Timestamp", "true"},
                  {"int(timestamp('1970-01-01T00:01:00Z'))", "60"}});
}

TEST(Cel, DoublesAreWrittenAsGoDoes) {
  expect_results({{"100000.0", "100000"},
                  {"999999.5", "999999.5"},
                  {"1000000.0", "1e+06"},
                  {"1234567.0", "1.234567e+06"},
                  {"-123456789.0", "-1.23456789e+08"},
                  {"1e21", "1e+21"},
                  {"0.0001", "0.0001"},
                  {"0.00001", "1e-05"},
                  {"'%s'.format([1000000.0])", "1e+06"}});
}

TEST(Cel, OptionalsMayHoldOptionals) {
  expect_results({{"{'a': optional.of(1)}.?a.value().value()", "1"},
                  {"{'a': optional.of(1)}[?'a'].value().hasValue()", "true"},
                  {"{'a': optional.none()}.?a.hasValue()", "true"},
                  {"[optional.of(1)][?0].value().value()", "1"},
                  {"{'a': 1}.?b.hasValue()", "false"}});
}

TEST(Cel, TimesAndDurationsAreComputed) {
  expect_results({{"timestamp('2024-02-28T23:00:00Z') + duration('2h')", "2024-02-29T01:00:00Z"},
                  {"timestamp('2024-01-01T00:00:00+01:00')", "2023-12-31T23:00:00Z"},
                  {"timestamp('2024-01-01T00:00:00.5Z') - timestamp('2023-12-31T00:00:00Z')", "86400.5s"},
                  {"duration('1h') > duration('59m')", "true"},
                  {"duration('-1.5s')", "-1.5s"},
                  {"duration('100ms') + duration('1us')", "0.100001s"},
                  {"timestamp('9999-12-31T23:59:59Z') + duration('1s')", "error: timestamp overflow"},
                  {"timestamp(x)", "error: parsing time \"yesterday\": it is no time of RFC 3339"}},
                 Value{"yesterday"});
}

TEST(Cel, TheCompilerFindsWrongTypes) {
  auto spec = std::make_shared<CelObjectType>();
  spec->escapes_names = true;
  spec->name = "object";
  spec->fields.emplace("replicas", CelField{CelType::Kind::kInt});
  spec->fields.emplace("namespace", CelField{CelType::Kind::kString});
  spec->fields.emplace("a-b", CelField{CelType::Kind::kString});
  const CelEnvironment given = {&kubernetes_functions(), {{"self", CelType::object(spec)}}};
  EXPECT_EQ(issue_of("self.replicas > 1", given), "type bool");
  EXPECT_EQ(issue_of("self.__namespace__ + self.a__dash__b", given), "type string");
  EXPECT_EQ(issue_of("self.namespace == ''", given), "undefined field 'namespace'");
  EXPECT_EQ(issue_of("self.foo == 1", given), "undefined field 'foo'");
  EXPECT_EQ(issue_of("has(self.foo)", given), "undefined field 'foo'");
  EXPECT_EQ(issue_of("self.replicas == 'a'", given),
            "found no matching overload for '_==_' applied to '(int, string)'");
  EXPECT_EQ(issue_of("self.replicas.x", given), "type 'int' does not support field selection");
  EXPECT_EQ(issue_of("self.replicas.startsWith('a')", given),
            "found no matching overload for 'startsWith' applied to 'int.(string)'");
  EXPECT_EQ(issue_of("self == null", given), "type bool");
  EXPECT_EQ(issue_of("y", given), "undeclared reference to 'y' (in container '')");
  EXPECT_EQ(issue_of("self.nope()", given), "undeclared reference to 'nope' (in container '')");
  EXPECT_EQ(issue_of("[1, 'a']", given), "expected type 'int' but found 'string'");
  EXPECT_EQ(issue_of("[1].all(i, i)", given), "found no matching overload for '_&&_' applied to '(bool, int)'");
  EXPECT_EQ(issue_of("1.all(i, true)", given),
            "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)");
  EXPECT_EQ(issue_of("[1].all(i.j, true)", given), "argument must be a simple name");
  EXPECT_EQ(issue_of("has(self)", given), "invalid argument to has() macro");
  EXPECT_EQ(issue_of("duration('1x') > duration('1s')", given), "invalid duration argument");
  EXPECT_EQ(issue_of("self.replicas > 1 ? 'a' : 1", given),
            "found no matching overload for '_?_:_' applied to '(bool, string, int)'");
}

TEST(Cel, AnIssueShowsTheLineAndThePlace) {
  const auto program = CelProgram::compile("true &&\n x.y(", environment());
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message,
            "ERROR: <input>:2:6: Syntax error: mismatched input '<EOF>' expecting an expression\n |  x.y(\n | .....^");
}

TEST(Cel, HostileExpressionsAreRefused) {
  const std::vector<std::string> hostile = {std::string(100'001, ' '),
                                            std::string(50'000, '('),
                                            std::string(50'000, '['),
                                            std::string(50'000, '-'),
                                            std::string(50'001, '!') + "1",
                                            "\xff",
                                            "'\\ud800'",
                                            "'abc",
                                            "1 +",
                                            "9223372036854775808",
                                            "a{b: 1}",
                                            "for",
                                            "x.true",
                                            "@",
                                            "`a`"};
  for (const std::string& text : hostile) EXPECT_FALSE(CelProgram::compile(text, environment())) << text.substr(0, 50);
  std::string chain = "1";
  for (int i = 0; i < 5000; ++i) chain += "+1";
  EXPECT_FALSE(CelProgram::compile(chain, environment())) << "its tree is too deep";
  std::string selects = "x";
  for (int i = 0; i < 5000; ++i) selects += ".a";
  EXPECT_FALSE(CelProgram::compile(selects, environment()));
  std::string flat = "true";
  for (int i = 0; i < 5000; ++i) flat += " && true";
  EXPECT_TRUE(CelProgram::compile(flat, environment())) << "conditions are not nested";
}

TEST(Cel, EvaluationEndsAtItsLimit) {
  Value list = Value::array();
  for (int i = 0; i < 2000; ++i) list.push_back(i);
  const std::string limit = "error: operation cancelled: actual cost limit exceeded";
  std::string doubled = "[x]";
  for (int i = 0; i < 11; ++i) doubled += ".map(a, a + a)";
  doubled += ".size() > 0";
  // Each would take minutes, or all memory.
  for (const char* text :
       {"x.all(a, x.all(b, x.all(c, a + b + c >= 0)))", "x.map(a, x.map(b, x)).size() > 0", doubled.c_str(),
        "x.all(a, x.all(b, x == x))", "x.exists(a, x.exists(b, b in x && false) || false)",
        "x.all(a, true || x.all(b, x.all(c, true))) && x.all(a, x.all(b, false || x.all(c, true)))"}) {
    EXPECT_EQ(result_of(text, list), limit) << text;
  }
  std::string doubling = "'0123456789'";
  for (int i = 0; i < 40; ++i) doubling = "[" + doubling + "].map(a, a + a)[0]";
  EXPECT_EQ(result_of(doubling), limit);
  EXPECT_EQ(result_of("x.all(a, a >= 0)", list), "true") << "what is cheap is not hindered";
}

TEST(Cel, CostsAreThoseOfUpstream) {
  const auto cost = [](const char* text, const Value& x) {
    const auto program = CelProgram::compile(text, environment());
    EXPECT_TRUE(program) << text;
    CelMeter meter{kLimit};
    const std::vector<CelValue> variables = {from_json(x)};
    if (program) program.value().evaluate(variables, meter);
    return meter.spent();
  };
  const Value x = json(R"({"a": {"b": 1}, "s": "0123456789012345"})");
  EXPECT_EQ(cost("x.a.b", x), 3U);
  EXPECT_EQ(cost("x.a.b == 1", x), 4U);
  EXPECT_EQ(cost("has(x.a)", x), 1U);
  EXPECT_EQ(cost("x.s.startsWith('a')", x), 4U);
  EXPECT_EQ(cost("x.s == '0123456789012345'", x), 4U);
  EXPECT_EQ(cost("[1, 2]", x), 10U);
  EXPECT_EQ(cost("{'a': 1}", x), 30U);
}

CelField string_items(CelEncoding encoding) {
  return {CelType::list(CelType::Kind::kString),
          encoding,
          {},
          std::make_shared<const CelField>(CelField{CelType::Kind::kString})};
}

TEST(Cel, SetsCompareAndUniteWithoutOrder) {
  const CelField set = string_items(CelEncoding::kListSet);
  const CelEnvironment given = {&kubernetes_functions(), {{"a", set.type}, {"b", set.type}}};
  const auto check = [&](const char* text, const CelField& field) {
    const auto program = CelProgram::compile(text, given);
    EXPECT_TRUE(program) << text;
    CelMeter meter{kLimit};
    const std::vector<CelValue> variables = {from_json(json(R"(["x", "y"])"), field),
                                             from_json(json(R"(["y", "x"])"), field)};
    return program.value().evaluate(variables, meter).as_bool();
  };
  EXPECT_TRUE(check("a == b", set));
  EXPECT_TRUE(check("(a + b) == ['x', 'y']", set));
  EXPECT_FALSE(check("a == b", string_items(CelEncoding::kPlain)));
  EXPECT_TRUE(check("(a + b).size() == 4", string_items(CelEncoding::kPlain)));
}

TEST(Cel, SetsOfListsAndMapsAreNotUnited) {
  const CelType map = CelType::map(CelType::Kind::kString, CelType::Kind::kInt);
  const CelField item = {map, CelEncoding::kPlain, {}, std::make_shared<const CelField>(CelField{CelType::Kind::kInt})};
  const CelField set = {CelType::list(map), CelEncoding::kListSet, {}, std::make_shared<const CelField>(item)};
  const CelEnvironment given = {&kubernetes_functions(), {{"a", set.type}}};
  const auto result = [&](const char* text) {
    const auto program = CelProgram::compile(text, given);
    EXPECT_TRUE(program) << text;
    CelMeter meter{kLimit};
    const std::vector<CelValue> variables = {from_json(json(R"([{"k": 1}, {"k": 2}])"), set)};
    return program.value().evaluate(variables, meter);
  };
  const CelValue united = result("(a + a).size() == 2");
  ASSERT_TRUE(united.is_error());
  EXPECT_EQ(united.error_message(), "listSet operations are only supported on lists of scalar values");
  EXPECT_TRUE(result("a == [{'k': 1}, {'k': 2}]").as_bool());
  EXPECT_FALSE(result("a == [{'k': 2}, {'k': 2}]").as_bool());
}

TEST(Cel, ListsOfTheTypeMapAreComparedByTheirKeys) {
  auto item_type = std::make_shared<CelObjectType>();
  item_type->name = "object";
  item_type->fields.emplace("k", CelField{CelType::Kind::kString});
  item_type->fields.emplace("v", CelField{CelType::Kind::kInt});
  const CelType item = CelType::object(item_type);
  const CelField field = {
      CelType::list(item), CelEncoding::kListMap, {"k"}, std::make_shared<const CelField>(CelField{item})};
  const CelEnvironment given = {&kubernetes_functions(), {{"a", field.type}, {"b", field.type}}};
  const auto check = [&](const char* text, const char* a, const char* b) {
    const auto program = CelProgram::compile(text, given);
    EXPECT_TRUE(program) << text;
    CelMeter meter{kLimit};
    const std::vector<CelValue> variables = {from_json(json(a), field), from_json(json(b), field)};
    return program.value().evaluate(variables, meter).as_bool();
  };
  const char* first = R"([{"k": "a", "v": 1}, {"k": "b", "v": 2}])";
  EXPECT_TRUE(check("a == b", first, R"([{"k": "b", "v": 2}, {"k": "a", "v": 1}])"));
  EXPECT_FALSE(check("a == b", first, R"([{"k": "b", "v": 2}, {"k": "a", "v": 3}])"));
  EXPECT_TRUE(check("(a + b).size() == 3 && (a + b)[0].v == 7", first, R"([{"k": "a", "v": 7}, {"k": "c", "v": 3}])"));
}

TEST(Cel, ValuesHaveTheTypesOfTheSchema) {
  const auto type_of = [](const char* text, CelType type, CelEncoding encoding = CelEncoding::kPlain) {
    const CelValue value = from_json(json(text), CelField{std::move(type), encoding});
    return value.is_error() ? value.error_message() : value.type_of().text();
  };
  EXPECT_EQ(type_of("1", CelType::Kind::kDouble), "double");
  EXPECT_EQ(type_of("1.0", CelType::Kind::kInt), "int");
  EXPECT_EQ(type_of("\"aGk=\"", CelType::Kind::kBytes), "bytes");
  EXPECT_EQ(type_of("\"2024-01-01T00:00:00Z\"", CelType::Kind::kTimestamp), "timestamp");
  EXPECT_EQ(type_of("\"1h\"", CelType::Kind::kDuration), "duration");
  EXPECT_EQ(type_of("\"10%\"", CelType{}, CelEncoding::kIntOrString), "string");
  EXPECT_EQ(type_of("{}", CelType::Kind::kString), "invalid data, expected string");
  EXPECT_EQ(type_of("true", CelType{}, CelEncoding::kIntOrString),
            "invalid data, expected XIntOrString value to be either a string or integer");
}

TEST(Cel, FieldNamesAreEscaped) {
  const std::map<std::string, std::string> names = {{"a", "a"},
                                                    {"a.b", "a__dot__b"},
                                                    {"a-b/c", "a__dash__b__slash__c"},
                                                    {"__x", "__underscores__x"},
                                                    {"namespace", "__namespace__"},
                                                    {"in", "__in__"},
                                                    {"_a_", "_a_"}};
  for (const auto& [name, escaped] : names) {
    EXPECT_EQ(escape_field_name(name), escaped);
    EXPECT_EQ(unescape_field_name(escaped), name);
  }
  EXPECT_EQ(escape_field_name("1a"), std::nullopt);
  EXPECT_EQ(escape_field_name("a b"), std::nullopt);
  EXPECT_EQ(escape_field_name(""), std::nullopt);
  EXPECT_EQ(unescape_field_name("__nope__"), std::nullopt);
}

TEST(Cel, DurationsAreReadAsGoDoes) {
  const auto nanos = [](const char* text) {
    const auto read = parse_cel_duration(text);
    return read ? read.value().nanos : -1;
  };
  EXPECT_EQ(nanos("1h2m3s"), 3723'000'000'000);
  EXPECT_EQ(nanos("1.5ms"), 1'500'000);
  EXPECT_EQ(nanos("0"), 0);
  EXPECT_EQ(nanos("-0s"), 0);
  EXPECT_EQ(nanos("2562047h47m16.854775807s"), INT64_MAX);
  for (const char* wrong : {"", "1", "s", "1d", "1h ", "1..5s", "9999999h", "-", "+"})
    EXPECT_EQ(nanos(wrong), -1) << wrong;
}

}  // namespace
}  // namespace shiplog::cel
