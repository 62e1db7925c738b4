#include "services/api/admission_policies/mutate_object.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/yaml.h"

namespace shiplog::api {
namespace {

constexpr const char* kWeb = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  template:
    spec:
      containers: [{name: main, image: web:1, args: [serve]}]
)";

Value read_yaml(std::string_view text) { return parse_yaml(text).value(); }

ExpressionInput about(std::string_view object, std::string_view params = {}) {
  ExpressionInput input;
  input.object = read_yaml(object);
  input.request = read_yaml("{operation: CREATE, namespace: default, userInfo: {username: jane}}");
  if (!params.empty()) input.params = read_yaml(params);
  return input;
}

AdmissionPolicy mutating_policy(const std::string& spec) {
  return AdmissionPolicy{read_yaml("{metadata: {name: p}, spec: {" + spec + "}}")};
}

Result<Value> as_it_is(Value object) { return object; }

struct Mutated {
  Value object;
  std::string failures;
  size_t ignored = 0;
};

Mutated mutated_by(const std::string& spec, std::string_view object = kWeb, std::string_view params = {}) {
  PolicyBudget budget;
  const Kind* kind = Kinds::compiled().find_type("deployments.apps");
  auto result = mutate_object(mutating_policy(spec), about(object, params), kind, budget, as_it_is);
  std::string failures;
  for (const std::string& each : result.failures) failures += each + "\n";
  return {std::move(result.object), failures, result.ignored};
}

std::string configuration(const std::string& expression) {
  return "mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: '" + expression + "'}}]";
}

std::string json_patch(const std::string& expression) {
  return "mutations: [{patchType: JSONPatch, jsonPatch: {expression: '" + expression + "'}}]";
}

TEST(MutateObject, AnApplyConfigurationIsMergedAsServerSideApplyMerges) {
  const auto result =
      mutated_by(configuration("Object{metadata: Object.metadata{labels: {\"tier\": \"gold\"}}, spec: "
                               "Object.spec{replicas: object.spec.replicas "
                               "+ 1, template: Object.spec.template{spec: Object.spec.template.spec{containers: "
                               "[Object.spec.template.spec.containers{name: \"side\", image: \"side:1\"}, "
                               "Object.spec.template.spec.containers{name: \"main\", image: \"web:2\"}]}}}}"));
  EXPECT_EQ(result.failures, "");
  EXPECT_EQ(result.object["metadata"]["labels"], read_yaml("{app: web, tier: gold}"));
  EXPECT_EQ(result.object["spec"]["replicas"], Value{3});
  EXPECT_EQ(result.object["spec"]["template"]["spec"]["containers"],
            read_yaml("[{name: side, image: 'side:1'}, {name: main, image: 'web:2', args: [serve]}]"));
}

TEST(MutateObject, AnApplyConfigurationMayNotReplaceWhatIsAtomic) {
  const auto result = mutated_by(
      configuration("Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {\"a\": \"b\"}}, template: "
                    "Object.spec.template{spec: Object.spec.template.spec{containers: "
                    "[Object.spec.template.spec.containers{name: \"main\", args: [\"x\"]}]}}}}"));
  EXPECT_EQ(result.failures,
            "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: "
            ".spec.selector, .spec.template.spec.containers[0].args\n");
  EXPECT_EQ(result.object, read_yaml(kWeb));
}

TEST(MutateObject, AnApplyConfigurationOfAnotherFormFails) {
  EXPECT_EQ(
      mutated_by(configuration("Object{spec: Object.template{}}")).failures,
      "type mismatch: unexpected type name \"Object.template\", expected \"Object.spec\", which matches field name "
      "path from root Object type\n");
  EXPECT_EQ(
      mutated_by(configuration("Object{spec: Object.spec{template: Object.spec.template{spec: "
                               "Object.spec.template.spec{containers: "
                               "[Object.spec.template.spec.containers{image: \"x\"}]}}}}"))
          .failures,
      "error applying patch: failed to convert patch object to typed object: .spec.template.spec.containers: "
      "element 0: associative list with keys has an element that omits all key fields [\"name\"] (and doesn't have "
      "default values for any key fields)\n");
  EXPECT_EQ(mutated_by(configuration("Object{spec: Object.spec{replicasx: 1}}")).failures,
            "error applying patch: failed to convert patch object to typed object: .spec.replicasx: field not declared "
            "in schema\n");
  EXPECT_EQ(mutated_by(configuration("Object{metadata: Object.metadata{label: {\"a\": \"b\"}}}")).failures,
            "error applying patch: failed to convert patch object to typed object: .metadata.label: field not declared "
            "in schema\n");
  EXPECT_EQ(mutated_by(configuration("object")).failures, "compilation error: must evaluate to Object but got dyn\n");
}

TEST(MutateObject, AJsonPatchIsApplied) {
  const auto result = mutated_by(
      json_patch("[JSONPatch{op: \"test\", path: \"/spec/replicas\", value: 2}, JSONPatch{op: \"replace\", path: "
                 "\"/spec/replicas\", value: 5}, JSONPatch{op: \"add\", path: \"/metadata/labels/\" + "
                 "jsonpatch.escapeKey(\"a/b~c\"), value: \"d\"}, JSONPatch{op: \"add\", path: "
                 "\"/spec/template/spec/containers/-\", value: Object.spec.template.spec.containers{name: "
                 "\"side\"}}]"));
  EXPECT_EQ(result.failures, "");
  EXPECT_EQ(result.object["spec"]["replicas"], Value{5});
  EXPECT_EQ(result.object["metadata"]["labels"], read_yaml("{app: web, a/b~c: d}"));
  EXPECT_EQ(result.object["spec"]["template"]["spec"]["containers"][1], read_yaml("{name: side}"));
}

TEST(MutateObject, AJsonPatchWhoseTestFailsChangesNothing) {
  const auto result = mutated_by(
      json_patch("[JSONPatch{op: \"replace\", path: \"/spec/replicas\", value: 5}, JSONPatch{op: \"test\", path: "
                 "\"/metadata/name\", value: \"other\"}]"));
  EXPECT_EQ(result.failures, "");
  EXPECT_EQ(result.object, read_yaml(kWeb));
}

TEST(MutateObject, AJsonPatchThatCannotBeAppliedFails) {
  const auto result = mutated_by(json_patch("[JSONPatch{op: \"remove\", path: \"/spec/nothing\"}]"));
  EXPECT_TRUE(result.failures.starts_with("JSON Patch: ")) << result.failures;
  EXPECT_EQ(result.object, read_yaml(kWeb));
}

TEST(MutateObject, EachMutationSeesWhatTheOneBeforeLeftButVariablesAreEvaluatedOnce) {
  const std::string replace = R"({patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{op: "replace", path:
    "/spec/replicas", value: object.spec.replicas + variables.before}]'}})";
  const auto result = mutated_by("variables: [{name: before, expression: object.spec.replicas}], mutations: [" +
                                 replace + ", " + replace + "]");
  EXPECT_EQ(result.failures, "");
  EXPECT_EQ(result.object["spec"]["replicas"], Value{6});
}

TEST(MutateObject, MatchConditionsExcludeARequest) {
  const std::string add = json_patch("[JSONPatch{op: \"replace\", path: \"/spec/replicas\", value: 9}]");
  const auto conditions = [](const std::string& expression) {
    return ", matchConditions: [{name: c, expression: \"" + expression + "\"}]";
  };
  EXPECT_EQ(mutated_by(add + conditions("object.spec.replicas == 2")).object["spec"]["replicas"], Value{9});
  EXPECT_EQ(mutated_by(add + conditions("object.spec.replicas == 3")).object["spec"]["replicas"], Value{2});
  const auto wrong = mutated_by(add + conditions("object.nothing == 3"));
  EXPECT_EQ(wrong.object, read_yaml(kWeb));
  EXPECT_EQ(wrong.failures, "expression 'object.nothing == 3' resulted in error: no such key: nothing\n");
}

TEST(MutateObject, AFailureIsCountedOnlyIfThePolicyIgnoresFailures) {
  const std::string two = R"(mutations: [
    {patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{op: "remove", path: "/spec/nothing"}]'}},
    {patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{op: "replace", path: "/spec/replicas", value: 9}]'}}])";
  for (const bool ignore : {false, true}) {
    const auto result = mutated_by(two + ", failurePolicy: " + (ignore ? "Ignore" : "Fail"));
    EXPECT_EQ(result.failures.empty(), ignore) << result.failures;
    EXPECT_EQ(result.ignored, ignore ? 1U : 0U);
    EXPECT_EQ(result.object["spec"]["replicas"], Value{9});
  }
}

TEST(MutateObject, AnObjectThatCannotBeDecodedIsLeftOut) {
  PolicyBudget budget;
  const auto result =
      mutate_object(mutating_policy(json_patch("[JSONPatch{op: \"add\", path: \"/spec/unknown\", value: 1}]")),
                    about(kWeb), nullptr, budget, [](const Value&) -> Result<Value> {
                      return Error{ErrorCode::kBadRequest, "unknown field"};
                    });
  EXPECT_EQ(result.failures, std::vector<std::string>{"unknown field"});
  EXPECT_EQ(result.object, read_yaml(kWeb));
}

TEST(MutateObject, AnObjectMayNotGrowWithoutLimit) {
  std::string copies;
  for (const char* to : {"a", "b", "c", "d"}) {
    copies +=
        std::string{copies.empty() ? "" : ", "} +
        R"({patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{op: "copy", from: "/data/x", path: "/data/)" +
        to + R"("}]'}})";
  }
  const std::string large = "{data: {x: " + std::string(2'000'000, 'x') + "}}";
  const auto result = mutated_by("mutations: [" + copies + "]", large);
  EXPECT_EQ(result.object["data"].size(), 3U);
  EXPECT_NE(result.failures.find("would have more than"), std::string::npos) << result.failures.substr(0, 500);
}

TEST(MutateObject, ParametersThatCostTooMuchTogetherAreAFailureEvenIfFailuresAreIgnored) {
  const AdmissionPolicy policy = mutating_policy(
      "failurePolicy: Ignore, paramKind: {apiVersion: v1, kind: ConfigMap}, mutations: [{patchType: JSONPatch, "
      "jsonPatch: "
      "{expression: 'params.list.map(i, params.list.map(j, i + j)).size() > 0 ? [JSONPatch{op: \"remove\", path: "
      "\"/spec/replicas\"}] : []'}}]");
  std::string list = "[1";
  for (int i = 0; i < 400; ++i) list += ", 1";
  PolicyBudget budget;
  std::vector<std::string> failures;
  for (int i = 0; i < 50 && failures.empty(); ++i) {
    failures = mutate_object(policy, about(kWeb, "{list: " + list + "]}"), nullptr, budget, as_it_is).failures;
  }
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_TRUE(failures[0].starts_with("the parameters of the binding cost too much together: ")) << failures[0];
}

TEST(MutateObject, ARequestWithoutAnObjectIsNotChanged) {
  PolicyBudget budget;
  ExpressionInput input = about(kWeb);
  input.object = Value{};
  const auto result = mutate_object(mutating_policy(json_patch("[JSONPatch{op: \"remove\", path: \"/a\"}]")), input,
                                    nullptr, budget, as_it_is);
  EXPECT_TRUE(result.object.is_null());
  EXPECT_TRUE(result.failures.empty());
}

}  // namespace
}  // namespace shiplog::api
