#include "services/cel/patch_object.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/cel/cel_json.h"
#include "services/cel/cel_libraries.h"
#include "services/cel/program.h"

namespace shiplog::cel {
namespace {

CelEnvironment mutation_environment() {
  return {.functions = &mutation_functions(), .variables = {{"x", CelType{}}}, .patch_types = true};
}

/// The JSON of the result, or what went wrong.
std::string made(const std::string& text, const Value& x = {}, uint64_t limit = 1'000'000) {
  const auto program = CelProgram::compile(text, mutation_environment());
  if (!program) return program.error().message.substr(0, program.error().message.find('\n'));
  CelMeter meter{limit};
  const std::vector<CelValue> variables = {from_json(x)};
  const auto json = json_of(program.value().evaluate(variables, meter), true, meter);
  return json ? to_json(json.value()) : "error: " + json.error().message;
}

std::string type_of(const std::string& text) {
  const auto program = CelProgram::compile(text, mutation_environment());
  return program ? program.value().type().text() : program.error().message;
}

TEST(PatchObject, ObjectsAreMadeOfFields) {
  EXPECT_EQ(made("Object{}"), "{}");
  EXPECT_EQ(made("Object{spec: Object.spec{replicas: 3}}"), R"({"spec":{"replicas":3}})");
  EXPECT_EQ(made(R"(Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", args: ["-g"]}]}})"),
            R"({"spec":{"containers":[{"args":["-g"],"name":"c"}]}})");
  EXPECT_EQ(made(R"(Object{metadata: Object.metadata{namespace: "n", annotations: {"a": "b"}}})"),
            R"({"metadata":{"annotations":{"a":"b"},"namespace":"n"}})");
  EXPECT_EQ(made("Object{?spec: optional.none(), ?status: optional.of(Object.status{phase: 'x'})}"),
            R"({"status":{"phase":"x"}})");
  EXPECT_EQ(made("Object{spec: Object.spec{items: x.map(i, Object.spec.items{n: i}),}}", parse_json("[1,2]").value()),
            R"({"spec":{"items":[{"n":1},{"n":2}]}})");
}

TEST(PatchObject, FieldsCanBeReadAndObjectsCompared) {
  EXPECT_EQ(made("Object{list: [1, 2]}.list.sum()"), "3");
  EXPECT_EQ(made("has(Object{a: 1}.a) && !has(Object{a: 1}.b)"), "true");
  EXPECT_EQ(made("Object{spec: Object.spec{n: 3}} == Object{spec: Object.spec{n: 1 + 2}}"), "true");
  EXPECT_EQ(made("Object{spec: dyn(Object.spec{n: 3})} == Object{spec: dyn(Object.other{n: 3})}"), "false");
  EXPECT_EQ(made("JSONPatch{op: 'add', path: '/a'}.path"), R"("/a")");
}

TEST(PatchObject, OperationsOfAJsonPatchAreMade) {
  EXPECT_EQ(made("[JSONPatch{op: 'add', path: '/a', value: 3u}, JSONPatch{op: 'move', from: '/b', path: '/c'}]"),
            R"([{"op":"add","path":"/a","value":3},{"from":"/b","op":"move","path":"/c"}])");
  EXPECT_EQ(made("JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('k8s.io/my~label')}.path"),
            R"("/metadata/labels/k8s.io~1my~0label")");
  EXPECT_EQ(type_of("[JSONPatch{op: 'remove', path: '/a'}]"), "list(JSONPatch)");
  EXPECT_EQ(type_of("x ? [JSONPatch{op: 'remove', path: '/a'}] : []"), "list(JSONPatch)");
  EXPECT_EQ(type_of("x.map(i, JSONPatch{op: 'remove', path: i}) + [JSONPatch{op: 'test', path: '/a'}]"),
            "list(JSONPatch)");
  EXPECT_EQ(type_of("true ? Object{} : Object{spec: Object.spec{}}"), "Object");
}

TEST(PatchObject, OtherTypesAreRefused) {
  EXPECT_EQ(made("Invalid{}"), "ERROR: <input>:1:8: undeclared reference to 'Invalid' (in container '')");
  EXPECT_EQ(made("Objects{}"), "ERROR: <input>:1:8: undeclared reference to 'Objects' (in container '')");
  EXPECT_EQ(made("JSONPatch{op: 'add', value: a.Invalid{}}"),
            "ERROR: <input>:1:38: undeclared reference to 'a.Invalid' (in container '')");
  EXPECT_EQ(made("JSONPatch{op: 1}"),
            "ERROR: <input>:1:11: expected type of field 'op' is 'string' but provided type is 'int'");
  EXPECT_EQ(made("JSONPatch{operation: 'add'}"), "ERROR: <input>:1:11: undefined field 'operation'");
  EXPECT_EQ(made("Object{?a: 1}"), "ERROR: <input>:1:12: expected type 'optional_type(dyn)' but found 'int'");
  EXPECT_EQ(made("[Object.a{}, Object.b{}]"), "ERROR: <input>:1:22: expected type 'Object.a' but found 'Object.b'");
  EXPECT_EQ(made("Object{1: 2}"), "ERROR: <input>:1:8: Syntax error: mismatched input a literal expecting IDENTIFIER");
  EXPECT_EQ(made("x['a']{b: 1}"), "ERROR: <input>:1:7: Syntax error: mismatched input '{' expecting <EOF>");
}

TEST(PatchObject, NeedsAnEnvironmentThatHasPatchTypes) {
  const CelEnvironment plain{.functions = &kubernetes_functions(), .variables = {}};
  for (const char* text : {"Object{}", "JSONPatch{op: 'add'}", "jsonpatch.escapeKey('a')"}) {
    const auto program = CelProgram::compile(text, plain);
    ASSERT_FALSE(program) << text;
    EXPECT_NE(program.error().message.find("undeclared reference to"), std::string::npos) << program.error().message;
  }
}

TEST(PatchObject, ATypeNameOtherThanThePathIsAnError) {
  const std::string mismatch = "error: type mismatch: unexpected type name ";
  EXPECT_EQ(
      made("Object{spec: Object.wrong{}}"),
      mismatch + R"("Object.wrong", expected "Object.spec", which matches field name path from root Object type)");
  EXPECT_EQ(made("Object{spec: Object.spec{items: [Object.items{}]}}"),
            mismatch +
                R"("Object.items", expected "Object.spec.items", which matches field name path from root Object type)");
  // A list is unnamed, and so is the value of an operation, which may be of any field.
  EXPECT_EQ(made("JSONPatch{op: 'add', path: '/spec/items/-', value: Object.spec.items{}}.value"), "{}");
}

TEST(PatchObject, ValuesWithoutJsonAreErrors) {
  EXPECT_EQ(made("Object{a: type(1)}"), "error: there is no JSON of a value of type type(dyn)");
  EXPECT_EQ(made("Object{a: 0.0 / 0.0}"), "error: there is no JSON of a number that is not finite");
  EXPECT_EQ(made("Object{a: {1: 2}}"), "error: map key is of type int, not string");
  EXPECT_EQ(made("Object{a: duration('90s'), b: timestamp('2026-01-02T03:04:05Z'), c: b'hi', d: 2.0, e: null}"),
            R"({"a":"90s","b":"2026-01-02T03:04:05Z","c":"aGk=","d":2,"e":null})");
}

TEST(PatchObject, JsonOfAListThatIsSharedManyTimesIsNotWritten) {
  std::string text = "[1, 1]";
  for (int level = 0; level < 20; ++level) text = "[" + text + "].map(a, [a, a])";
  EXPECT_EQ(made(text), "error: operation cancelled: actual cost limit exceeded");
}

}  // namespace
}  // namespace shiplog::cel
