// Server-side apply and the ownership of fields (SSA-1 to SSA-16).
#include "events/base/json.h"
#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

Answer server_side_apply(const std::string& path, const std::string& body,
                         const std::string& query = "fieldManager=one") {
  return api().call("PATCH", path + "?" + query, body, {{"Content-Type", "application/apply-patch+yaml"}});
}

std::string config_map_of(const std::string& name, const std::string& data) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("},"data":)" + data + "}";
}

TEST(Applies, MakeKeepAndRemove) {  // SSA-3, SSA-8, SSA-10
  const std::string path = kConfigMaps + "/applied";
  const Answer made = server_side_apply(path, config_map_of("applied", R"({"a":"1","b":"1"})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["metadata"]["managedFields"][0]["manager"].str(), "one");
  const Answer again = server_side_apply(path, config_map_of("applied", R"({"a":"1","b":"1"})"));
  ASSERT_EQ(again.status, 200) << again;
  EXPECT_EQ(again.json["metadata"]["resourceVersion"], made.json["metadata"]["resourceVersion"]);
  const Answer less =
      server_side_apply(path, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {a: '2'}\n");
  ASSERT_EQ(less.status, 200) << less;
  EXPECT_EQ(less.json["data"], json(R"({"a":"2"})"));
}

TEST(Applies, ConflictsNameTheOwnerUntilForced) {  // SSA-8, SSA-9
  const std::string path = kConfigMaps + "/disputed";
  ASSERT_EQ(server_side_apply(path, config_map_of("disputed", R"({"a":"1"})")).status, 201);
  const std::string other = config_map_of("disputed", R"({"a":"2"})");
  const Answer refused = server_side_apply(path, other, "fieldManager=two");
  expect_failure(refused, 409, "Conflict", R"(Apply failed with 1 conflict: conflict with "one" using v1: .data.a)");
  EXPECT_EQ(
      refused.json["details"]["causes"],
      json(R"([{"reason":"FieldManagerConflict","message":"conflict with \"one\" using v1","field":".data.a"}])"));
  const Answer forced = server_side_apply(path, other, "fieldManager=two&force=true");
  ASSERT_EQ(forced.status, 200) << forced;
  EXPECT_EQ(forced.json["data"], json(R"({"a":"2"})"));
}

TEST(Applies, AScaledDeploymentKeepsItsReplicasUnlessTheyAreApplied) {  // SSA-7, SUB-2
  const std::string path = kDeployments + "/scaled";
  Value body = deployment("scaled");
  body.set("apiVersion", "apps/v1");
  body.set("kind", "Deployment");
  body.edit("spec").set("replicas", 2);
  ASSERT_EQ(server_side_apply(path, to_json(body)).status, 201);
  ASSERT_EQ(api().patch(path + "/scale", "merge", json(R"({"spec":{"replicas":5}})")).status, 200);
  expect_failure(server_side_apply(path, to_json(body)), 409, "Conflict", ".spec.replicas");
  body.edit("spec").erase("replicas");
  const Answer released = server_side_apply(path, to_json(body));
  ASSERT_EQ(released.status, 200) << released;
  EXPECT_EQ(released.json["spec"]["replicas"].as_int(), 5);
}

TEST(Applies, OrdinaryWritesAreTrackedFromTheFirst) {  // SSA-7
  ASSERT_EQ(api().post(kConfigMaps + "?fieldManager=maker", json(config_map_of("tracked", R"({"a":"1"})"))).status,
            201);
  const Answer changed = api().call("PATCH", kConfigMaps + "/tracked?fieldManager=changer", R"({"data":{"b":"1"}})",
                                    {{"Content-Type", "application/merge-patch+json"}});
  ASSERT_EQ(changed.status, 200) << changed;
  std::vector<std::string> managers;
  for (const Value& entry : changed.json["metadata"]["managedFields"].items()) {
    managers.push_back(entry["manager"].str() + " " + to_json(entry["fieldsV1"]));
  }
  std::ranges::sort(managers);
  EXPECT_EQ(managers,
            (std::vector<std::string>{R"(changer {"f:data":{"f:b":{}}})", R"(maker {"f:data":{".":{},"f:a":{}}})"}));
  const Answer same = api().call("PATCH", kConfigMaps + "/tracked?fieldManager=changer", R"({"data":{"b":"1"}})",
                                 {{"Content-Type", "application/merge-patch+json"}});
  EXPECT_EQ(same.json["metadata"]["resourceVersion"], changed.json["metadata"]["resourceVersion"]) << "META-3";
}

TEST(Applies, AreRefusedWhenMalformed) {  // SSA-1 to SSA-3
  const std::string path = kConfigMaps + "/malformed";
  const std::string body = config_map_of("malformed", R"({"a":"1"})");
  expect_failure(server_side_apply(path, body, ""), 422, "Invalid",
                 "fieldManager: Required value: is required for apply patch");
  expect_failure(server_side_apply(path, config_map_of("else", "{}")), 400, "BadRequest",
                 "does not match the name on the URL");
  expect_failure(server_side_apply(path, R"({"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"malformed"}})"),
                 400, "BadRequest", "Incorrect version");
  expect_failure(server_side_apply(path, "a: [b"), 400, "BadRequest", "error decoding YAML");
  expect_failure(server_side_apply(kDeployments + "/malformed/status",
                                   R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"malformed"}})"),
                 404, "NotFound");
  expect_failure(api().call("PATCH", path + "?force=true", "{}", {{"Content-Type", "application/merge-patch+json"}}),
                 422, "Invalid", "force: Forbidden: may not be specified for non-apply patch");
  EXPECT_EQ(api().get(path).status, 404);
}

}  // namespace
}  // namespace shiplog::e2e
