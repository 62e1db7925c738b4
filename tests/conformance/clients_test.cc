// Sequences of requests that real clients send (CLI-1 to CLI-7).
#include "tests/conformance/conformance.h"

namespace shiplog::e2e {
namespace {

TEST(Clients, CLI_01_an_informer_lists_and_watches) {
  const std::string maps = in(own_namespace(), "configmaps");
  for (const char* name : {"a", "b", "c"}) ASSERT_EQ(api().post(maps, config_map(name)).status, 201);
  const Answer list = api().get(maps + "?limit=500&resourceVersion=0");
  EXPECT_EQ(names_of(list).size(), 3u);
  const auto watch = api().watch(maps + "?allowWatchBookmarks=true&resourceVersion=" + version_of(list) +
                                 "&timeoutSeconds=343&watch=true");
  ASSERT_EQ(api().remove(maps + "/b").status, 200);
  ASSERT_TRUE(watch->wait_for(1));
  EXPECT_EQ(news_of(*watch), Names{"DELETED b"});
  const auto resumed = api().watch(maps + "?watch=true&resourceVersion=" + version_of(list));
  ASSERT_TRUE(resumed->wait_for(1));
  EXPECT_EQ(news_of(*resumed), Names{"DELETED b"});
}

TEST(Clients, CLI_02_dynamic_clients_need_the_kind_of_every_item) {
  const std::string ns = own_namespace();
  const std::string widgets = widgets_in(ns);
  ASSERT_EQ(api().post(widgets, widget("w")).status, 201);
  ASSERT_EQ(api().post(in(ns, "configmaps"), config_map("a")).status, 201);
  for (const std::string& path : {widgets, in(ns, "configmaps")}) {
    const Answer list = api().get(path);
    EXPECT_FALSE(list.json["items"][0]["kind"].str().empty()) << list;
    EXPECT_FALSE(list.json["items"][0]["apiVersion"].str().empty());
  }
  const Answer removed = remove_with(
      widgets + "/w",
      R"({"kind":"DeleteOptions","apiVersion":"conformance.example.com/v1","propagationPolicy":"Background"})");
  EXPECT_EQ(removed.status, 200) << removed;
}

TEST(Clients, CLI_03_controller_runtime_mixes_protobuf_and_json) {
  const std::string ns = own_namespace();
  const std::string deployments = in(ns, "deployments", "apps/v1");
  ASSERT_EQ(send_protobuf("POST", deployments, deployment("web")).status, 201);
  const Answer read = api().get(deployments + "/web", "application/vnd.kubernetes.protobuf, */*");
  EXPECT_EQ(read.headers.get("Content-Type"), "application/json");
  Value status = read.json;
  status.set("status", json(R"({"replicas":1,"observedGeneration":1})"));
  const Answer put = send_protobuf("PUT", deployments + "/web/status", status);
  ASSERT_EQ(put.status, 200) << put;
  EXPECT_EQ(put.json["status"]["observedGeneration"].as_int(), 1);
  widgets_in(ns);
  EXPECT_FALSE(named(api().get("/apis/conformance.example.com/v1").json["resources"], "widgets").is_null());
}

TEST(Clients, CLI_04_python_sends_types_without_bodies_and_times_with_offsets) {
  const std::string ns = own_namespace();
  const std::string maps = in(ns, "configmaps");
  const HttpHeaders python{{"Accept", "application/json"},
                           {"Content-Type", "application/json"},
                           {"User-Agent", "OpenAPI-Generator/22.6.0/python"}};
  const Answer made = api().call("POST", maps, R"({"metadata": {"name": "a"}, "data": {"k": "v"}})", python);
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(api().call("GET", maps, {}, python).status, 200);
  HttpHeaders patch = python;
  patch.set("Content-Type", "application/strategic-merge-patch+json");
  EXPECT_EQ(api().call("PATCH", maps + "/a", R"({"data": {"l": "w"}})", patch).status, 200);
  patch.set("Content-Type", "application/json-patch+json");
  EXPECT_EQ(api().call("PATCH", maps + "/a", R"([{"op": "add", "path": "/data/m", "value": "x"}])", patch).status, 200);
  const auto watch = api().watch(maps + "?watch=True");
  EXPECT_TRUE(watch->wait_for(1));
  EXPECT_EQ(api().call("DELETE", maps + "/a", {}, python).json["status"].str(), "Success");
  EXPECT_EQ(api().call("GET", "/version/", {}, python).status, 200);
}

TEST(Clients, CLI_05_client_node_lists_and_watches_anything) {
  const std::string maps = in(own_namespace(), "configmaps");
  const HttpHeaders node{{"Accept", "application/json, */*;q=0.8"}};
  const Answer list = api().call("GET", maps, {}, node);
  const auto watch = api().watch(maps + "?watch=true&resourceVersion=" + version_of(list), "*/*");
  ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
  ASSERT_TRUE(watch->wait_for(1));
  EXPECT_EQ(news_of(*watch), Names{"ADDED a"});
  Value sent = api().get(maps + "/a").json;
  std::string created = sent["metadata"]["creationTimestamp"].str();
  created.insert(created.size() - 1, ".000");
  sent.edit("metadata").set("creationTimestamp", created);
  sent.set("data", json(R"({"k":"v"})"));
  EXPECT_EQ(api().put(maps + "/a", sent).status, 200);
}

TEST(Clients, CLI_07_three_way_merges_and_their_conflicts) {
  const std::string deployments = in(own_namespace(), "deployments", "apps/v1");
  ASSERT_EQ(api().post(deployments, deployment("web")).status, 201);
  const Answer merged =
      api().patch(deployments + "/web", "strategic-merge",
                  json(R"({"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"main"}],
               "containers":[{"name":"main","$setElementOrder/env":[{"name":"B"}],
               "env":[{"name":"B","value":"2"},{"name":"A","$patch":"delete"}]}]}}}})"));
  ASSERT_EQ(merged.status, 200) << merged;
  EXPECT_EQ(merged.json["spec"]["template"]["spec"]["containers"][0]["env"], json(R"([{"name":"B","value":"2"}])"));
}

TEST(Clients, CLI_07_empty_values_change_nothing) {
  const std::string ns = own_namespace();
  const std::string deployments = in(ns, "deployments", "apps/v1");
  const Answer made = api().post(deployments, deployment("web"));
  ASSERT_EQ(made.status, 201);
  // Sent by kubectl diff for an object that was not applied before, and by charts with empty values.
  for (
      const char* patch :
      {R"({"metadata":{"annotations":{},"labels":{},"finalizers":[],"ownerReferences":[]}})",
       R"({"spec":{"paused":false,"minReadySeconds":0}})",
       R"({"spec":{"template":{"spec":{"volumes":[],"nodeSelector":{},"hostNetwork":false,"serviceAccountName":""}}}})"}) {
    for (const char* how : {"strategic-merge", "merge"}) {
      const Answer same = api().patch(deployments + "/web", how, json(patch));
      ASSERT_EQ(same.status, 200) << same;
      EXPECT_EQ(same.json["metadata"]["resourceVersion"], made.json["metadata"]["resourceVersion"]) << patch;
      EXPECT_FALSE(same.json["metadata"].contains("annotations")) << same;
    }
  }
  // A zero with a meaning is kept.
  const Answer none = api().patch(deployments + "/web", "merge", json(R"({"spec":{"replicas":0}})"));
  EXPECT_TRUE(none.json["spec"].contains("replicas")) << none;
  const Answer map = api().post(in(ns, "configmaps"), config_map("texts", R"({"empty":""})"));
  EXPECT_TRUE(map.json["data"].contains("empty")) << map;

  const auto kubectl = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"kubectl", "--namespace", ns, "--cache-dir", plane().path("kubectl-cache")});
    return run(arguments, {{"KUBECONFIG", plane().kubeconfig("plane")}}, to_json(deployment("own")), kPatience);
  };
  const Ran created = kubectl({"create", "-f", "-"});
  ASSERT_TRUE(created.ok()) << created << "\n(./dev test installs a kubectl that is missing)";
  const Ran same = kubectl({"diff", "-f", "-"});
  EXPECT_TRUE(same.ok()) << same;
  EXPECT_EQ(same.out, "");
}

}  // namespace
}  // namespace shiplog::e2e
