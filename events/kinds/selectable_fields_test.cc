#include "events/kinds/selectable_fields.h"

#include <gtest/gtest.h>

#include "events/kinds/structural_schema.h"
#include "tests/support/literals.h"

namespace shiplog {
namespace {

using test::yaml;

struct ReadFields {
  std::vector<std::string> fields;
  std::vector<FieldCause> causes;
  std::string problem() const { return causes.empty() ? "" : causes[0].field + ": " + causes[0].message; }
};

ReadFields read(const std::string& list) {
  ReadFields result;
  const auto schema = read_structural_schema(yaml(R"(
type: object
properties:
  metadata: {type: object, properties: {name: {type: string}}}
  spec:
    type: object
    properties:
      color: {type: string, enum: [red, blue]}
      size: {type: integer}
      heavy: {type: boolean}
      price: {type: number}
      tags: {type: object, additionalProperties: {type: string}}
      parts: {type: array, items: {type: object, properties: {name: {type: string}}}}
      amount: {x-kubernetes-int-or-string: true}
)"),
                                             "schema", result.causes);
  EXPECT_TRUE(result.causes.empty());
  result.fields = read_selectable_fields(yaml(list), *schema, "spec.versions[0].selectableFields", result.causes);
  return result;
}

TEST(SelectableFields, AreStringsIntegersAndBooleans) {
  const ReadFields all =
      read("[{jsonPath: .spec.color}, {jsonPath: .spec.size}, {jsonPath: .spec.heavy}, {jsonPath: .spec.tags.a}]");
  EXPECT_EQ(all.problem(), "");
  EXPECT_EQ(all.fields, (std::vector<std::string>{"spec.color", "spec.size", "spec.heavy", "spec.tags.a"}));
  for (const char* path : {".spec", ".spec.price", ".spec.tags", ".spec.parts", ".spec.amount"}) {
    EXPECT_EQ(read(std::string{"[{jsonPath: "} + path + "}]").problem(),
              std::string{"spec.versions[0].selectableFields[0].jsonPath: Invalid value: \""} + path +
                  "\": must point to a field of type string, boolean or integer. Enum string fields and strings with "
                  "formats are allowed.");
  }
}

TEST(SelectableFields, PathsLeadToFieldsOfTheSchema) {
  const auto problem = [](const std::string& path) {
    const ReadFields result = read("[{jsonPath: \"" + path + "\"}]");
    EXPECT_TRUE(result.fields.empty()) << path;
    EXPECT_EQ(result.causes.size(), 1U) << path;
    const std::string text = result.problem();
    return text.substr(text.rfind("\": ") + 3);
  };
  EXPECT_EQ(problem("spec.color"), "is an invalid path: expected [ or . but got: spec");
  EXPECT_EQ(problem(".spec.hue"), "is an invalid path: does not refer to a valid field");
  EXPECT_EQ(problem(".spec.color.x"), "is an invalid path: does not refer to a valid field");
  EXPECT_EQ(problem(".spec.parts[0].name"), "is an invalid path: array notation is not allowed");
  EXPECT_EQ(problem(".spec.parts.name"), "is an invalid path: does not refer to a valid field");
  EXPECT_EQ(problem(".spec['color']"), "is an invalid path: array notation is not allowed");
  EXPECT_EQ(problem(".spec."), "is an invalid path: unexpected end of JSON path");
  EXPECT_EQ(problem("."), "is an invalid path: unexpected end of JSON path");
  EXPECT_EQ(problem("..spec"), "is an invalid path: does not refer to a valid field");
  EXPECT_EQ(read("[{}]").problem(), "spec.versions[0].selectableFields[0].jsonPath: Required value");
}

TEST(SelectableFields, AreNotInTheMetadataNotTwiceAndAtMostEight) {
  EXPECT_EQ(read("[{jsonPath: .metadata.name}]").problem(),
            "spec.versions[0].selectableFields[0].jsonPath: Invalid value: \".metadata.name\": must not point to "
            "fields in metadata");
  EXPECT_EQ(read("[{jsonPath: .spec.color}, {jsonPath: .spec.color}]").problem(),
            "spec.versions[0].selectableFields[1].jsonPath: Duplicate value: \".spec.color\"");
  std::string many;
  for (int i = 0; i < 9; ++i) many += (many.empty() ? "" : ",") + ("{jsonPath: .spec.tags.t" + std::to_string(i)) + "}";
  EXPECT_EQ(read("[" + many + "]").problem(),
            "spec.versions[0].selectableFields: Too many: 9: must have at most 8 items");
}

}  // namespace
}  // namespace shiplog
