#include "services/api/apply/fields.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/kinds/kinds.h"
#include "tests/support/literals.h"

namespace shiplog::api {
namespace {

using test::json;

const Schema& deployment() { return *Kinds::compiled().find_type("deployments.apps")->schema; }
const Schema& service() { return *Kinds::compiled().find_type("services")->schema; }

std::string fields(const Value& value, const Schema& schema) {
  const auto set = fields_of(value, schema);
  return set ? to_json(to_fields_v1(set.value())) : set.error().message;
}

Value containers(std::string_view list) {
  return json(R"({"spec":{"template":{"spec":{"containers":)" + std::string{list} + "}}}}");
}

TEST(Fields, AreWrittenAsFieldsV1) {  // SSA-5, its example
  EXPECT_EQ(fields(containers(R"([{"name":"c","image":"i"}])"), deployment()),
            R"({"f:spec":{"f:template":{"f:spec":{"f:containers":)"
            R"({"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{}}}}}}})");
}

TEST(Fields, AtomicPartsAreOneField) {  // SSA-13
  EXPECT_EQ(fields(json(R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"replicas":1}})"), deployment()),
            R"({"f:spec":{"f:replicas":{},"f:selector":{}}})");
  EXPECT_EQ(fields(containers(R"([{"name":"c","args":["a","b"]}])"), deployment()),
            R"({"f:spec":{"f:template":{"f:spec":{"f:containers":)"
            R"({"k:{\"name\":\"c\"}":{".":{},"f:args":{},"f:name":{}}}}}}})");
}

TEST(Fields, SetsAreKeptByValueAndMapsByKey) {  // SSA-13
  EXPECT_EQ(fields(json(R"({"metadata":{"labels":{"a":"1"},"finalizers":["x/y"]}})"), deployment()),
            R"({"f:metadata":{"f:finalizers":{"v:\"x/y\"":{}},"f:labels":{"f:a":{}}}})");
}

TEST(Fields, AKeyThatHasADefaultNeedNotBeGiven) {  // SSA-14
  EXPECT_EQ(fields(json(R"({"spec":{"ports":[{"port":80}]}})"), service()),
            R"({"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}})");
}

TEST(Fields, ElementsMustHaveTheirKeyAndOnce) {  // SSA-2
  const std::string twice = R"(.spec.template.spec.containers: duplicate entries for key [name="c"])";
  EXPECT_EQ(fields(containers(R"([{"name":"c"},{"name":"c"}])"), deployment()), twice);
  EXPECT_EQ(
      fields(containers(R"([{"name":"c","ports":[{"containerPort":80},{"containerPort":80,"protocol":"TCP"}]}])"),
             deployment()),
      R"(.spec.template.spec.containers[name="c"].ports: duplicate entries for key [containerPort=80,protocol="TCP"])");
  const std::string nameless =
      R"(.spec.template.spec.containers: element 0: associative list with keys has an element that omits all key )"
      R"(fields ["name"] (and doesn't have default values for any key fields))";
  EXPECT_EQ(fields(containers(R"([{"image":"c"}])"), deployment()), nameless);
  EXPECT_EQ(fields(containers(R"([{"image":"c"},{"name":"c"},{"name":"c"}])"), deployment()),
            "errors:\n  " + nameless + "\n  " + twice);
}

/// The field set of the environment of the container c.
std::string env_fields(const FieldSet& set) {
  const FieldSet* at = &set;
  for (const char* step : {"f:spec", "f:template", "f:spec", "f:containers", R"(k:{"name":"c"})", "f:env"}) {
    if (at != nullptr) at = at->find(step);
  }
  return at == nullptr ? "" : to_json(to_fields_v1(*at));
}

Value env(std::string_view list) { return containers(R"([{"name":"c","env":)" + std::string{list} + "}]"); }

TEST(Fields, OfStoredElementsWithOneKeyAreTheirKey) {  // SSA-13
  const Value stored = env(R"([{"name":"P","value":"1"},{"name":"P","value":"2"},{"name":"A"},{"value":"no name"}])");
  EXPECT_EQ(env_fields(compare_fields(Value::object(), stored, deployment()).changed),
            R"({".":{},"k:{\"name\":\"A\"}":{".":{},"f:name":{}},"k:{\"name\":\"P\"}":{}})");
}

TEST(Fields, ElementsWithOneKeyAreComparedAsOneValue) {  // SSA-13
  const std::string itself = R"({"k:{\"name\":\"P\"}":{}})";
  const std::string one = R"({"k:{\"name\":\"P\"}":{".":{},"f:name":{},"f:value":{}}})";
  struct Case {
    const char* before;
    const char* after;
    std::string changed, removed;
  };
  const Case cases[] = {
      {R"([{"name":"P","value":"1"},{"name":"P","value":"2"}])",
       R"([{"name":"P","value":"1"},{"name":"P","value":"3"}])", itself, ""},
      {R"([{"name":"P","value":"1"},{"name":"P","value":"2"}])", R"([{"name":"P","value":"1"}])", one, itself},
      {R"([{"name":"P","value":"1"}])", R"([{"name":"P","value":"1"},{"name":"P","value":"2"}])", itself, one},
      {R"([{"name":"P","value":"1"},{"name":"P","value":"2"},{"name":"A"}])", R"([{"name":"A"}])", "", itself},
      {R"([{"name":"P","value":"1"},{"name":"P","value":"2"},{"name":"A"}])",
       R"([{"name":"P","value":"1"},{"name":"P","value":"2"}])", "", R"({"k:{\"name\":\"A\"}":{".":{},"f:name":{}}})"}};
  for (const Case& each : cases) {
    const FieldChanges changes = compare_fields(env(each.before), env(each.after), deployment());
    EXPECT_EQ(env_fields(changes.changed), each.changed) << each.before << " -> " << each.after;
    EXPECT_EQ(env_fields(changes.removed), each.removed) << each.before << " -> " << each.after;
  }
}

TEST(Fields, MergingKeepsElementsWithOneKeyUnlessOneReplacesThem) {  // SSA-13
  const Value live = env(R"([{"name":"P","value":"1"},{"name":"P","value":"2"},{"value":"no name"},{"name":"A"}])");
  EXPECT_EQ(
      merge_fields(live, env(R"([{"name":"B"}])"), deployment()),
      env(R"([{"name":"P","value":"1"},{"name":"P","value":"2"},{"value":"no name"},{"name":"A"},{"name":"B"}])"));
  EXPECT_EQ(merge_fields(live, env(R"([{"name":"P","valueFrom":{}}])"), deployment()),
            env(R"([{"name":"P","valueFrom":{}},{"value":"no name"},{"name":"A"}])"));
}

TEST(Fields, ReadWhatTheyWrite) {
  const auto set = fields_of(
      json(
          R"({"metadata":{"labels":{"a":"1"}},"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}})"),
      deployment());
  ASSERT_TRUE(set);
  const auto again = from_fields_v1(to_fields_v1(set.value()));
  ASSERT_TRUE(again);
  EXPECT_EQ(again.value(), set.value());
  EXPECT_EQ(paths_of(set.value()),
            (std::vector<std::string>{".metadata.labels.a", R"(.spec.template.spec.containers[name="c"])",
                                      R"(.spec.template.spec.containers[name="c"].image)",
                                      R"(.spec.template.spec.containers[name="c"].name)"}));
  EXPECT_FALSE(from_fields_v1(json(R"({"spec":{}})")));
  EXPECT_FALSE(from_fields_v1(json(R"({"f:spec":1})")));
}

TEST(Fields, SetsCombine) {
  const auto a = from_fields_v1(json(R"({"f:a":{".":{},"f:x":{}},"f:b":{}})")).value();
  const auto b = from_fields_v1(json(R"({"f:a":{"f:x":{},"f:y":{}}})")).value();
  EXPECT_EQ(to_json(to_fields_v1(unite(a, b))), R"({"f:a":{".":{},"f:x":{},"f:y":{}},"f:b":{}})");
  EXPECT_EQ(to_json(to_fields_v1(intersect(a, b))), R"({"f:a":{"f:x":{}}})");
  EXPECT_EQ(to_json(to_fields_v1(subtract(a, b))), R"({"f:a":{},"f:b":{}})");
  EXPECT_TRUE(subtract(a, a).empty());
}

TEST(Fields, ComparingReportsChangedAndRemovedFields) {
  const Value before = json(R"({"metadata":{"labels":{"a":"1","b":"1"}},"spec":{"replicas":1}})");
  const Value after = json(R"({"metadata":{"labels":{"a":"2","c":"1"}},"spec":{"replicas":1}})");
  const FieldChanges changes = compare_fields(before, after, deployment());
  EXPECT_EQ(paths_of(changes.changed), (std::vector<std::string>{".metadata.labels.a", ".metadata.labels.c"}));
  EXPECT_EQ(paths_of(changes.removed), (std::vector<std::string>{".metadata.labels.b"}));
  EXPECT_TRUE(compare_fields(after, after, deployment()).changed.empty());
}

std::string added(const Value& before, const Value& after, const Schema& schema) {
  return to_json(to_fields_v1(compare_fields(before, after, schema).changed));
}

// SSA-7: published managedFields of Deployments are like this. Structs that Go's types always have are not added.
TEST(Fields, WhatIsNewIsOwnedThroughout) {
  const Value nothing = json("{}");
  const Value created = json(R"({"metadata":{"labels":{"app":"n"}},"spec":{"replicas":1,"selector":{"matchLabels":{
      "app":"n"}},"strategy":{"rollingUpdate":{"maxSurge":1},"type":"RollingUpdate"},"template":{"metadata":{"labels":{
      "app":"n"}},"spec":{"containers":[{"name":"n","image":"i","ports":[{"containerPort":80,"protocol":"TCP"}],
      "resources":{"limits":{"cpu":"1"}}}],"securityContext":{},"volumes":[{"name":"v","emptyDir":{}}]}}}})");
  EXPECT_EQ(added(nothing, created, deployment()),
            R"({"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:replicas":{},"f:selector":{},)"
            R"("f:strategy":{"f:rollingUpdate":{".":{},"f:maxSurge":{}},"f:type":{}},)"
            R"("f:template":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{)"
            R"("k:{\"name\":\"n\"}":{".":{},"f:image":{},"f:name":{},"f:ports":{".":{},)"
            R"("k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:protocol":{}}},)"
            R"("f:resources":{".":{},"f:limits":{".":{},"f:cpu":{}}}}},"f:securityContext":{},)"
            R"("f:volumes":{".":{},"k:{\"name\":\"v\"}":{".":{},"f:emptyDir":{},"f:name":{}}}}}}})");
  // The same later: what an update adds to a list that was there, and below a struct that was left out.
  Value more = created;
  more.edit("spec").edit("template").edit("metadata").edit("annotations").set("a", "b");
  more.edit("spec").edit("template").edit("spec").edit("volumes").push_back(json(R"({"name":"w","emptyDir":{}})"));
  EXPECT_EQ(added(created, more, deployment()),
            R"({"f:spec":{"f:template":{"f:metadata":{"f:annotations":{".":{},"f:a":{}}},)"
            R"("f:spec":{"f:volumes":{"k:{\"name\":\"w\"}":{".":{},"f:emptyDir":{},"f:name":{}}}}}}})");
  Value unlabelled = created;
  unlabelled.edit("spec").edit("template").erase("metadata");
  EXPECT_EQ(added(unlabelled, created, deployment()),
            R"({"f:spec":{"f:template":{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}}})");
  const FieldChanges gone = compare_fields(created, unlabelled, deployment());
  EXPECT_EQ(to_json(to_fields_v1(gone.removed)),
            R"({"f:spec":{"f:template":{"f:metadata":{".":{},"f:labels":{".":{},"f:app":{}}}}}})");
  // A custom resource has no such structs.
  const Schema& policy = *Kinds::compiled().find_type("propagationpolicies.policy.karmada.io")->schema;
  EXPECT_EQ(added(nothing, json(R"({"spec":{"placement":{"clusterAffinity":{"clusterNames":["m"]}}}})"), policy),
            R"({"f:spec":{".":{},"f:placement":{".":{},"f:clusterAffinity":{".":{},"f:clusterNames":{}}}}})");
}

TEST(Fields, MergingKeepsWhatIsNotNamed) {
  const Value live = containers(R"([{"name":"a","image":"1","args":["x"]},{"name":"b","image":"1"}])");
  const Value wanted = containers(R"([{"name":"b","image":"2"},{"name":"c","image":"3"}])");
  EXPECT_EQ(merge_fields(live, wanted, deployment()),
            containers(R"([{"name":"a","image":"1","args":["x"]},{"name":"b","image":"2"},{"name":"c","image":"3"}])"));
}

TEST(Fields, RemovingAnElementLeavesWhatOthersHaveInIt) {
  const Value value = containers(R"([{"name":"a","image":"1"},{"name":"b","image":"1","tty":true}])");
  const FieldSet all = fields_of(value, deployment()).value();
  const FieldSet kept = fields_of(containers(R"([{"name":"b","image":"1"}])"), deployment()).value();
  EXPECT_EQ(without_fields(value, subtract(all, kept), kept, deployment()),
            containers(R"([{"name":"b","image":"1"}])"));
  EXPECT_EQ(without_fields(value, all, {}, deployment()), json("{}"));
}

}  // namespace
}  // namespace shiplog::api
