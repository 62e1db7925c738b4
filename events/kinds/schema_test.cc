#include "events/kinds/schema.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "events/kinds/pruned_and_defaulted.h"
#include "events/kinds/structural_schema.h"
#include "events/kinds/validate_change.h"
#include "tests/support/literals.h"

namespace shiplog {
namespace {

using test::yaml;

std::shared_ptr<const Schema> schema_of(std::string_view text) {
  std::vector<FieldCause> causes;
  auto schema = read_structural_schema(yaml(text), "schema", causes);
  for (const FieldCause& cause : causes) ADD_FAILURE() << cause.field << ": " << cause.message;
  return schema;
}

std::vector<FieldCause> violations(const char* schema, const char* value) {
  return validate(*schema_of(schema), yaml(value));
}

constexpr const char* kNested = R"(
type: object
properties:
  spec:
    type: object
    required: [size]
    properties:
      size: {type: integer, format: int32, minimum: 1, maximum: 9, default: 3}
      mode: {type: string, enum: [fast, slow], default: fast}
      name: {type: string, minLength: 2, maxLength: 4, pattern: '^[a-z]+$'}
      items:
        type: array
        minItems: 1
        maxItems: 2
        items:
          type: object
          properties:
            live: {type: boolean, default: true}
            amount: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
      labels: {type: object, additionalProperties: {type: string}}
      free: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {kept: {type: object, properties: {a: {type: string}}}}}
      template: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}}
      maybe: {type: string, nullable: true}
)";

TEST(SchemaPrune, DropsUnknownFieldsAndReturnsTheirPaths) {
  std::vector<std::string> dropped;
  const Value pruned = prune(*schema_of(kNested), yaml(R"(
spec: {size: 1, sise: 2, items: [{live: true, of: false}], labels: {any: thing}}
extra: 1
)"),
                             &dropped);
  EXPECT_EQ(pruned, yaml("spec: {size: 1, items: [{live: true}], labels: {any: thing}}"));
  EXPECT_EQ(dropped, (std::vector<std::string>{"extra", "spec.items[0].of", "spec.sise"}));
}

TEST(SchemaPrune, KeepsUnknownFieldsWhereTheyArePreservedButPrunesKnownOnesWithin) {
  const Value pruned = prune(*schema_of(kNested), yaml("spec: {free: {x: {y: 1}, kept: {a: b, c: d}}}"));
  EXPECT_EQ(pruned, yaml("spec: {free: {x: {y: 1}, kept: {a: b}}}"));
}

TEST(SchemaPrune, LeavesMetadataOfTheRootAlone) {
  const Value object = yaml("{apiVersion: v1, kind: K, metadata: {name: a, unheard: of}}");
  EXPECT_EQ(prune(*schema_of(kNested), object), object);
}

TEST(SchemaPrune, DropsUnknownMetadataOfEmbeddedResources) {  // CRD-7
  std::vector<std::string> dropped;
  const Value pruned = prune(*schema_of(kNested), yaml(R"(
spec: {template: {apiVersion: v1, kind: K, unheard: of, metadata: {name: b, labels: {any: thing}, unheard: of}}}
)"),
                             &dropped);
  EXPECT_EQ(pruned, yaml("spec: {template: {apiVersion: v1, kind: K, metadata: {name: b, labels: {any: thing}}}}"));
  EXPECT_EQ(dropped, (std::vector<std::string>{"spec.template.metadata.unheard", "spec.template.unheard"}));
}

TEST(SchemaDefaults, FillOnlyInsideObjectsThatArePresent) {  // CRD-7
  const auto schema = schema_of(kNested);
  EXPECT_EQ(with_defaults(*schema, yaml("{}")), yaml("{}"));
  EXPECT_EQ(with_defaults(*schema, yaml("spec: {items: [{}, {live: false}]}")),
            yaml("spec: {size: 3, mode: fast, items: [{live: true}, {live: false}]}"));
}

TEST(SchemaDefaults, AnObjectFilledInGetsItsOwnDefaults) {
  const auto schema = schema_of(R"(
type: object
properties: {a: {type: object, default: {}, properties: {b: {type: integer, default: 1}}}}
)");
  EXPECT_EQ(with_defaults(*schema, yaml("{}")), yaml("a: {b: 1}"));
}

TEST(SchemaDefaults, NullCountsAsMissingUnlessNullable) {
  EXPECT_EQ(with_defaults(*schema_of(kNested), yaml("spec: {size: null, name: null, maybe: null, mode: slow}")),
            yaml("spec: {size: 3, maybe: null, mode: slow}"));
}

TEST(SchemaDefaults, ANullIsNoDefault) {
  const auto schema = schema_of(
      "{type: object, properties: {a: {type: string, default: null}, b: {type: string, nullable: true, default: "
      "null}}}");
  EXPECT_EQ(with_defaults(*schema, yaml("{}")), yaml("{}"));
}

constexpr const char* kEmbeddedDefaults = R"(
type: object
properties:
  fields:
    type: object
    x-kubernetes-embedded-resource: true
    properties:
      apiVersion: &version {type: string, default: foos/v1}
      kind: &kind {type: string, default: Foo}
      metadata: {type: object, properties: {name: {type: string, default: Bar}, unknown: {type: string, default: x}}}
  metadata-only:
    type: object
    x-kubernetes-embedded-resource: true
    properties:
      apiVersion: *version
      kind: *kind
      metadata: {type: object, default: {name: Bar, unknown: x}}
  whole:
    type: object
    x-kubernetes-embedded-resource: true
    x-kubernetes-preserve-unknown-fields: true
    default: {apiVersion: foos/v1, kind: Foo, metadata: {name: Bar, unknown: x}}
  spanning:
    type: object
    properties: {e: {type: object, x-kubernetes-embedded-resource: true, properties: {a: {type: string}}}}
    default: {e: {apiVersion: foos/v1, kind: Foo, metadata: {name: Bar, unknown: x}}}
)";

TEST(SchemaDefaults, OfEmbeddedResourcesLoseUnknownMetadata) {  // CRD-7
  const Value resource = yaml("{apiVersion: foos/v1, kind: Foo, metadata: {name: Bar}}");
  const Value filled =
      with_defaults(*schema_of(kEmbeddedDefaults), yaml("{fields: {metadata: {}}, metadata-only: {}}"));
  for (const char* field : {"fields", "metadata-only", "whole"}) EXPECT_EQ(filled[field], resource) << field;
  EXPECT_EQ(filled["spanning"]["e"], resource);
}

TEST(SchemaDefaults, KeepCompleteContent) {
  const Value whole = yaml("spec: {size: 1, mode: slow}");
  EXPECT_EQ(with_defaults(*schema_of(kNested), whole), whole);
}

std::vector<std::string> texts_of(const std::vector<FieldCause>& causes) {
  std::vector<std::string> texts;
  for (const FieldCause& cause : causes) texts.push_back(cause.field + " | " + cause.reason + " | " + cause.message);
  return texts;
}

struct ValidationCase {
  const char* value;
  FieldCause cause;
};

TEST(SchemaValidate, ReportsErrorsAsKubernetesDoes) {  // CRD-8, ERR-5
  const std::vector<ValidationCase> cases = {
      {"spec: {}", {"spec.size", "FieldValueRequired", "Required value"}},
      {"spec: {size: big}",
       {"spec.size", "FieldValueTypeInvalid",
        R"(Invalid value: "string": spec.size in body must be of type integer: "string")"}},
      {"spec: {size: 0}",
       {"spec.size", "FieldValueInvalid", "Invalid value: 0: spec.size in body should be greater than or equal to 1"}},
      {"spec: {size: 10}",
       {"spec.size", "FieldValueInvalid", "Invalid value: 10: spec.size in body should be less than or equal to 9"}},
      {"spec: {size: 1, mode: idle}",
       {"spec.mode", "FieldValueNotSupported", R"(Unsupported value: "idle": supported values: "fast", "slow")"}},
      {"spec: {size: 1, name: a}",
       {"spec.name", "FieldValueInvalid", R"(Invalid value: "a": spec.name in body should be at least 2 chars long)"}},
      {"spec: {size: 1, name: abcde}", {"spec.name", "FieldValueTooLong", "Too long: may not be more than 4 bytes"}},
      {"spec: {size: 1, name: A1}",
       {"spec.name", "FieldValueInvalid", R"(Invalid value: "A1": spec.name in body should match '^[a-z]+$')"}},
      {"spec: {size: 1, items: []}",
       {"spec.items", "FieldValueInvalid", "Invalid value: 0: spec.items in body should have at least 1 items"}},
      {"spec: {size: 1, items: [{}, {}, {}]}",
       {"spec.items", "FieldValueTooMany", "Too many: 3: must have at most 2 items"}},
      {"spec: {size: 1, items: [{live: 1}]}",
       {"spec.items[0].live", "FieldValueTypeInvalid",
        R"(Invalid value: "integer": spec.items[0].live in body must be of type boolean: "integer")"}},
      {"spec: {size: 1, items: [{amount: true}]}",
       {"spec.items[0].amount", "FieldValueTypeInvalid",
        R"(Invalid value: "boolean": spec.items[0].amount in body must be of type integer or string: "boolean")"}},
      {"spec: {size: 1, labels: {a: 1}}",
       {"spec.labels.a", "FieldValueTypeInvalid",
        R"(Invalid value: "integer": spec.labels.a in body must be of type string: "integer")"}},
      {"spec: {size: 1, template: {kind: K}}",
       {"spec.template.apiVersion", "FieldValueRequired", "Required value: must not be empty"}},
  };
  for (const ValidationCase& each : cases) {
    EXPECT_EQ(texts_of(violations(kNested, each.value)), texts_of({each.cause})) << each.value;
  }
}

TEST(SchemaValidate, ADocumentMayRestrictTheMetadataOfAResource) {  // CRD-10
  constexpr const char* kRestricted = R"(
type: object
properties:
  apiVersion: {type: string, enum: [g/v1]}
  kind: {type: string, pattern: ^K$}
  metadata: {type: object, properties: {name: {type: string, maxLength: 3, not: {enum: [bad]}}, generateName: {type: string, minLength: 2}}}
  e:
    type: object
    x-kubernetes-embedded-resource: true
    properties:
      kind: {type: string, enum: [E]}
      metadata:
        type: object
        required: [labels]
        properties: {labels: {type: object, maxProperties: 1, additionalProperties: {type: string, maxLength: 2}}}
)";
  EXPECT_TRUE(violations(kRestricted, R"({apiVersion: g/v1, kind: K, metadata: {name: abc, generateName: ab},
      e: {apiVersion: v1, kind: E, metadata: {labels: {a: bc}}}})")
                  .empty());
  std::vector<std::string> fields;
  for (const FieldCause& cause :
       violations(kRestricted, R"({apiVersion: g/v2, kind: L, metadata: {name: bad, generateName: a},
      e: {apiVersion: v1, kind: F, metadata: {labels: {a: bcd, b: c}}}})")) {
    fields.push_back(cause.field);
  }
  EXPECT_EQ(fields, (std::vector<std::string>{"apiVersion", "e.kind", "e.metadata.labels", "e.metadata.labels.a",
                                              "kind", "metadata.generateName", "metadata.name"}));
  EXPECT_EQ(violations(kRestricted, "{metadata: {name: toolong}, e: {apiVersion: v1, kind: E, metadata: {}}}").size(),
            2U);
}

TEST(SchemaValidate, AcceptsValidValues) {
  EXPECT_TRUE(violations(kNested, R"(
spec: {size: 9, mode: slow, name: abc, items: [{amount: 5}, {amount: 50%}], labels: {}, maybe: null, free: {x: [1]}}
)")
                  .empty());
}

TEST(SchemaValidate, MultiplesAreTakenAsDecimalFractions) {  // kube-openapi MultipleOf
  constexpr const char* kMultiples = R"(
type: object
properties:
  tenths: {type: number, multipleOf: 0.1}
  halves: {type: number, multipleOf: 2.5}
  threes: {type: integer, multipleOf: 3}
)";
  for (const char* fits : {"{tenths: 0.3}", "{tenths: 0.7, halves: 7.5, threes: -9}", "{tenths: 2, halves: 5}",
                           "{tenths: 0, halves: 0, threes: 0}", "{threes: 9007199254740993}"}) {
    EXPECT_EQ(texts_of(violations(kMultiples, fits)), std::vector<std::string>{}) << fits;
  }
  for (const char* wrong :
       {"{tenths: 0.35}", "{tenths: 0.01}", "{halves: 2.6}", "{halves: 3}", "{threes: 9007199254740992}"}) {
    EXPECT_EQ(violations(kMultiples, wrong).size(), 1U) << wrong;
  }
}

TEST(SchemaValidate, WatchesRangesAndFormats) {
  constexpr const char* kFormats = R"(
type: object
properties:
  small: {type: integer, format: int32}
  at: {type: string, format: date-time}
  bytes: {type: string, format: byte}
  short: {type: string, format: k8s-short-name}
  long: {type: string, format: k8s-long-name}
)";
  EXPECT_TRUE(violations(kFormats, "{small: 2147483647, at: '2026-01-02T03:04:05Z', bytes: aGVsbG8=}").empty());
  EXPECT_TRUE(violations(kFormats, "{short: a-1, long: a.b}").empty());
  EXPECT_EQ(violations(kFormats, "{short: a.b, long: A}").size(), 2U);
  const auto causes = violations(kFormats, "{small: 2147483648, at: yesterday, bytes: '?'}");
  ASSERT_EQ(causes.size(), 3U);
  EXPECT_EQ(causes[0].message, R"(Invalid value: "yesterday": at in body must be of type date-time: "yesterday")");
}

TEST(SchemaValidate, ADoubleIsAnIntegerWhileItStandsForOne) {
  const auto schema = schema_of("{type: object, properties: {whole: {type: integer}}}");
  const auto accepts = [&](double number) { return validate(*schema, Value::object({{"whole", number}})).empty(); };
  EXPECT_TRUE(accepts(3.0));
  EXPECT_TRUE(accepts(-9007199254740991.0));
  EXPECT_FALSE(accepts(9007199254740992.0));
  EXPECT_FALSE(accepts(1e300));
  EXPECT_FALSE(accepts(0.5));
}

TEST(SchemaValidate, DoesNotRepeatBytesThatAreNoBase64) {
  const auto message = [](const std::string& text) {
    const auto schema = schema_of("{type: object, properties: {bytes: {type: string, format: byte}}}");
    const auto causes = validate(*schema, Value::object({{"bytes", text}}));
    return causes.empty() ? "valid" : causes[0].message;
  };
  const std::string wrong = "Invalid value: bytes in body must be of type byte: illegal base64 data at input byte ";
  EXPECT_EQ(message("SUPERSECRETPASSWORD"), wrong + "16");
  EXPECT_EQ(message("secret words"), wrong + "6");
  EXPECT_EQ(message("YWJj=GVm"), wrong + "4");
  EXPECT_EQ(message("YQ==YQ=="), wrong + "4");
  EXPECT_EQ(message("YW=jZGVm"), wrong + "3");
  EXPECT_EQ(message("YQ="), wrong + "3");
  for (const char* right : {"", "YQ==", "YWI=", "YWJj"}) EXPECT_EQ(message(right), "valid") << right;
}

TEST(SchemaValidate, FindsDuplicatesInMapListsAndSets) {
  constexpr const char* kLists = R"(
type: object
properties:
  map:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [type]
    items: {type: object, required: [type], properties: {type: {type: string}, n: {type: integer}}}
  set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
)";
  const auto causes = violations(kLists, "{map: [{type: a}, {type: b}, {type: a, n: 1}], set: [x, x]}");
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(causes[0], (FieldCause{"map[2]", "FieldValueDuplicate", R"(Duplicate value: {"type":"a"})"}));
  EXPECT_EQ(causes[1], (FieldCause{"set[1]", "FieldValueDuplicate", R"(Duplicate value: "x")"}));
}

TEST(SchemaValidate, FollowsJunctors) {
  constexpr const char* kOne = R"(
type: object
properties: {a: {type: integer}, b: {type: integer}}
oneOf: [{required: [a]}, {required: [b]}]
not: {required: [c]}
)";
  EXPECT_TRUE(violations(kOne, "{a: 1}").empty());
  EXPECT_EQ(violations(kOne, "{}").size(), 1U);
  EXPECT_EQ(violations(kOne, "{a: 1, b: 1}").size(), 1U);
  EXPECT_EQ(violations(kOne, "{a: 1, c: 1}").size(), 1U);
}

TEST(SchemaValidate, LongTextAgainstAPatternDoesNotOverflowTheStack) {
  const auto schema = schema_of("{type: object, properties: {a: {type: string, pattern: '^(a|b)*$'}}}");
  const Value long_text = Value::object({{"a", std::string(2'000'000, 'a')}});
  EXPECT_LE(validate(*schema, long_text).size(), 1U);
}

TEST(SchemaOpenApi, RoundTrips) {
  const Value document = yaml(R"(
description: A thing.
type: object
required: [name]
properties:
  name: {type: string, pattern: '^a', maxLength: 3, default: a}
  count: {type: integer, format: int64, minimum: 1}
  size: {anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}
  list:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [k]
    items: {type: object, required: [k], properties: {k: {type: string}}}
  map: {type: object, additionalProperties: {type: boolean}}
  free: {type: object, x-kubernetes-preserve-unknown-fields: true}
)");
  Value written = to_openapi(*schema_of(to_yaml(document)));
  for (const char* known : {"apiVersion", "kind", "metadata"}) EXPECT_TRUE(written.edit("properties").erase(known));
  EXPECT_EQ(to_pretty_json(written), to_pretty_json(document));
}

TEST(StructuralSchema, RefusesSchemasThatAreNotStructural) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"{type: object, properties: {a: {}}}", "s.properties[a].type"},
      {"{type: object, properties: {a: {type: strange}}}", "s.properties[a].type"},
      {"{type: string}", "s.type"},
      {"{type: object, properties: {a: {$ref: '#/x'}}}", "s.properties[a].$ref"},
      {"{type: object, properties: {a: {type: array}}}", "s.properties[a].items"},
      {"{type: object, properties: {a: {type: array, items: [{type: string}]}}}", "s.properties[a].items"},
      {"{type: object, properties: {a: {type: string, pattern: '('}}}", "s.properties[a].pattern"},
      {"{type: object, properties: {a: {type: integer, default: x}}}", "s.properties[a].default"},
      {"{type: object, properties: {a: {type: object, default: {b: 1}}}}", "s.properties[a].default"},
      // As it is written, without the default of its field.
      {"{type: object, properties: {a: {type: object, default: {}, required: [b], properties: {b: {type: string, "
       "default: x}}}}}",
       "s.properties[a].default.b"},
      {"{type: object, anyOf: [{properties: {a: {x-kubernetes-validations: [{rule: 'true'}]}}}]}",
       "s.anyOf[0].properties[a].x-kubernetes-validations"},
      {"{type: object, x-kubernetes-validations: [{rule: ' '}]}", "s.x-kubernetes-validations[0].rule"},
      {"{type: object, x-kubernetes-validations: [{rule: 'a', message: ' '}]}",
       "s.x-kubernetes-validations[0].message"},
      {"{type: object, x-kubernetes-validations: [{rule: 'a', message: \"a\\nb\"}]}",
       "s.x-kubernetes-validations[0].message"},
      {"{type: object, x-kubernetes-validations: [{rule: \"a\\nb\"}]}", "s.x-kubernetes-validations[0].message"},
      {"{type: object, x-kubernetes-validations: [{rule: \"a\\rb\"}]}", "s.x-kubernetes-validations[0].message"},
      {"{type: object, x-kubernetes-validations: [{rule: a, messageExpression: ' '}]}",
       "s.x-kubernetes-validations[0].messageExpression"},
      {"{type: object, x-kubernetes-validations: [{rule: a, reason: Wrong}]}", "s.x-kubernetes-validations[0].reason"},
      {"{type: object, x-kubernetes-validations: [{rule: a, fieldPath: \".a\\n\"}]}",
       "s.x-kubernetes-validations[0].fieldPath"},
      {"{type: object, oneOf: [{properties: {a: {default: 1}}}]}", "s.oneOf[0].properties[a].default"},
  };
  for (const auto& [document, field] : cases) {
    std::vector<FieldCause> causes;
    read_structural_schema(yaml(document), "s", causes);
    std::vector<std::string> fields;
    for (const FieldCause& cause : causes) fields.push_back(cause.field);
    EXPECT_TRUE(std::find(fields.begin(), fields.end(), field) != fields.end()) << document;
  }
}

/// A schema of lists in lists, each with a default of 100 objects.
Value multiplying_defaults(int depth) {
  Value items = Value::object({{"type", "object"}});
  if (depth > 0) items.set("properties", Value::object({{"x", multiplying_defaults(depth - 1)}}));
  Value list = Value::object({{"type", "array"}, {"items", std::move(items)}});
  list.set("default", Value::array(Value::Array(100, Value::object())));
  return list;
}

TEST(StructuralSchema, DefaultsMayMultiplyUpToABound) {
  const auto causes_of = [](int depth, DefinitionBudget* budget) {
    std::vector<FieldCause> causes;
    const Value document =
        Value::object({{"type", "object"}, {"properties", Value::object({{"x", multiplying_defaults(depth)}})}});
    read_structural_schema(document, "s", budget, causes);
    return causes;
  };
  DefinitionBudget budget;
  EXPECT_TRUE(causes_of(1, &budget).empty()) << "10,000 objects";
  const auto causes = causes_of(3, &budget);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].field, "s.properties[x].items.properties[x].default") << "1,000,000 objects";
  EXPECT_EQ(causes[0].reason, "FieldValueForbidden");
  EXPECT_TRUE(causes_of(3, nullptr).empty()) << "it was admitted";
}

TEST(StructuralSchema, PatternsMayBeLargeUpToABound) {
  Value document = Value::object({{"type", "object"}});
  for (int i = 0; i < 100; ++i) {
    Value property = Value::object({{"type", "string"}});
    property.set("pattern", "\\PL{1,20}" + std::to_string(i));
    document.edit("properties").set("p" + std::to_string(i), property);
    document.edit("properties")
        .set("same" + std::to_string(i), Value::object({{"type", "string"}, {"pattern", "^a+$"}}));
  }
  std::vector<FieldCause> causes;
  DefinitionBudget budget;
  read_structural_schema(document, "s", &budget, causes);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_TRUE(causes[0].field.ends_with("].pattern")) << causes[0].field;
  EXPECT_EQ(causes[0].reason, "FieldValueForbidden");
  causes.clear();
  read_structural_schema(document, "s", nullptr, causes);
  EXPECT_TRUE(causes.empty()) << "it was admitted";
}

TEST(SchemaDefaults, AreFilledInUpToABound) {
  std::vector<FieldCause> causes;
  const auto schema = read_structural_schema(
      Value::object({{"type", "object"}, {"properties", Value::object({{"x", multiplying_defaults(4)}})}}), "s",
      nullptr, causes);
  size_t left = kMostDefaultBytes;
  const DefaultedValue filled = fill_in_defaults(*schema, Value::object(), left);
  ASSERT_TRUE(filled.left_out);
  EXPECT_TRUE(filled.left_out->starts_with("x[0].x[")) << *filled.left_out;
  EXPECT_EQ(filled.value, Value::object()) << "nothing is filled in by halves";
  EXPECT_EQ(with_defaults(*schema, Value::object()), Value::object()) << "as it is read";
}

TEST(SchemaPrunedAndDefaulted, IsPruneAndThenDefaults) {  // CRD-7
  const auto schema = schema_of(kNested);
  for (const char* text :
       {"spec: {size: 1, mode: slow}",
        "spec: {size: 1}",
        "spec: {size: null, mode: slow}",
        "spec: {size: 1, mode: null}",
        "spec: {size: 1, mode: slow, name: null}",
        "spec: {size: 1, mode: slow, maybe: null}",
        "spec: {size: 1, mode: slow, sise: 2}",
        "{spec: {size: 1, mode: slow}, extra: 1}",
        "{apiVersion: v1, kind: K, metadata: {a: 1}, spec: {size: 1, mode: slow, labels: {a: b, c: null}}}",
        "spec: {size: 1, mode: slow, items: [{live: true}]}",
        "spec: {size: 1, mode: slow, items: [{live: true}, {}]}",
        "spec: {size: 1, mode: slow, items: [{live: true, of: 1}]}",
        "spec: {size: 1, mode: slow, free: {any: 1, kept: {a: b}}}",
        "spec: {size: 1, mode: slow, free: {any: 1, kept: {a: b, c: d}}}",
        "spec: {size: 1, mode: slow, template: {kind: K, metadata: {any: 1}, spec: {}}}",
        "spec: {size: 1, mode: slow, template: {other: 1}}",
        "spec: {size: {a: 1}, mode: slow, name: {b: 1}}",
        "spec: {size: 1, mode: slow, items: {live: true, of: 1}}",
        "spec: [1]",
        "spec: null",
        "[]",
        "7"}) {
    EXPECT_EQ(pruned_and_defaulted(*schema, yaml(text)), with_defaults(*schema, prune(*schema, yaml(text)))) << text;
  }
}

constexpr const char* kStricter = R"(
type: object
properties:
  spec:
    type: object
    required: [must]
    maxProperties: 3
    properties:
      must: {type: string}
      short: {type: string, maxLength: 3}
      count: {type: integer}
      named:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        maxItems: 3
        items: {type: object, required: [name], properties: {name: {type: string}, short: {type: string, maxLength: 3}}}
      plain: {type: array, maxItems: 2, items: {type: string, maxLength: 3}}
      set: {type: array, x-kubernetes-list-type: set, items: {type: string, maxLength: 3}}
      both: {type: object, allOf: [{properties: {a: {maxLength: 3}}}], properties: {a: {type: string}, b: {type: string}}}
      some: {type: object, anyOf: [{required: [a]}], properties: {a: {type: string}, b: {type: string}}}
)";

std::vector<std::string> changed_violations(const char* old, const char* value) {
  std::vector<std::string> fields;
  for (const FieldCause& cause : validate_change(*schema_of(kStricter), yaml(old), yaml(value))) {
    fields.push_back(cause.field);
  }
  return fields;
}

using Violations = std::vector<std::string>;

// CRD-7: as CRDValidationRatcheting.
TEST(SchemaValidateChange, AValueThatTheChangeLeavesMayBeInvalid) {
  EXPECT_EQ(changed_violations("spec: {short: toolong}", "{metadata: {labels: {a: b}}, spec: {short: toolong}}"),
            Violations{});
  EXPECT_EQ(changed_violations("spec: {must: a, short: toolong, count: text}",
                               "spec: {must: b, short: toolong, count: text}"),
            Violations{});
  EXPECT_EQ(changed_violations("spec: {must: a, short: toolong}", "spec: {must: a, short: too_long}"),
            Violations{"spec.short"});
  EXPECT_EQ(changed_violations("spec: {must: a}", "spec: {must: a, short: toolong}"), Violations{"spec.short"});
  EXPECT_EQ(changed_violations("{}", "spec: {must: a, short: toolong}"), Violations{"spec.short"});
}

TEST(SchemaValidateChange, AChangedObjectMustHaveWhatIsRequiredOfItself) {
  EXPECT_EQ(changed_violations("spec: {count: 1}", "spec: {count: 2}"), Violations{"spec.must"});
  EXPECT_EQ(changed_violations("spec: {must: a, p: 1, q: 2, r: 3}", "spec: {must: b, p: 1, q: 2, r: 3}"),
            Violations{"spec"});
}

TEST(SchemaValidateChange, ElementsOfMapListsCorrespondByKeyAndOthersNotAtAll) {
  EXPECT_EQ(changed_violations("spec: {must: a, named: [{name: x, short: toolong}]}",
                               "spec: {must: a, named: [{name: new}, {name: x, short: toolong}]}"),
            Violations{});
  EXPECT_EQ(changed_violations("spec: {must: a, named: [{name: x, short: toolong}]}",
                               "spec: {must: a, named: [{name: z, short: toolong}]}"),
            Violations{"spec.named[0].short"});
  EXPECT_EQ(changed_violations("spec: {must: a, plain: [toolong]}", "spec: {must: a, plain: [toolong, b]}"),
            Violations{"spec.plain[0]"});
  EXPECT_EQ(changed_violations("spec: {must: a, plain: [toolong, b]}", "spec: {must: c, plain: [toolong, b]}"),
            Violations{});
  EXPECT_EQ(changed_violations("spec: {must: a, plain: [toolong]}", "spec: {must: a, plain: [b, toolong]}"),
            Violations{"spec.plain[1]"});
  EXPECT_EQ(changed_violations("spec: {must: a, plain: [a, b, c]}", "spec: {must: a, plain: [a, b, d]}"),
            Violations{"spec.plain"});
  EXPECT_EQ(changed_violations("spec: {must: a, set: [toolong]}", "spec: {must: b, set: [toolong]}"), Violations{});
  EXPECT_EQ(changed_violations("spec: {must: a, set: [toolong]}", "spec: {must: a, set: [toolong, b]}"),
            Violations{"spec.set[0]"});
}

TEST(SchemaValidateChange, TheOrderOfAMapListDoesNotMatter) {
  const char* old = "spec: {must: a, named: [{name: x, short: toolong}, {name: y}, {name: z}, {name: w}]}";
  EXPECT_EQ(
      changed_violations(old, "spec: {must: b, named: [{name: w}, {name: y}, {name: z}, {name: x, short: toolong}]}"),
      Violations{});
  EXPECT_EQ(changed_violations(old, "spec: {must: b, named: [{name: w}, {name: y}, {name: z}, {name: v}]}"),
            Violations{"spec.named"});
  EXPECT_EQ(
      changed_violations(old, "spec: {must: b, named: [{name: w}, {name: y}, {name: z}, {name: x, short: too_long}]}"),
      (Violations{"spec.named", "spec.named[3].short"}));
}

TEST(SchemaValidateChange, DuplicatesMayStayWhereTheyWere) {
  EXPECT_EQ(changed_violations("spec: {must: a, set: [a, a]}", "spec: {must: a, set: [a, a, b]}"), Violations{});
  EXPECT_EQ(changed_violations("spec: {must: a, set: [a]}", "spec: {must: a, set: [a, a]}"), Violations{"spec.set[1]"});
  EXPECT_EQ(changed_violations("spec: {must: a, named: [{name: x}, {name: y}]}",
                               "spec: {must: a, named: [{name: x}, {name: x}]}"),
            Violations{"spec.named[1]"});
}

TEST(SchemaValidateChange, ApiVersionIsThatOfTheWrite) {  // CRD-10
  const auto schema = schema_of("{type: object, properties: {apiVersion: {type: string, enum: [v1]}}}");
  const auto causes = validate_change(*schema, yaml("{apiVersion: v2, a: 1}"), yaml("{apiVersion: v2, a: 2}"));
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].field, "apiVersion");
}

TEST(SchemaValidateChange, JunctorsAreAboutTheWholeValue) {
  EXPECT_EQ(changed_violations("spec: {must: a, both: {a: toolong}}", "spec: {must: a, both: {a: toolong, b: x}}"),
            Violations{});
  EXPECT_EQ(changed_violations("spec: {must: a, some: {b: x}}", "spec: {must: b, some: {b: x}}"), Violations{});
  EXPECT_EQ(changed_violations("spec: {must: a, some: {b: x}}", "spec: {must: a, some: {b: z}}"),
            Violations{"spec.some"});
}

}  // namespace
}  // namespace shiplog
