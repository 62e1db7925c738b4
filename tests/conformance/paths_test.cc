// Paths and verbs (PATH-1 to PATH-10).
#include "tests/conformance/conformance.h"

namespace shiplog::e2e {
namespace {

TEST(Paths, PATH_01_core_has_a_prefix_of_its_own) {
  EXPECT_EQ(api().get("/api/v1/nodes").json["kind"].str(), "NodeList");
  EXPECT_EQ(api().get("/apis/apps/v1/deployments").json["kind"].str(), "DeploymentList");
  EXPECT_EQ(api().get("/apis/v1/nodes").status, 404);
  EXPECT_EQ(api().get("/api/apps/v1/deployments").status, 404);
}

TEST(Paths, PATH_02_collections_objects_and_subresources) {
  const std::string ns = own_namespace();
  const std::string deployments = in(ns, "deployments", "apps/v1");
  ASSERT_EQ(api().post(deployments, deployment("web")).status, 201);
  EXPECT_EQ(names_of(api().get("/apis/apps/v1/deployments?fieldSelector=metadata.namespace%3D" + ns)), Names{"web"});
  EXPECT_EQ(names_of(api().get(deployments)), Names{"web"});
  EXPECT_EQ(api().get(deployments + "/web").json["kind"].str(), "Deployment");
  EXPECT_EQ(api().get(deployments + "/web/status").json["kind"].str(), "Deployment");
  EXPECT_EQ(api().get(deployments + "/web/scale").json["kind"].str(), "Scale");
  EXPECT_EQ(api().get("/api/v1/namespaces/" + ns).json["kind"].str(), "Namespace");
  EXPECT_EQ(api().get("/api/v1/namespaces/" + ns + "/status").json["kind"].str(), "Namespace");
  // An object of a namespaced kind is not found without its namespace, nor a cluster's below one.
  EXPECT_EQ(api().get("/apis/apps/v1/deployments/web").status, 404);
  EXPECT_EQ(api().get("/api/v1/namespaces/" + ns + "/nodes").status, 404);
}

TEST(Paths, PATH_03_methods_and_their_success) {
  const std::string maps = in(own_namespace(), "configmaps");
  EXPECT_EQ(api().post(maps, config_map("a")).status, 201);
  EXPECT_EQ(api().get(maps).status, 200);
  EXPECT_EQ(api().get(maps + "/a").status, 200);
  EXPECT_EQ(api().put(maps + "/a", config_map("a", R"({"k":"v"})")).status, 200);
  EXPECT_EQ(api().patch(maps + "/a", "merge", json(R"({"data":{"k":"w"}})")).status, 200);
  EXPECT_EQ(apply_to(maps + "/b", R"({"apiVersion":"v1","kind":"ConfigMap"})").status, 201);
  EXPECT_EQ(apply_to(maps + "/b", R"({"apiVersion":"v1","kind":"ConfigMap","data":{"k":"v"}})").status, 200);
  EXPECT_EQ(api().remove(maps + "/a").status, 200);
  EXPECT_EQ(api().remove(maps).status, 200);
  EXPECT_EQ(names_of(api().get(maps)), Names{});
}

TEST(Paths, PATH_04_a_collection_across_namespaces_takes_no_objects) {
  EXPECT_EQ(api().post("/api/v1/configmaps", config_map("x")).status, 405);
  widgets_in(own_namespace());
  expect_failure(api().post("/apis/conformance.example.com/v1/widgets", widget("x")), 404, "NotFound");
}

TEST(Paths, PATH_05_one_object_can_be_watched) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
  ASSERT_EQ(api().post(maps, config_map("b")).status, 201);
  const auto watch = api().watch(maps + "/a?watch=true");
  const auto same = api().watch(maps + "/a?watch=true&fieldSelector=metadata.name%3Da");
  ASSERT_TRUE(watch->wait_for(1));
  ASSERT_TRUE(same->wait_for(1));
  ASSERT_EQ(api().remove(maps + "/b").status, 200);
  ASSERT_EQ(api().remove(maps + "/a").status, 200);
  ASSERT_TRUE(watch->wait_for(2));
  EXPECT_EQ(news_of(*watch), (Names{"ADDED a", "DELETED a"}));
  expect_failure(api().get(maps + "/a?watch=true&fieldSelector=metadata.name%3Db"), 400, "BadRequest");
}

TEST(Paths, PATH_06_missing_objects_are_not_found) {
  for (const char* path : {"/api/v1/sofas", "/apis/apps/v1/sofas", "/api/v1/namespaces/default/sofas/x"}) {
    const Answer answer = api().get(path);
    expect_failure(answer, 404, "NotFound", "could not find the requested resource");
  }
  for (const char* path : {"/nowhere", "/api/v2", "/apis/none.example.com/v1", "/apis/apps/v9/deployments"}) {
    EXPECT_EQ(api().get(path).status, 404) << path;
  }
}

TEST(Paths, PATH_07_methods_that_a_resource_does_not_have) {
  const std::string maps = in(own_namespace(), "configmaps");
  expect_failure(api().call("PUT", maps, "{}"), 405, "MethodNotAllowed");
  expect_failure(api().call("PATCH", maps, "{}", {{"Content-Type", "application/merge-patch+json"}}), 405,
                 "MethodNotAllowed");
  expect_failure(api().call("POST", maps + "/x", "{}"), 405, "MethodNotAllowed");
  const std::string reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  expect_failure(api().get(reviews), 405, "MethodNotAllowed");
}

TEST(Paths, PATH_08_the_root_lists_paths) {
  const Names paths = texts_of(api().get("/").json["paths"]);
  for (const char* path : {"/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/openapi/v2", "/openapi/v3",
                           "/version", "/readyz"}) {
    EXPECT_TRUE(std::ranges::find(paths, path) != paths.end()) << path;
  }
}

TEST(Paths, PATH_09_forbidden_comes_before_everything_about_the_request) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, config_map("there")).status, 201);
  for (const std::string& target : {maps + "/there", maps + "/none", std::string{"/api/v1/sofas"}}) {
    EXPECT_EQ(as("nobody", "GET", target).status, 403) << target;
  }
  EXPECT_EQ(as("nobody", "PUT", maps, "{}").status, 403);                                    // not 405
  EXPECT_EQ(as("nobody", "GET", maps, {}, {{"Accept", "text/html"}}).status, 403);           // not 406
  EXPECT_EQ(as("nobody", "POST", maps, "x", {{"Content-Type", "text/plain"}}).status, 403);  // not 415
  EXPECT_EQ(as("nobody", "POST", maps, "no json").status, 403);                              // not 400
  EXPECT_EQ(as("nobody", "GET", maps + "?limit=few").status, 403);
  EXPECT_EQ(as("nobody", "DELETE", maps + "/none").status, 403);
  expect_failure(api().call("GET", maps, {}, {{"Impersonate-Group", "g"}}), 400, "BadRequest");
}

TEST(Paths, PATH_10_names_are_opaque_but_not_any_name_is_one) {
  const std::string roles = in(own_namespace(), "roles", "rbac.authorization.k8s.io/v1");
  const auto role = [](const char* name) {
    return Value::object({{"metadata", Value::object({{"name", name}})}, {"rules", Value::array()}});
  };
  ASSERT_EQ(api().post(roles, role("system:Some:Role")).status, 201);
  EXPECT_EQ(api().get(roles + "/system:Some:Role").status, 200);
  EXPECT_EQ(api().get(roles + "/system%3ASome%3ARole").status, 200);
  for (const char* name : {".", "..", "a/b", "a%b"}) {
    expect_failure(api().post(roles, role(name)), 422, "Invalid", "metadata.name");
  }
}

}  // namespace
}  // namespace shiplog::e2e
