#include "events/kinds/structural_rules.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "events/kinds/cause_reasons.h"
#include "events/kinds/structural_schema.h"
#include "tests/support/literals.h"

namespace shiplog {
namespace {

using test::yaml;

struct RefusedSchema {
  const char* document;
  std::vector<FieldCause> causes = {};  ///< empty: it is admitted. Field below the root; the end of the message
};

std::vector<FieldCause> causes_of(const std::string& document) {
  std::vector<FieldCause> causes;
  read_structural_schema(yaml(document), "s", causes);
  return causes;
}

void expect_causes(const RefusedSchema& refused, const std::string& before, const std::string& path,
                   const std::string& behind) {
  const std::vector<FieldCause> found = causes_of(before + refused.document + behind);
  for (const FieldCause& wanted : refused.causes) {
    const bool there = std::ranges::any_of(found, [&](const FieldCause& cause) {
      return cause.field == path + wanted.field && cause.reason == wanted.reason &&
             cause.message.ends_with(wanted.message);
    });
    EXPECT_TRUE(there) << refused.document << "\n  lacks " << path << wanted.field << ": " << wanted.message;
  }
  if (found.size() == refused.causes.size()) return;
  for (const FieldCause& cause : found)
    ADD_FAILURE() << refused.document << "\n  " << cause.field << ": " << cause.message;
}

/// Each as the schema of a field.
void expect_of_fields(const std::vector<RefusedSchema>& cases) {
  for (const RefusedSchema& each : cases) {
    expect_causes(each, "{type: object, properties: {f: ", "s.properties[f]", "}}");
  }
}

// The sentences are those of kube-apiserver.

TEST(StructuralRules, OfTheRoot) {  // CRD-6
  constexpr const char* kOnlyNames =
      "must not specify anything other than name and generateName, but metadata is implicitly specified";
  const std::vector<RefusedSchema> cases = {
      {"{properties: {}}", {{".type", kRequired, "must not be empty at the root"}}},
      {"{type: object, nullable: true}", {{".nullable", kForbidden, "nullable cannot be true at the root"}}},
      {"{type: object, additionalProperties: {type: string}}",
       {{".additionalProperties", kForbidden, "must not be used at the root"}}},
      {"{type: object, additionalProperties: true}",
       {{".additionalProperties", kForbidden, "must not be used at the root"}}},
      {"{type: object, properties: {metadata: {type: object, properties: {labels: {type: object}}}}}",
       {{".properties[metadata]", kForbidden, kOnlyNames}}},
      {"{type: object, properties: {metadata: {type: object, minProperties: 1}}}",
       {{".properties[metadata]", kForbidden, kOnlyNames}}},
      {"{type: object, properties: {metadata: {type: object, properties: {name: {type: string, maxLength: 5}}}}}"},
      {"{type: object, properties: {metadata: {type: object}, kind: {type: string}, apiVersion: {type: string}}}"},
      {"{type: object, properties: {metadata: {type: string}, kind: {type: integer}, apiVersion: {type: boolean}}}",
       {{".properties[metadata].type", kInvalid, R"("string": must be object)"},
        {".properties[kind].type", kInvalid, R"("integer": must be string)"},
        {".properties[apiVersion].type", kInvalid, R"("boolean": must be string)"}}},
      {"{type: object, properties: {metadata: {type: object, default: {}, properties: {name: {type: string, default: "
       "x}}}}}",
       {{".properties[metadata].default", kForbidden, "must not be set in top-level metadata"},
        {".properties[metadata].properties[name].default", kForbidden, "must not be set in top-level metadata"}}},
      {"{type: object, properties: {kind: {type: string, default: x}}}",
       {{".properties[kind].default", kForbidden, "must not be set in top-level kind"}}},
  };
  for (const RefusedSchema& each : cases) expect_causes(each, "", "s", "");
}

TEST(StructuralRules, OfFields) {  // CRD-6
  constexpr const char* kExclusive = "additionalProperties and properties are mutual exclusive";
  constexpr const char* kNoIntOrString = "must be false if x-kubernetes-int-or-string is true";
  expect_of_fields({
      {"{properties: {}}", {{".type", kRequired, "must not be empty for specified object fields"}}},
      {"{type: array, items: {}}", {{".items.type", kRequired, "must not be empty for specified array items"}}},
      {"{type: 'null'}",
       {{".type", kNotSupported, R"("array", "boolean", "integer", "number", "object", "string")"},
        {".type", kForbidden, "type cannot be set to null, use nullable as an alternative"}}},
      {"{type: object, $ref: x}", {{".$ref", kForbidden, "$ref is not supported"}}},
      {"{type: object, properties: {a: {type: string}}, additionalProperties: {type: string}}",
       {{".additionalProperties", kForbidden, kExclusive}}},
      {"{type: object, properties: {a: {type: string}}, additionalProperties: false}",
       {{".additionalProperties", kForbidden, kExclusive}}},
      {"{type: object, properties: {a: {type: string}}, additionalProperties: true}"},
      {"{type: object, x-kubernetes-preserve-unknown-fields: false}",
       {{".x-kubernetes-preserve-unknown-fields", kInvalid, "false: must be true or undefined"}}},
      {"{x-kubernetes-int-or-string: true, x-kubernetes-preserve-unknown-fields: true}",
       {{".x-kubernetes-preserve-unknown-fields", kInvalid, kNoIntOrString}}},
      {"{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}"},
      {"{x-kubernetes-int-or-string: true, allOf: [{anyOf: [{type: integer}, {type: string}]}, {pattern: a}]}"},
      {"{x-kubernetes-int-or-string: true, anyOf: [{type: string}, {type: integer}]}",
       {{".anyOf[0].type", kForbidden, "must be empty to be structural"},
        {".anyOf[1].type", kForbidden, "must be empty to be structural"}}},
      {"{type: string, pattern: '*'}", {{".pattern", kInvalid, ""}}},
      {"{type: object, default: {a: 1}}", {{".default", kInvalid, R"({"a":1}: must not have unknown fields)"}}},
  });
}

TEST(StructuralRules, OfEmbeddedResources) {  // CRD-6
  expect_of_fields({
      {"{x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}",
       {{".type", kRequired, "must be object if x-kubernetes-embedded-resource is true"}}},
      {"{type: string, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}",
       {{".type", kInvalid, R"("string": must be object if x-kubernetes-embedded-resource is true)"}}},
      {"{type: object, x-kubernetes-embedded-resource: true, additionalProperties: {type: string}}",
       {{".additionalProperties", kForbidden, "must not be used if x-kubernetes-embedded-resource is set"},
        {".properties", kRequired,
         "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"}}},
      {"{type: object, x-kubernetes-embedded-resource: true, properties: {kind: {type: integer}, metadata: {type: "
       "string}}}",
       {{".properties[kind].type", kInvalid, R"("integer": must be string)"},
        {".properties[metadata].type", kInvalid, R"("string": must be object)"}}},
      {"{type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: object, properties: {a: "
       "{type: "
       "object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}}}",
       {{".properties[metadata].properties[a].x-kubernetes-embedded-resource", kForbidden,
         "must not be used inside of resource meta"}}},
      {"{type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: object, properties: "
       "{annotations: {type: object, additionalProperties: {type: string, default: x}}}}}}",
       {{".properties[metadata].properties[annotations].additionalProperties.default", kForbidden,
         "must not be set inside additionalProperties applying to object metadata"}}},
      {"{type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: object, properties: {name: "
       "{type: integer, default: 1}}}}}",
       {{".properties[metadata].properties[name].default", kInvalid,
         R"(1: must result in valid metadata: Invalid value: "integer":  in body must be of type string: "integer")"}}},
      {"{type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: object, properties: "
       "{labels: "
       "{type: object, additionalProperties: {type: string}, default: {a: b}}}}}}"},
      {"{type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: object, default: {name: "
       "Bar, "
       "unknown: x}}}}"},
  });
}

TEST(StructuralRules, BelowJunctorsValuesAreOnlyValidated) {  // CRD-6
  const auto refused = [](const std::string& part, const std::string& field, const std::string& sentence) {
    const std::string document =
        "{type: object, x-kubernetes-preserve-unknown-fields: true, not: {allOf: [" + part + "]}}";
    expect_causes({document.c_str(), {{".not.allOf[0]" + field, kForbidden, sentence}}},
                  "{type: object, properties: {f: ", "s.properties[f]", "}}");
  };
  for (const char* key : {"type: object", "title: x", "description: x", "x-kubernetes-list-map-keys: [a]",
                          "x-kubernetes-validations: [{rule: 'true'}]"}) {
    const std::string text = key;
    refused("{" + text + "}", "." + text.substr(0, text.find(':')), "must be empty to be structural");
  }
  for (const char* key : {"nullable", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource",
                          "x-kubernetes-int-or-string"}) {
    refused("{" + std::string{key} + ": true}", "." + std::string{key}, "must be false to be structural");
  }
  for (const char* key : {"additionalProperties: {minLength: 1}", "additionalProperties: true", "default: {}",
                          "x-kubernetes-list-type: atomic", "x-kubernetes-map-type: atomic"}) {
    const std::string text = key;
    refused("{" + text + "}", "." + text.substr(0, text.find(':')), "must be undefined to be structural");
  }
  refused("{properties: {metadata: {minProperties: 1}}}", ".properties[metadata]",
          "must not be specified in a nested context");
  EXPECT_TRUE(causes_of("{type: object, not: {required: [a], maxProperties: 1, additionalProperties: false}}").empty());
}

TEST(StructuralRules, AFieldThatIsValidatedIsDefined) {  // CRD-6
  const std::vector<RefusedSchema> cases = {
      {"{type: object, properties: {a: {type: string}}, allOf: [{properties: {a: {minLength: 1}, b: {minLength: 1}}}]}",
       {{".properties[b]", kRequired, "because it is defined in s.allOf[0].properties[b]"}}},
      {"{type: object, anyOf: [{items: {minLength: 1}}]}",
       {{".items", kRequired, "because it is defined in s.anyOf[0].items"}}},
      {"{type: object, properties: {a: {type: object}}, not: {properties: {a: {not: {properties: {b: {pattern: "
       "x}}}}}}}",
       {{".properties[a].properties[b]", kRequired, "because it is defined in s.not.properties[a].not.properties[b]"}}},
  };
  for (const RefusedSchema& each : cases) expect_causes(each, "", "s", "");
}

TEST(StructuralRules, OfLists) {  // CRD-6
  constexpr const char* kItems = "must be atomic as item of a list with x-kubernetes-list-type=set";
  constexpr const char* kKeys = "must be map if x-kubernetes-list-map-keys is non-empty";
  const auto map_of = [](const char* keys, const char* items) {
    return std::string{"{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: ["} + keys +
           "], items: " + items + "}";
  };
  const std::string of_strings = map_of("a", "{type: string}");
  const std::string of_objects = map_of("o", "{type: object, required: [o], properties: {o: {type: object}}}");
  const std::string twice = map_of("a, a", "{type: object, required: [a], properties: {a: {type: string}}}");
  const std::string unknown = map_of("b", "{type: object, properties: {a: {type: string}}}");
  const std::string optional = map_of("a", "{type: object, properties: {a: {type: string}}}");
  const std::string nullable =
      map_of("a", "{type: object, nullable: true, required: [a], properties: {a: {type: string, nullable: true}}}");
  const std::string right = map_of("a", "{type: object, properties: {a: {type: string, default: x}}}");
  expect_of_fields({
      {"{type: array, items: {type: string}, x-kubernetes-list-type: bogus}",
       {{".x-kubernetes-list-type", kNotSupported, R"("bogus": supported values: "atomic", "set", "map")"}}},
      {"{type: object, x-kubernetes-list-type: set}",
       {{".type", kInvalid, R"("object": must be array if x-kubernetes-list-type is specified)"}}},
      {"{x-kubernetes-preserve-unknown-fields: true, x-kubernetes-list-type: set}",
       {{".type", kRequired, "must be array if x-kubernetes-list-type is specified"}}},
      {"{type: array, x-kubernetes-list-type: set, items: {type: object, properties: {a: {type: string}}}}",
       {{".items.x-kubernetes-map-type", kInvalid, kItems}}},
      {"{type: array, x-kubernetes-list-type: set, items: {type: object, x-kubernetes-map-type: atomic}}"},
      {"{type: array, x-kubernetes-list-type: set, items: {type: array, x-kubernetes-list-type: set, items: {type: "
       "string}}}",
       {{".items.x-kubernetes-list-type", kInvalid, kItems}}},
      {"{type: array, x-kubernetes-list-type: set, items: {type: string, nullable: true}}",
       {{".items.nullable", kForbidden, "cannot be nullable when x-kubernetes-list-type is set"}}},
      {"{type: array, items: {type: string}, x-kubernetes-list-map-keys: [a]}",
       {{".x-kubernetes-list-type", kRequired, kKeys}}},
      {"{type: array, items: {type: string}, x-kubernetes-list-type: set, x-kubernetes-list-map-keys: [a]}",
       {{".x-kubernetes-list-type", kInvalid, kKeys}}},
      {"{type: array, items: {type: object}, x-kubernetes-list-type: map}",
       {{".x-kubernetes-list-map-keys", kRequired, "must not be empty if x-kubernetes-list-type is map"}}},
      {of_strings.c_str(),
       {{".items.type", kInvalid, R"("string": must be object if parent array's x-kubernetes-list-type is map)"}}},
      {of_objects.c_str(),
       {{".items.properties[o].type", kInvalid,
         "must be a scalar type if parent array's x-kubernetes-list-type is map"}}},
      {twice.c_str(), {{".x-kubernetes-list-map-keys", kInvalid, R"(["a","a"]: must not contain duplicate entries)"}}},
      {unknown.c_str(),
       {{".x-kubernetes-list-map-keys", kInvalid, R"(["b"]: entries must all be names of item properties)"}}},
      {optional.c_str(),
       {{".items.properties[a].default", kRequired,
         "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"}}},
      {nullable.c_str(),
       {{".items.nullable", kForbidden, "cannot be nullable when x-kubernetes-list-type is map"},
        {".items.properties[a].nullable", kForbidden,
         "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"}}},
      {right.c_str()},
      {"{type: object, x-kubernetes-map-type: bogus}",
       {{".x-kubernetes-map-type", kNotSupported, R"("bogus": supported values: "atomic", "granular")"}}},
      {"{type: string, x-kubernetes-map-type: atomic}",
       {{".type", kInvalid, R"("string": must be object if x-kubernetes-map-type is specified)"}}},
  });
}

TEST(StructuralRules, BesideAStatusTheRootHasItsFieldsOnly) {  // CRD-6, CRD-12
  const auto refused = [](const char* document) {
    std::vector<FieldCause> causes;
    check_root_beside_status(yaml(document), "s", causes);
    return !causes.empty();
  };
  EXPECT_TRUE(refused("{type: object, allOf: [{minProperties: 1}]}"));
  EXPECT_TRUE(refused("{type: object, maxProperties: 0}"));
  EXPECT_FALSE(
      refused("{type: object, required: [a], nullable: false, description: d, x-kubernetes-validations: [{}]}"));
}

TEST(StructuralRules, AreNotAppliedToWhatWasAdmitted) {
  std::vector<FieldCause> causes;
  const auto schema = read_structural_schema(
      yaml("{type: object, nullable: true, properties: {a: {type: array, x-kubernetes-list-type: map, items: {type: "
           "string}}}, not: {type: string, properties: {b: {minLength: 1}}}, x-kubernetes-validations: [{rule: \"self "
           "!= \\r null\"}]}"),
      "s", nullptr, causes);
  EXPECT_TRUE(causes.empty());
  EXPECT_TRUE(validate(*schema, yaml("{a: [x, x]}")).empty());
}

}  // namespace
}  // namespace shiplog
