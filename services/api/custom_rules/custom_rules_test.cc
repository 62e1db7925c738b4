#include <algorithm>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "events/kinds/structural_schema.h"
#include "services/api/custom_rules/rule_field_path.h"
#include "services/api/custom_rules/rule_set.h"
#include "services/api/custom_rules/rule_validation.h"

namespace shiplog::api {
namespace {

using Texts = std::vector<std::string>;

Value yaml(const std::string& text) {
  auto read = parse_yaml(text);
  EXPECT_TRUE(read) << text;
  return read ? std::move(read).value() : Value{};
}

std::shared_ptr<const Schema> schema_of(const std::string& text) {
  std::vector<FieldCause> causes;
  auto schema = read_structural_schema(yaml(text), "s", causes);
  EXPECT_EQ(causes.size(), 0U) << text << "\n" << (causes.empty() ? "" : causes[0].field + ": " + causes[0].message);
  return schema;
}

/// "field: message" of each; of a message of several lines the first one.
Texts texts_of(const std::vector<FieldCause>& causes) {
  Texts texts;
  for (const FieldCause& cause : causes) {
    texts.push_back(cause.field + ": " + cause.message.substr(0, cause.message.find('\n')));
  }
  return texts;
}

Texts compile_errors(const std::string& schema) {
  std::vector<FieldCause> causes;
  compile_rules(schema_of(schema), "s", &causes);
  return texts_of(causes);
}

RuleFindings judged(const std::string& schema, const std::string& object, const std::string& old = "") {
  const auto rules = compile_rules(schema_of(schema));
  EXPECT_NE(rules, nullptr);
  const Value before = old.empty() ? Value{} : yaml(old);
  return validate_rules(*rules, yaml(object), old.empty() ? nullptr : &before);
}

Texts errors(const std::string& schema, const std::string& object, const std::string& old = "") {
  return texts_of(judged(schema, object, old).causes);
}

constexpr const char* kReplicas = R"(
type: object
properties:
  spec:
    type: object
    x-kubernetes-validations:
    - {rule: self.min <= self.max, message: min must not exceed max}
    - {rule: '!has(self.name) || self.name != "no"', fieldPath: .name}
    properties:
      min: {type: integer}
      max: {type: integer}
      name: {type: string}
)";

TEST(CustomRules, AnObjectIsJudgedWithUpstreamsWords) {
  EXPECT_EQ(errors(kReplicas, "{spec: {min: 1, max: 2}}"), Texts{});
  EXPECT_EQ(errors(kReplicas, "{spec: {min: 3, max: 2}}"), Texts{"spec: Invalid value: min must not exceed max"});
  EXPECT_EQ(errors(kReplicas, "{spec: {min: 1, max: 2, name: 'no'}}"),
            Texts{"spec.name: Invalid value: failed rule: !has(self.name) || self.name != \"no\""});
  EXPECT_EQ(errors(kReplicas, "{spec: {min: 1}}"),
            Texts{"spec: Invalid value: \"object\": no such key: max evaluating rule: min must not exceed max"});
  EXPECT_EQ(errors(kReplicas, "{}"), Texts{}) << "a rule is about values that are there";
}

TEST(CustomRules, TheRootHasNoPathAndKnowsItsName) {
  const std::string schema = R"(
type: object
x-kubernetes-validations:
- rule: self.metadata.name == 'one' && self.kind == 'Thing'
)";
  EXPECT_EQ(errors(schema, "{kind: Thing, metadata: {name: one}}"), Texts{});
  EXPECT_EQ(errors(schema, "{kind: Thing, metadata: {name: two}}"),
            Texts{"<nil>: Invalid value: failed rule: self.metadata.name == 'one' && self.kind == 'Thing'"});
  EXPECT_EQ(compile_errors("{type: object, x-kubernetes-validations: [{rule: self.metadata.labels.size() > 0}]}"),
            Texts{"s.x-kubernetes-validations[0].rule: Invalid value: \"self.metadata.labels.size() > 0\": compilation "
                  "failed: ERROR: <input>:1:14: undefined field 'labels'"});
}

TEST(CustomRules, ReasonsAndValuesAreThoseOfTheRule) {
  const auto with = [](const std::string& reason) {
    return "{type: object, properties: {a: {type: integer, x-kubernetes-validations: [{rule: self > 1, message: m, "
           "reason: " +
           reason + "}]}}}";
  };
  EXPECT_EQ(errors(with("FieldValueInvalid"), "{a: 1}"), Texts{"a: Invalid value: 1: m"});
  EXPECT_EQ(errors(with("FieldValueForbidden"), "{a: 1}"), Texts{"a: Forbidden: m"});
  EXPECT_EQ(errors(with("FieldValueRequired"), "{a: 1}"), Texts{"a: Required value: m"});
  EXPECT_EQ(errors(with("FieldValueDuplicate"), "{a: 1}"), Texts{"a: Duplicate value: 1"});
  EXPECT_EQ(judged(with("FieldValueForbidden"), "{a: 1}").causes[0].reason, "FieldValueForbidden");
}

TEST(CustomRules, AMessageExpressionMakesTheMessage) {
  const auto with = [](const std::string& expression) {
    return "{type: object, properties: {a: {type: integer, x-kubernetes-validations: [{rule: self > 1, message: plain, "
           "messageExpression: \"" +
           expression + "\"}]}}}";
  };
  EXPECT_EQ(errors(with("'is ' + string(self)"), "{a: 1}"), Texts{"a: Invalid value: 1: is 1"});
  EXPECT_EQ(errors(with("string(1 / (self - 1))"), "{a: 1}"), Texts{"a: Invalid value: 1: plain"});
  EXPECT_EQ(errors(with("''"), "{a: 1}"), Texts{"a: Invalid value: 1: plain"});
  EXPECT_EQ(errors(with("'a\\\\nb'"), "{a: 1}"), Texts{"a: Invalid value: 1: plain"});
  EXPECT_EQ(compile_errors(with("self")),
            Texts{"s.properties[a].x-kubernetes-validations[0].messageExpression: Invalid value: \"self\": "
                  "messageExpression must evaluate to a string"});
}

constexpr const char* kImmutable = R"(
type: object
properties:
  a: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: is immutable}]}
  list:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [k]
    items:
      type: object
      required: [k]
      x-kubernetes-validations: [{rule: self.v >= oldSelf.v}]
      properties: {k: {type: string}, v: {type: integer}}
)";

TEST(CustomRules, TransitionRulesNeedAnOldValue) {
  EXPECT_EQ(errors(kImmutable, "{a: x}"), Texts{});
  EXPECT_EQ(errors(kImmutable, "{a: x}", "{a: x}"), Texts{});
  EXPECT_EQ(errors(kImmutable, "{a: z}", "{a: x}"), Texts{"a: Invalid value: \"z\": is immutable"});
  EXPECT_EQ(errors(kImmutable, "{a: z}", "{list: []}"), Texts{}) << "there was no a";
}

TEST(CustomRules, WhatHasNoTypeCannotBeChangedWhereAnObjectIsImmutable) {
  const std::string schema = R"(
type: object
properties:
  spec:
    type: object
    x-kubernetes-validations: [{rule: self == oldSelf, message: is immutable}]
    properties:
      parameters: {type: object, x-kubernetes-preserve-unknown-fields: true}
      raw: {x-kubernetes-preserve-unknown-fields: true}
      list: {type: array, items: {x-kubernetes-preserve-unknown-fields: true}}
      'no name': {type: string}
      name: {type: string, nullable: true}
)";
  const Texts refused = {"spec: Invalid value: is immutable"};
  const auto updated = [&](const char* to, const char* from) { return errors(schema, to, from); };
  EXPECT_EQ(updated("{spec: {parameters: {image: evil, x: 1}}}", "{spec: {parameters: {image: good, x: 1}}}"), refused);
  EXPECT_EQ(updated("{spec: {raw: 2}}", "{spec: {raw: 1}}"), refused);
  EXPECT_EQ(updated("{spec: {raw: 2}}", "{spec: {parameters: {}}}"), refused);
  EXPECT_EQ(updated("{spec: {raw: 2}}", "{spec: {name: null}}"), refused);
  EXPECT_EQ(updated("{spec: {name: null}}", "{spec: {raw: 2}}"), refused);
  EXPECT_EQ(updated("{spec: {list: [{a: 2}]}}", "{spec: {list: [{a: 1}]}}"), refused);
  EXPECT_EQ(updated("{spec: {'no name': b}}", "{spec: {'no name': a}}"), refused);
  const char* same = "{spec: {parameters: {image: good}, raw: [1, {a: 1}], list: [{a: 1}], 'no name': a, name: null}}";
  EXPECT_EQ(updated(same, same), Texts{});
}

TEST(CustomRules, ItemsOfMapListsCorrespondByTheirKeys) {
  EXPECT_EQ(errors(kImmutable, "{list: [{k: b, v: 2}, {k: a, v: 1}]}", "{list: [{k: a, v: 1}, {k: b, v: 2}]}"),
            Texts{});
  EXPECT_EQ(errors(kImmutable, "{list: [{k: c, v: 0}, {k: b, v: 1}]}", "{list: [{k: a, v: 1}, {k: b, v: 2}]}"),
            Texts{"list[1]: Invalid value: failed rule: self.v >= oldSelf.v"});
}

TEST(CustomRules, AnOptionalOldSelfIsEvaluatedOnCreationToo) {
  const std::string schema =
      "{type: object, properties: {a: {type: integer, x-kubernetes-validations: [{rule: 'oldSelf.hasValue() ? self >= "
      "oldSelf.value() : self == 1', optionalOldSelf: true}]}}}";
  EXPECT_EQ(errors(schema, "{a: 1}"), Texts{});
  EXPECT_EQ(errors(schema, "{a: 2}").size(), 1U);
  EXPECT_EQ(errors(schema, "{a: 2}", "{a: 1}"), Texts{});
  EXPECT_EQ(errors(schema, "{a: 1}", "{a: 2}").size(), 1U);
}

TEST(CustomRules, WhatAWriteLeavesAsItIsMayStay) {
  const RuleFindings kept = judged(kReplicas, "{spec: {min: 3, max: 2}, other: 1}", "{spec: {min: 3, max: 2}}");
  EXPECT_EQ(texts_of(kept.causes), Texts{});
  EXPECT_EQ(kept.warnings, Texts{"spec: Invalid value: min must not exceed max"});
  EXPECT_EQ(errors(kReplicas, "{spec: {min: 4, max: 2}}", "{spec: {min: 3, max: 2}}").size(), 1U);
  // Of the root, metadata do not count.
  const std::string root =
      "{type: object, x-kubernetes-validations: [{rule: self.a > 1}], properties: {a: {type: integer}}}";
  EXPECT_EQ(errors(root, "{a: 1, metadata: {name: one}}", "{a: 1, metadata: {name: one, finalizers: [f]}}"), Texts{});
  EXPECT_EQ(errors(root, "{a: 0, metadata: {name: one}}", "{a: 1, metadata: {name: one}}").size(), 1U);
  // A list without keys is one value.
  const std::string list =
      "{type: object, properties: {l: {type: array, items: {type: integer, x-kubernetes-validations: [{rule: self > "
      "1}]}}}}";
  EXPECT_EQ(errors(list, "{l: [1]}", "{l: [1]}"), Texts{});
  EXPECT_EQ(errors(list, "{l: [1, 2]}", "{l: [1]}"), Texts{"l[0]: Invalid value: 1: failed rule: self > 1"});
}

TEST(CustomRules, MapsAndListsAreWalked) {
  const std::string schema = R"(
type: object
properties:
  m:
    type: object
    additionalProperties: {type: string, x-kubernetes-validations: [{rule: self != 'bad'}]}
)";
  EXPECT_EQ(errors(schema, "{m: {x: good, y.z: bad}}"),
            Texts{"m[y.z]: Invalid value: \"bad\": failed rule: self != 'bad'"});
}

TEST(CustomRules, ADefinitionIsRefusedWithThePlace) {
  const auto rule = [](const std::string& rest) {
    return "{type: object, properties: {a: {type: integer, x-kubernetes-validations: [" + rest + "]}}}";
  };
  const std::string place = "s.properties[a].x-kubernetes-validations[0]";
  EXPECT_EQ(
      compile_errors(rule("{rule: self.x}")),
      Texts{place + ".rule: Invalid value: \"self.x\": compilation failed: ERROR: <input>:1:5: type 'int' does not "
                    "support field selection"});
  EXPECT_EQ(compile_errors(rule("{rule: self + 1}")),
            Texts{place + ".rule: Invalid value: \"self + 1\": cel expression must evaluate to a bool"});
  EXPECT_EQ(compile_errors(rule("{rule: self > 1, optionalOldSelf: true}")),
            Texts{place + ".optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule"});
  EXPECT_EQ(compile_errors(rule("{rule: self > 1, fieldPath: .b}")),
            Texts{place + ".fieldPath: Invalid value: \".b\": must be a valid path"});
  EXPECT_EQ(compile_errors("{type: object, properties: {l: {type: array, items: {type: integer, "
                           "x-kubernetes-validations: [{rule: self == oldSelf}]}}}}"),
            Texts{"s.properties[l].items.x-kubernetes-validations[0].rule: Invalid value: \"self == oldSelf\": oldSelf "
                  "cannot be used on the uncorrelatable portion of the schema within s.properties[l]"});
  EXPECT_EQ(
      compile_errors("{type: object, properties: {m: {type: object, x-kubernetes-map-type: atomic, properties: {l: "
                     "{type: array, items: {type: integer, x-kubernetes-validations: [{rule: self == oldSelf}]}}}}}}"),
      Texts{"s.properties[m].properties[l].items.x-kubernetes-validations[0].rule: Invalid value: \"self == "
            "oldSelf\": oldSelf cannot be used on the uncorrelatable portion of the schema within s.properties[m]"});
}

TEST(CustomRules, RefuseDefaults) {
  const std::string schema = R"yaml(
type: object
properties:
  low: {type: integer, default: 1, x-kubernetes-validations: [{rule: self > 5}]}
  right: {type: integer, default: 6, x-kubernetes-validations: [{rule: self > 5}]}
  moves: {type: integer, default: 1, x-kubernetes-validations: [{rule: self > oldSelf}]}
  list:
    type: array
    default: [b]
    items:
      type: string
      x-kubernetes-validations: [{rule: self != 'b'}]
  each:
    type: array
    items: {type: object, properties: {a: {type: string, default: b, x-kubernetes-validations: [{rule: self == 'a', reason: FieldValueForbidden}]}}}
)yaml";
  EXPECT_EQ(texts_of(validate_defaults(*compile_rules(schema_of(schema)), "s")),
            (Texts{"s.properties[each].items.properties[a].default: Forbidden: failed rule: self == 'a'",
                   "s.properties[list].default[0]: Invalid value: \"b\": failed rule: self != 'b'",
                   "s.properties[low].default: Invalid value: 1: failed rule: self > 5"}));
}

TEST(CustomRules, TypesFollowTheSchema) {
  const std::string schema = R"yaml(
type: object
x-kubernetes-validations:
- rule: self.at > timestamp('2024-01-01T00:00:00Z')
- rule: self.wait < duration('1h')
- rule: self.raw == b'hi'
- rule: self.ratio < 0.5
- rule: "type(self.port) == int ? self.port > 0 : self.port.endsWith('%')"
- rule: self.__namespace__ == 'ns' && self.a__dash__b == 'x'
- rule: self.set == ['b', 'a']
- rule: self.tpl.metadata.name == 't' && self.tpl.kind == 'Pod'
- rule: "!has(self.gone)"
properties:
  at: {type: string, format: date-time}
  wait: {type: string, format: duration}
  raw: {type: string, format: byte}
  ratio: {type: number}
  port: {x-kubernetes-int-or-string: true}
  namespace: {type: string}
  a-b: {type: string}
  gone: {type: string, nullable: true}
  set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
  tpl: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
)yaml";
  EXPECT_EQ(errors(schema,
                   "{at: '2024-06-01T00:00:00Z', wait: 30m, raw: aGk=, ratio: 0, port: 50%, namespace: ns, a-b: x, "
                   "gone: null, set: [a, b], tpl: {apiVersion: v1, kind: Pod, metadata: {name: t}}}"),
            Texts{});
  EXPECT_EQ(compile_errors("{type: object, x-kubernetes-validations: [{rule: has(self.free)}], properties: {free: "
                           "{x-kubernetes-preserve-unknown-fields: true}}}"),
            Texts{"s.x-kubernetes-validations[0].rule: Invalid value: \"has(self.free)\": compilation failed: ERROR: "
                  "<input>:1:4: undefined field 'free'"})
      << "what has no schema is not seen";
}

TEST(CustomRules, DurationsOfASchemaMayHaveDays) {
  const std::string schema =
      "{type: object, properties: {d: {type: string, format: duration, x-kubernetes-validations: [{rule: self > "
      "duration('1h')}]}}}";
  for (const char* object : {"{d: 3d}", "{d: 2 weeks}", "{d: 90m}"}) {
    EXPECT_EQ(errors(schema, object), Texts{}) << object;
    EXPECT_TRUE(validate(*schema_of(schema), yaml(object)).empty()) << object;
  }
  EXPECT_EQ(errors(schema, "{d: 3 s}"), Texts{"d: Invalid value: \"3 s\": failed rule: self > duration('1h')"});
  EXPECT_FALSE(validate(*schema_of(schema), yaml("{d: 3 moons}")).empty());
}

TEST(CustomRules, ExpensiveRulesEndAtTheirLimitsAndRefuseTheObject) {
  std::string object = "{l: [";
  for (int i = 0; i < 1000; ++i) object += std::to_string(i) + ",";
  object += "0]}";
  const auto with = [](const std::string& rule, int times) {
    std::string schema =
        "{type: object, properties: {l: {type: array, items: {type: integer}, x-kubernetes-validations: [";
    for (int i = 0; i < times; ++i) schema += "{rule: '" + rule + "', message: m" + std::to_string(i) + "},";
    return schema + "]}}}";
  };
  EXPECT_EQ(
      errors(with("self.all(a, self.all(b, self.all(c, a + b + c >= 0)))", 3), object),
      Texts{"l: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': no further validation "
            "rules will be run due to call cost exceeds limit for rule: m0"});
  // Each is within its limit, but not all of them together are.
  EXPECT_EQ(errors(with("self.all(a, self.exists(b, b == 60 || a == 70000))", 40), object),
            Texts{"l: Invalid value: \"array\": validation failed due to running out of cost budget, no further "
                  "validation rules will be run"});
}

TEST(CustomRules, WhatContainsManyWrongValuesIsComparedOnce) {
  const auto rules = compile_rules(schema_of(
      "{type: object, properties: {l: {type: array, items: {type: string, x-kubernetes-validations: [{rule: self != "
      "'b'}]}}}}"));
  Value old = Value::object();
  Value now = Value::object();
  for (int i = 0; i < 4000; ++i) {
    old.edit("l").push_back("a");
    now.edit("l").push_back(i < 2000 ? "a" : "b");
  }
  constexpr int64_t kRules = 4000 * 2;  // and 501 for the comparison
  const auto found = [&](int64_t budget) { return texts_of(validate_rules(*rules, now, &old, budget).causes); };
  EXPECT_EQ(found(kRules + 501).back(), "l[2099]: Invalid value: \"b\": failed rule: self != 'b'");
  EXPECT_EQ(found(kRules / 2 + 102),
            Texts{"l[2000]: Invalid value: \"string\": validation failed due to running out of "
                  "cost budget, no further validation rules will be run"})
      << "the comparison is not free";
  EXPECT_EQ(validate_rules(*rules, now, &old).causes.size(), 100U);
  EXPECT_EQ(validate_rules(*rules, now, &now).warnings.size(), 100U);
}

TEST(CustomRules, TheErrorsOfADefinitionAreBounded) {
  std::string schema = "{type: object, x-kubernetes-validations: [";
  for (int i = 0; i < 150; ++i) schema += "{rule: self.nope},";
  EXPECT_EQ(compile_errors(schema + "]}").size(), 100U);
}

TEST(CustomRules, TheRegularExpressionsOfADefinitionAreBounded) {
  std::string schema = "{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [";
  for (int i = 0; i < 40; ++i) schema += "{rule: \"self.a.matches(r'^\\\\pL{1,99}$')\"},";
  const Texts found = compile_errors(schema + "]}");
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found[0].find("the regular expressions of all rules are too large together"), std::string::npos)
      << found[0];
  EXPECT_EQ(compile_errors("{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "
                           "\"self.a.matches(r'^[\\\\p{L}\\\\p{N}_.-]{1,63}$')\"}]}"),
            Texts{});
}

TEST(CustomRules, FieldPathsLeadToFields) {
  const auto schema = schema_of(
      "{type: object, properties: {a: {type: object, properties: {b.c: {type: string}}}, m: {type: object, "
      "additionalProperties: {type: string}}}}");
  EXPECT_EQ(rule_field_path(".a", *schema), "a");
  EXPECT_EQ(rule_field_path(".a['b.c']", *schema), "a.b.c");
  EXPECT_EQ(rule_field_path(".m['k']", *schema), "m[k]");
  EXPECT_EQ(rule_field_path(".m.k", *schema), "m[k]");
  for (const char* wrong : {".b", "a", ".a[0]", ".a['b.c'", "..a", ".a.", ".a['\\q']"}) {
    EXPECT_EQ(rule_field_path(wrong, *schema), std::nullopt) << wrong;
  }
}

TEST(CustomRules, SchemasAreCompiledOnceAndForgotten) {
  RuleCache cache;
  auto schema = schema_of(kReplicas);
  const auto rules = cache.rules_of(schema);
  EXPECT_EQ(cache.rules_of(schema), rules);
  EXPECT_FALSE(cache.known_without(schema));
  const auto plain = schema_of("{type: object}");
  EXPECT_FALSE(cache.known_without(plain));
  EXPECT_EQ(cache.rules_of(plain), nullptr);
  EXPECT_TRUE(cache.known_without(plain));
  const std::weak_ptr<const Schema> watched = schema;
  schema.reset();
  EXPECT_FALSE(watched.expired()) << "the rules in use hold it";
}

}  // namespace
}  // namespace shiplog::api
