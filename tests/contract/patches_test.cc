// Patches of each kind (PT-1 to PT-8).
#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

Value container_of(const Answer& answer, size_t index = 0) {
  return answer.json["spec"]["template"]["spec"]["containers"][index];
}

TEST(Patches, JsonPatch) {  // PT-1
  ASSERT_EQ(api().post(kConfigMaps, config_map("json-patch", R"({"a":"1","b":"2"})")).status, 201);
  const std::string path = kConfigMaps + "/json-patch";
  const Answer done = api().patch(path, "json", json(R"([{"op":"test","path":"/data/a","value":"1"},
      {"op":"replace","path":"/data/a","value":"3"},{"op":"remove","path":"/data/b"},
      {"op":"add","path":"/data/c","value":"4"}])"));
  ASSERT_EQ(done.status, 200) << done;
  EXPECT_EQ(done.json["data"], json(R"({"a":"3","c":"4"})"));
  expect_failure(api().patch(path, "json", json(R"([{"op":"test","path":"/data/a","value":"9"}])")), 422, "Invalid");
  expect_failure(api().patch(path, "json", json(R"([{"op":"remove","path":"/data/none"}])")), 422, "Invalid");
  expect_failure(api().patch(path, "json", json(R"({"data":{}})")), 400, "BadRequest");
  EXPECT_EQ(api().get(path).json["data"], json(R"({"a":"3","c":"4"})"));
}

TEST(Patches, MergePatch) {  // PT-2, PT-5, PT-6
  const Answer made = api().post(kConfigMaps, config_map("merge-patch", R"({"a":"1","b":"2"})"));
  const std::string path = kConfigMaps + "/merge-patch";
  const Answer done = api().patch(path, "merge", json(R"({"data":{"a":null,"c":"3"}})"));
  ASSERT_EQ(done.status, 200) << done;
  EXPECT_EQ(done.json["data"], json(R"({"b":"2","c":"3"})"));
  Value stale = json(R"({"data":{"d":"4"}})");
  stale.edit("metadata").set("resourceVersion", made.json["metadata"]["resourceVersion"]);
  expect_failure(api().patch(path, "merge", stale), 409, "Conflict");
  EXPECT_EQ(api().patch(path, "merge", json(R"({"metadata":{"name":"other"}})")).status, 400);
  expect_failure(api().patch(path, "merge", json("[]")), 400, "BadRequest");
  expect_failure(api().patch(kConfigMaps + "/none", "merge", json("{}")), 404, "NotFound");  // PT-8
}

TEST(Patches, StrategicMergePatchMergesListsByTheirKeys) {  // PT-3
  ASSERT_EQ(api().post(kDeployments, deployment("strategic")).status, 201);
  const std::string path = kDeployments + "/strategic";
  const Answer added = api().patch(path, "strategic-merge", json(R"({"spec":{"template":{"spec":{"containers":[
      {"name":"main","env":[{"name":"B","value":"2"}]},{"name":"side","image":"busybox:1"}]}}}})"));
  ASSERT_EQ(added.status, 200) << added;
  std::map<std::string, Value> containers;
  for (const Value& container : added.json["spec"]["template"]["spec"]["containers"].items()) {
    containers[container["name"].str()] = container;
  }
  ASSERT_EQ(containers.size(), 2u) << added;
  EXPECT_EQ(containers["main"]["image"].str(), "nginx:1.27");
  EXPECT_EQ(containers["main"]["env"].size(), 2u);
  const Answer removed = api().patch(path, "strategic-merge", json(R"({"spec":{"template":{"spec":{"containers":[
      {"name":"side","$patch":"delete"}]}}}})"));
  ASSERT_EQ(removed.status, 200) << removed;
  EXPECT_EQ(removed.json["spec"]["template"]["spec"]["containers"].size(), 1u);
  EXPECT_EQ(container_of(removed)["name"].str(), "main");
  const Answer replaced = api().patch(path, "strategic-merge", json(R"({"spec":{"template":{"spec":{"containers":[
      {"name":"main","env":[{"name":"C","value":"3"},{"$patch":"replace"}]}]}}}})"));
  ASSERT_EQ(replaced.status, 200) << replaced;
  EXPECT_EQ(container_of(replaced)["env"], json(R"([{"name":"C","value":"3"}])"));
  const Answer rolling =
      api().patch(path, "strategic-merge", json(R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}})"));
  ASSERT_EQ(rolling.status, 200) << rolling;
  EXPECT_EQ(rolling.json["spec"]["strategy"], json(R"({"type":"Recreate"})"));
}

TEST(Patches, OtherTypesAreRefusedWithTheSupportedOnes) {  // HTTP-3, PT-3, ERR-3
  ASSERT_EQ(api().post(kConfigMaps, config_map("typed")).status, 201);
  const Answer odd = api().call("PATCH", kConfigMaps + "/typed", "{}", {{"Content-Type", "text/plain"}});
  expect_failure(odd, 415, "UnsupportedMediaType", "application/merge-patch+json");
  // Custom resources do not support strategic merge.
  const Answer made = api().post("/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies", json(R"({
      "metadata":{"name":"typed"},"spec":{"resourceSelectors":[{"apiVersion":"v1","kind":"ConfigMap","name":"none"}]}})"));
  ASSERT_EQ(made.status, 201) << made;
  expect_failure(api().patch("/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies/typed",
                             "strategic-merge", json(R"({"spec":{}})")),
                 415, "UnsupportedMediaType");
}

TEST(Patches, AStatusInAPatchOfTheObjectIsDropped) {  // PT-7
  ASSERT_EQ(api().post(kDeployments, deployment("mixed")).status, 201);
  const Answer done =
      api().patch(kDeployments + "/mixed", "merge", json(R"({"spec":{"replicas":4},"status":{"readyReplicas":4}})"));
  ASSERT_EQ(done.status, 200) << done;
  EXPECT_EQ(done.json["spec"]["replicas"].as_int(), 4);
  EXPECT_FALSE(done.json["status"].contains("readyReplicas")) << done;
}

}  // namespace
}  // namespace shiplog::e2e
