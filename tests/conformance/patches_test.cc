// JSON patch and merge patch (PT-1 to PT-8).
#include <atomic>
#include <thread>

#include "tests/conformance/conformance.h"

namespace shiplog::e2e {
namespace {

Answer json_patch(const std::string& target, const std::string& operations) {
  return api().call("PATCH", target, operations, {{"Content-Type", "application/json-patch+json"}});
}
Answer merge_patch(const std::string& target, const std::string& patch) {
  return api().call("PATCH", target, patch, {{"Content-Type", "application/merge-patch+json"}});
}

std::string one_map(const std::string& data = R"({"a":"1","b":"2"})") {
  const std::string maps = in(own_namespace(), "configmaps");
  EXPECT_EQ(api().post(maps, config_map("m", data)).status, 201);
  return maps + "/m";
}

TEST(Patches, PT_01_json_patch) {
  const std::string map = one_map();
  const Answer done = json_patch(map, R"([{"op":"test","path":"/data/a","value":"1"},
      {"op":"add","path":"/data/c","value":"3"},{"op":"replace","path":"/data/b","value":"two"},
      {"op":"copy","from":"/data/a","path":"/data/d"},{"op":"move","from":"/data/c","path":"/data/e"},
      {"op":"remove","path":"/data/a"},{"op":"add","path":"/metadata/labels","value":{"x~y":"z"}}])");
  EXPECT_EQ(done.status, 422) << "x~y is not a valid label: " << done;
  const Answer good = json_patch(map, R"([{"op":"test","path":"/data/a","value":"1"},
      {"op":"add","path":"/data/c","value":"3"},{"op":"replace","path":"/data/b","value":"two"},
      {"op":"copy","from":"/data/a","path":"/data/d"},{"op":"move","from":"/data/c","path":"/data/e"},
      {"op":"remove","path":"/data/a"},{"op":"add","path":"/metadata/annotations","value":{}},
      {"op":"add","path":"/metadata/annotations/example.com~1x","value":"y"}])");
  ASSERT_EQ(good.status, 200) << good;
  EXPECT_EQ(good.json["data"], json(R"({"b":"two","d":"1","e":"3"})"));
  EXPECT_EQ(good.json["metadata"]["annotations"]["example.com/x"].str(), "y");
  for (const char* wrong : {R"({"op":"add"})", "nonsense", R"("x")"}) {
    expect_failure(json_patch(map, wrong), 400, "BadRequest");
  }
  for (const char* impossible :
       {R"([{"op":"test","path":"/data/b","value":"other"}])", R"([{"op":"remove","path":"/data/none"}])",
        R"([{"op":"replace","path":"/none/x","value":1}])", R"([{"op":"add","path":"/data/x/y","value":1}])"}) {
    const Answer refused = json_patch(map, impossible);
    EXPECT_EQ(refused.status, 422) << impossible << refused;
    EXPECT_TRUE(refused.json["details"].is_null())
        << "with kind and name kubectl does not show the message: " << refused;
  }
  EXPECT_EQ(api().get(map).json["data"], good.json["data"]);
  const Answer added = json_patch(map, R"([{"op":"replace","path":"/data/new","value":"n"}])");
  ASSERT_EQ(added.status, 200) << "as in the API server's library, replace adds what is missing: " << added;
  EXPECT_EQ(added.json["data"]["new"].str(), "n");
  const std::string deployments = in(own_namespace(), "deployments", "apps/v1");
  ASSERT_EQ(api().post(deployments, deployment("web")).status, 201);
  const Answer listed =
      json_patch(deployments + "/web",
                 R"([{"op":"add","path":"/spec/template/spec/containers/0/env/-","value":{"name":"B","value":"2"}},
          {"op":"replace","path":"/spec/template/spec/containers/0/image","value":"nginx:1.28"}])");
  ASSERT_EQ(listed.status, 200) << listed;
  EXPECT_EQ(listed.json["spec"]["template"]["spec"]["containers"][0]["env"].size(), 2u);
}

TEST(Patches, PT_02_merge_patch) {
  const std::string map = one_map();
  const Answer merged = merge_patch(map, R"({"data":{"a":null,"b":"two","c":"3"},"metadata":{"labels":{"l":"1"}}})");
  ASSERT_EQ(merged.status, 200) << merged;
  EXPECT_EQ(merged.json["data"], json(R"({"b":"two","c":"3"})"));
  const std::string deployments = in(own_namespace(), "deployments", "apps/v1");
  ASSERT_EQ(api().post(deployments, deployment("web")).status, 201);
  const Answer whole = merge_patch(deployments + "/web",
                                   R"({"spec":{"template":{"spec":{"containers":[{"name":"other","image":"i:1"}]}}}})");
  ASSERT_EQ(whole.status, 200) << whole;
  ASSERT_EQ(whole.json["spec"]["template"]["spec"]["containers"].size(), 1u) << "lists are replaced";
  EXPECT_EQ(whole.json["spec"]["template"]["spec"]["containers"][0]["name"].str(), "other");
  for (const char* wrong : {"[]", "3", "nonsense"}) expect_failure(merge_patch(map, wrong), 400, "BadRequest");
}

TEST(Patches, PT_03_strategic_merge_patch_is_for_built_in_kinds) {
  const std::string widgets = widgets_in(own_namespace());
  ASSERT_EQ(api().post(widgets, widget("w")).status, 201);
  const Answer refused = api().patch(widgets + "/w", "strategic-merge", json(R"({"spec":{"size":2}})"));
  expect_failure(refused, 415, "UnsupportedMediaType", "application/merge-patch+json");
  EXPECT_NE(refused.message().find("application/apply-patch+yaml"), std::string::npos);
  EXPECT_EQ(refused.message().find("strategic-merge-patch+json,"), std::string::npos) << refused;
  for (const char* type : {"json", "merge"}) {
    const Value patch = std::string{type} == "json" ? json(R"([{"op":"replace","path":"/spec/size","value":3}])")
                                                    : json(R"({"spec":{"size":4}})");
    EXPECT_EQ(api().patch(widgets + "/w", type, patch).status, 200) << type;
  }
}

TEST(Patches, PT_04_apply_is_a_patch) {
  const std::string map = one_map();
  const Answer applied = apply_to(map, R"({"apiVersion":"v1","kind":"ConfigMap","data":{"c":"3"}})");
  ASSERT_EQ(applied.status, 200) << applied;
  EXPECT_EQ(applied.json["data"].size(), 3u);
}

TEST(Patches, PT_05_the_result_is_validated_like_an_update) {
  const std::string deployments = in(own_namespace(), "deployments", "apps/v1");
  ASSERT_EQ(api().post(deployments, deployment("web")).status, 201);
  const std::string web = deployments + "/web";
  expect_failure(merge_patch(web, R"({"spec":{"replicas":-1}})"), 422, "Invalid", "spec.replicas");
  const Answer defaulted = merge_patch(web, R"({"spec":{"replicas":null}})");
  EXPECT_EQ(defaulted.json["spec"]["replicas"].as_int(), 1) << defaulted;
  for (const char* wrong : {R"({"metadata":{"name":"other"}})", R"({"metadata":{"namespace":"default"}})"}) {
    expect_failure(merge_patch(web, wrong), 400, "BadRequest");
  }
  for (const char* wrong : {R"({"kind":"Sofa"})", R"({"apiVersion":"v2"})"}) {
    const Answer refused = merge_patch(web, wrong);
    EXPECT_TRUE(refused.status == 400 || refused.status == 422) << refused;
  }
}

TEST(Patches, PT_05_a_result_that_is_no_object_of_the_kind_is_invalid) {
  const std::string map = one_map();
  const Answer strategic = api().patch(map, "strategic-merge", json(R"({"metadata":{"labels":"invalid"}})"));
  expect_failure(strategic, 422, "Invalid",
                 R"(patch: Invalid value: "map[metadata:map[labels:invalid]]": cannot restore map from string)");
  EXPECT_TRUE(strategic.json["details"]["name"].is_null()) << strategic;
  const Answer merged = merge_patch(map, R"({"metadata":{"labels":"invalid"}})");
  expect_failure(merged, 422, "Invalid", R"(patch: Invalid value: "{"metadata":{"labels":"invalid"}}": )");
}

TEST(Patches, PT_06_conflicts_require_a_version) {
  const std::string map = one_map(R"({"n":"0"})");
  constexpr int kThreads = 4, kEach = 10;
  std::vector<std::thread> threads;
  std::atomic<int> conflicts{0};
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < kEach; ++round) {
        const std::string key = "k" + std::to_string(thread) + "-" + std::to_string(round);
        if (merge_patch(map, R"({"data":{")" + key + R"(":"x"}})").status != 200) ++conflicts;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(conflicts.load(), 0);
  const Answer now = api().get(map);
  EXPECT_EQ(now.json["data"].size(), static_cast<size_t>(kThreads * kEach + 1));
  const std::string version = version_of(now);
  EXPECT_EQ(merge_patch(map, R"({"metadata":{"resourceVersion":")" + version + R"("},"data":{"n":"1"}})").status, 200);
  expect_failure(merge_patch(map, R"({"metadata":{"resourceVersion":")" + version + R"("},"data":{"n":"2"}})"), 409,
                 "Conflict");
  expect_failure(json_patch(map, R"([{"op":"replace","path":"/metadata/resourceVersion","value":")" + version +
                                     R"("},{"op":"replace","path":"/data/n","value":"2"}])"),
                 409, "Conflict");
  expect_failure(api().patch(map, "strategic-merge",
                             json(R"({"metadata":{"resourceVersion":")" + version + R"("},"data":{"n":"2"}})")),
                 409, "Conflict");
  expect_failure(apply_to(map, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"resourceVersion":")" + version +
                                   R"("},"data":{"m":"2"}})"),
                 409, "Conflict");
}

TEST(Patches, PT_07_status_is_dropped_in_the_object_and_all_else_in_its_status) {
  const std::string deployments = in(own_namespace(), "deployments", "apps/v1");
  ASSERT_EQ(api().post(deployments, deployment("web")).status, 201);
  const std::string mixed = R"({"spec":{"replicas":2},"status":{"replicas":7}})";
  const Answer main = merge_patch(deployments + "/web", mixed);
  EXPECT_EQ(main.json["spec"]["replicas"].as_int(), 2) << main;
  EXPECT_EQ(main.json["status"]["replicas"].as_int(), 0);
  const Answer status = merge_patch(deployments + "/web/status", R"({"spec":{"replicas":3},"status":{"replicas":7}})");
  EXPECT_EQ(status.json["spec"]["replicas"].as_int(), 2) << status;
  EXPECT_EQ(status.json["status"]["replicas"].as_int(), 7);
}

TEST(Patches, PT_08_missing_objects_are_not_found) {
  const std::string none = in(own_namespace(), "configmaps") + "/none";
  expect_failure(merge_patch(none, "{}"), 404, "NotFound");
  expect_failure(json_patch(none, "[]"), 404, "NotFound");
  expect_failure(api().patch(none, "strategic-merge", json("{}")), 404, "NotFound");
}

}  // namespace
}  // namespace shiplog::e2e
