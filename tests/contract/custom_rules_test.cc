// x-kubernetes-validations of CustomResourceDefinitions, over HTTP.
#include "events/base/json.h"
#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

const std::string kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const std::string kPools = "/apis/rules.example/v1/namespaces/default/pools";

Value definition(const std::string& plural, const std::string& kind, const std::string& spec) {
  Value made = json(R"({"spec":{"group":"rules.example","scope":"Namespaced","names":{},"versions":[
      {"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{
      "type":"object","properties":{"status":{"type":"object","x-kubernetes-validations":[
        {"rule":"self.ready >= oldSelf.ready","message":"ready must not shrink"}],
        "properties":{"ready":{"type":"integer"}}}}}}}]}})");
  made.edit("metadata").set("name", plural + ".rules.example");
  Value& names = made.edit("spec").edit("names");
  names.set("plural", plural);
  names.set("kind", kind);
  Value& schema = made.edit("spec").edit("versions").edit_items()[0].edit("schema").edit("openAPIV3Schema");
  schema.edit("properties").set("spec", json(spec));
  return made;
}

const std::string kPoolSpec = R"j({"type":"object","required":["min","max"],
    "x-kubernetes-validations":[{"rule":"self.min <= self.max","messageExpression":"'min is ' + string(self.min)"}],
    "properties":{"min":{"type":"integer"},"max":{"type":"integer"},"note":{"type":"string"},
      "zone":{"type":"string","x-kubernetes-validations":[{"rule":"self == oldSelf","message":"is immutable",
        "reason":"FieldValueForbidden"}]}}})j";

Value pool(const std::string& name, const std::string& spec) {
  Value made = json(R"({"apiVersion":"rules.example/v1","kind":"Pool"})");
  made.edit("metadata").set("name", name);
  made.set("spec", json(spec));
  return made;
}

TEST(CustomRulesOverHttp, EveryWayToWriteIsJudged) {
  ASSERT_EQ(api().post(kDefinitions, definition("pools", "Pool", kPoolSpec)).status, 201);
  const std::string one = kPools + "/one";
  const std::string min_is_5 = "spec: Invalid value: min is 5";
  expect_failure(api().post(kPools, pool("one", R"({"min":5,"max":3})")), 422, "Invalid", min_is_5);
  expect_failure(api().post(kPools, pool("one", R"({"min":"5","max":3})")), 422, "Invalid",
                 "some validation rules were not checked because the object was invalid; correct the existing errors");
  const Answer made = api().post(kPools, pool("one", R"({"min":1,"max":3,"zone":"a"})"));
  ASSERT_EQ(made.status, 201) << made;

  Value changed = made.json;
  changed.edit("spec").set("min", 5);
  expect_failure(api().put(one, changed), 422, "Invalid", min_is_5);
  expect_failure(api().patch(one, "merge", json(R"({"spec":{"min":5}})")), 422, "Invalid", min_is_5);
  expect_failure(api().patch(one, "merge", json(R"({"spec":{"zone":"b"}})")), 422, "Invalid",
                 "spec.zone: Forbidden: is immutable");
  const std::string applied = to_json(pool("one", R"({"min":5,"max":3,"zone":"a"})"));
  expect_failure(api().call("PATCH", one + "?fieldManager=m&force=true", applied,
                            {{"Content-Type", "application/apply-patch+yaml"}}),
                 422, "Invalid", min_is_5);
  EXPECT_EQ(api().patch(one, "merge", json(R"({"spec":{"min":2}})")).status, 200);

  EXPECT_EQ(api().patch(one + "/status", "merge", json(R"({"status":{"ready":2}})")).status, 200);
  expect_failure(api().patch(one + "/status", "merge", json(R"({"status":{"ready":1}})")), 422, "Invalid",
                 "status: Invalid value: ready must not shrink");
}

TEST(CustomRulesOverHttp, ADefinitionWithAWrongRuleIsRefusedWithThePlace) {
  const std::string spec = R"({"type":"object","x-kubernetes-validations":[{"rule":"self.min + 'a' == 1"}],
      "properties":{"min":{"type":"integer"}}})";
  const Answer refused = api().post(kDefinitions, definition("wrongs", "Wrong", spec));
  expect_failure(refused, 422, "Invalid", "found no matching overload for '_+_' applied to '(int, string)'");
  EXPECT_EQ(refused.json["details"]["causes"][0]["field"].str(),
            "spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule")
      << refused;
}

TEST(CustomRulesOverHttp, WhatAStricterRuleFindsInOldValuesIsAWarning) {
  ASSERT_EQ(api()
                .post(kDefinitions, definition("rafts", "Raft", R"({"type":"object","properties":{
      "size":{"type":"integer"},"note":{"type":"string"}}})"))
                .status,
            201);
  const std::string rafts = "/apis/rules.example/v1/namespaces/default/rafts";
  Value raft = pool("one", R"({"size":9})");
  raft.set("kind", "Raft");
  ASSERT_EQ(api().post(rafts, raft).status, 201);
  Value stricter = definition("rafts", "Raft", R"({"type":"object","properties":{"size":{"type":"integer",
      "x-kubernetes-validations":[{"rule":"self < 5"}]},"note":{"type":"string"}}})");
  const Answer changed = api().patch(kDefinitions + "/rafts.rules.example", "merge", stricter);
  ASSERT_EQ(changed.status, 200) << changed;
  const Answer kept = api().patch(rafts + "/one", "merge", json(R"({"spec":{"note":"a"}})"));
  EXPECT_EQ(kept.status, 200) << kept;
  EXPECT_NE(kept.headers.get("Warning").find("failed rule: self < 5"), std::string::npos) << kept;
  expect_failure(api().patch(rafts + "/one", "merge", json(R"({"spec":{"size":8}})")), 422, "Invalid",
                 "spec.size: Invalid value: 8: failed rule: self < 5");
}

TEST(CustomRulesOverHttp, ARuleThatWouldTakeHoursRefusesTheObject) {
  const std::string spec = R"j({"type":"object","properties":{"list":{"type":"array","items":{"type":"integer"},
      "x-kubernetes-validations":[{"rule":"self.all(a, self.all(b, self.all(c, a + b + c >= 0)))"}]}}})j";
  ASSERT_EQ(api().post(kDefinitions, definition("tubs", "Tub", spec)).status, 201);
  Value tub = pool("one", "{}");
  tub.set("kind", "Tub");
  Value list = Value::array();
  for (int i = 0; i < 3000; ++i) list.push_back(i);
  tub.edit("spec").set("list", list);
  expect_failure(api().post("/apis/rules.example/v1/namespaces/default/tubs", tub), 422, "Invalid",
                 "actual cost limit exceeded");
  tub.edit("spec").set("list", json("[1, 2]"));
  EXPECT_EQ(api().post("/apis/rules.example/v1/namespaces/default/tubs", tub).status, 201);
}

}  // namespace
}  // namespace shiplog::e2e
