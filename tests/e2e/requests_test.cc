// The event-producer API over HTTP, with a real shiplogd and an embedded journal.
#include <filesystem>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kRequests = "/shiplog/v1/requests";
const std::string kResults = kRequests + "/results";

std::string config_map(const std::string& id, const std::string& name, const std::string& more = "") {
  return R"({"id":")" + id + R"(","verb":"create",)" + more +
         R"("manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
         R"(","namespace":"default"},"data":{}}})";
}

/// The lines of an answer, by id.
std::map<std::string, Value> by_id(const Answer& answer) {
  std::map<std::string, Value> results;
  std::istringstream lines{answer.body};
  for (std::string line; std::getline(lines, line);) {
    const Value result = json(line);
    EXPECT_FALSE(results.contains(result["id"].str())) << "answered twice: " << line;
    results[result["id"].str()] = result;
  }
  return results;
}

class Requests : public ::testing::Test {
 protected:
  void SetUp() override {
    fleet_.serve();
    api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  }
  Answer post(const std::string& body, const HttpHeaders& headers = {}) const {
    return api_->call("POST", kRequests + "?wait=true", body, headers);
  }
  static HttpHeaders as(const std::string& user) { return {{"Impersonate-User", user}}; }
  std::string token(const std::string& account) {
    std::string made = fleet_.kubectl_ok({"create", "token", account});
    while (!made.empty() && made.back() == '\n') made.pop_back();
    return made;
  }

  Fleet fleet_;
  std::unique_ptr<ApiClient> api_;
};

TEST_F(Requests, ABatchIsCarriedOutOnceInOrderAndAnsweredById) {
  const std::string scale =
      R"("object":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"default","name":"web"}})";
  const std::string batch =
      R"({"id":"deploy","verb":"apply","manifest":{"apiVersion":"apps/v1","kind":"Deployment",)"
      R"("metadata":{"name":"web","namespace":"default"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},)"
      R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}})"
      "\n"
      R"({"id":"scale","verb":"scale","replicas":5,)" +
      scale + "\n" + R"({"id":"patch","verb":"patch","manifest":{"metadata":{"labels":{"x":"y"}}},)" + scale + "\n" +
      R"({"id":"gone","verb":"delete","object":{"apiVersion":"v1","kind":"ConfigMap","namespace":"default","name":"no"}})" +
      "\nnonsense\n" + config_map("made", "c1") + "\n";
  const Answer answer = post(batch);
  ASSERT_EQ(answer.status, 200) << answer;
  auto results = by_id(answer);
  ASSERT_EQ(results.size(), 6u) << answer.body;
  EXPECT_EQ(results["deploy"]["code"].as_int(), 201) << answer.body;
  EXPECT_EQ(results["scale"]["code"].as_int(), 200) << answer.body;
  EXPECT_EQ(results["patch"]["outcome"].str(), "applied") << answer.body;
  EXPECT_EQ(results["gone"]["code"].as_int(), 404) << answer.body;
  EXPECT_EQ(results["gone"]["reason"].str(), "NotFound") << answer.body;
  EXPECT_EQ(results[""]["outcome"].str(), "invalid") << answer.body;
  const Value web = api_->get("/apis/apps/v1/namespaces/default/deployments/web").json;
  EXPECT_EQ(web["spec"]["replicas"].as_int(), 5);
  EXPECT_EQ(web["metadata"]["labels"]["x"].str(), "y");
  EXPECT_EQ(results["patch"]["uid"], web["metadata"]["uid"]);
  EXPECT_EQ(results["patch"]["resourceVersion"], web["metadata"]["resourceVersion"]);

  const auto again = by_id(post(batch));
  EXPECT_TRUE(again.at("scale")["duplicate"].as_bool()) << "it is the answer of the first time";
  EXPECT_EQ(again.at("scale")["resourceVersion"], results["scale"]["resourceVersion"]);
  EXPECT_EQ(api_->get("/apis/apps/v1/namespaces/default/deployments/web").json, web);
}

// What was carried out is known as long as the audit trail is, on any server.
TEST_F(Requests, ResultsSurviveTheProcess) {
  const Answer accepted =
      api_->call("POST", kRequests, "[" + config_map("r1", "c1") + "," + config_map("r2", "c2") + "]");
  ASSERT_EQ(accepted.status, 202) << accepted;
  EXPECT_EQ(accepted.json["accepted"], Value::array({"r1", "r2"}));
  const std::string ids = kResults + "?id=r1&id=r2&timeout=30s";
  const Answer first = api_->get(ids);
  ASSERT_EQ(first.json["results"].size(), 2u) << first;
  EXPECT_EQ(first.json["pending"].size(), 0u) << first;
  fleet_.kill("plane");
  fleet_.serve();
  const ApiClient after{fleet_.kubeconfig("plane")};
  const Answer recalled = after.get(ids + "&id=r3");
  ASSERT_EQ(recalled.json["results"].size(), 3u) << recalled;
  const auto result = [](const Answer& answer, const std::string& id) {
    for (const Value& one : answer.json["results"].items()) {
      if (one["id"].as_string() == id) return one;
    }
    return Value{};
  };
  for (const char* id : {"r1", "r2"}) {
    EXPECT_EQ(result(recalled, id)["code"].as_int(), 201) << recalled;
    EXPECT_EQ(result(recalled, id)["uid"], result(first, id)["uid"]) << recalled;
  }
  EXPECT_EQ(result(recalled, "r3")["outcome"].str(), "unknown") << recalled;
}

TEST_F(Requests, RightsAreThoseOfTheRequesterAndResultsAreItsOwn) {
  fleet_.kubectl_ok({"create", "serviceaccount", "guest"});
  fleet_.kubectl_ok({"create", "rolebinding", "guest", "--clusterrole=view", "--serviceaccount=default:guest"});
  const std::string guest = token("guest");
  // The administrator sends it, and the token decides.
  auto by_token = by_id(post(config_map("by-token", "c1", R"("token":")" + guest + "\",")));
  EXPECT_EQ(by_token["by-token"]["code"].as_int(), 403);
  EXPECT_EQ(by_token["by-token"]["reason"].str(), "Forbidden");
  EXPECT_EQ(by_id(post(config_map("bad-token", "c1", R"("token":"x",)")))["bad-token"]["code"].as_int(), 401);
  // A user without rights may call, and is refused what it requests.
  const HttpHeaders ann = {{"Impersonate-User", "ann"}, {"Impersonate-Group", "system:authenticated"}};
  EXPECT_EQ(by_id(post(config_map("own", "c1"), ann))["own"]["code"].as_int(), 403);
  EXPECT_EQ(post(config_map("own", "c1"), as("system:anonymous")).status, 403) << "not authenticated";
  EXPECT_EQ(api_->get("/api/v1/namespaces/default/configmaps/c1").status, 404);

  ASSERT_EQ(by_id(post(config_map("mine", "c2")))["mine"]["code"].as_int(), 201);
  const Answer foreign = api_->call("GET", kResults + "?id=mine&id=own&timeout=0s", "", ann);
  EXPECT_EQ(foreign.json["results"][0]["outcome"].str(), "unknown") << foreign;
  EXPECT_EQ(foreign.json["results"][1]["code"].as_int(), 403) << foreign;
  EXPECT_EQ(by_id(post(config_map("mine", "c3"), ann))["mine"]["code"].as_int(), 403) << "its own id, not a duplicate";
}

TEST_F(Requests, GarbageIsRefusedByNameAndHugeCallsWhole) {
  const Answer garbage = post("garbage");
  EXPECT_EQ(garbage.status, 400) << garbage;
  EXPECT_NE(garbage.message().find("JSON"), std::string::npos) << garbage;
  EXPECT_EQ(post("").status, 400);
  EXPECT_EQ(post(R"({"id":"1","verb":"frobnicate"})").status, 400);
  EXPECT_EQ(api_->call("GET", kRequests).status, 405);
  EXPECT_EQ(api_->call("DELETE", kResults).status, 405);
  EXPECT_EQ(api_->call("GET", kRequests + "/nothing").status, 404);
  std::string many;
  for (int number = 0; number <= 1000; ++number) many += config_map("r" + std::to_string(number), "c") + "\n";
  EXPECT_EQ(post(many).status, 413);
  EXPECT_EQ(post(std::string(4 << 20, 'x')).status, 413);
  // Nothing of all that was carried out, and the server goes on.
  EXPECT_EQ(api_->get("/api/v1/namespaces/default/configmaps/c").status, 404);
  EXPECT_EQ(by_id(post(config_map("after", "after")))["after"]["code"].as_int(), 201);
}

TEST_F(Requests, ShiplogctlProducesAFolderAndPrintsResults) {
  std::filesystem::create_directories(fleet_.path("manifests"));
  write_file(fleet_.path("manifests/1.yaml"),
             "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\n"
             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n");
  const std::vector<std::string> words = {"produce", "-n", "shop", "--wait", "--id=run1", "-f"};
  auto with = [&](const std::string& file) {
    auto all = words;
    all.push_back(file);
    return fleet_.shiplogctl(all);
  };
  write_file(fleet_.path("namespace.yaml"), "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n");
  const Ran cluster_scoped = with(fleet_.path("namespace.yaml"));
  EXPECT_TRUE(cluster_scoped.ok()) << cluster_scoped << "as kubectl, which ignores -n there";
  EXPECT_TRUE(fleet_.shiplogctl({"produce", "--wait", "-f", fleet_.path("namespace.yaml")}).ok());
  write_file(fleet_.path("list.yaml"),
             "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: listed}}\n");
  const Ran of_context = fleet_.shiplogctl({"produce", "--wait", "-f", fleet_.path("list.yaml")});
  EXPECT_EQ(of_context.out, "ConfigMap default/listed applied\n") << of_context;
  write_file(fleet_.path("manifests/1.yaml"),
             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n");
  const Ran produced =
      fleet_.shiplogctl({"produce", "-n", "shop", "--wait", "--id=run2", "-f", fleet_.path("manifests")});
  EXPECT_TRUE(produced.ok()) << produced;
  EXPECT_EQ(produced.out, "ConfigMap shop/settings applied\n");
  const Ran again = fleet_.shiplogctl({"produce", "-n", "shop", "--wait", "--id=run2", "-f", fleet_.path("manifests")});
  EXPECT_EQ(again.out, "ConfigMap shop/settings applied before\n");
  EXPECT_EQ(fleet_.kubectl_ok({"get", "configmap", "settings", "-n", "shop", "-o", "jsonpath={.data.a}"}), "b");
}

}  // namespace
}  // namespace shiplog::e2e
