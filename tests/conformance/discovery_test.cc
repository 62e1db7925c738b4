// Discovery, version and health (DISC-1 to DISC-15).
#include <algorithm>

#include "tests/conformance/conformance.h"

namespace shiplog::e2e {
namespace {

const std::string kAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const std::string kAggregatedBeta = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

Value resource(const std::string& group_version, const std::string& name) {
  return named(api().get(group_version).json["resources"], name);
}

TEST(Discovery, DISC_01_api_names_the_core_version) {
  const Answer answer = api().get("/api?timeout=32s");
  EXPECT_EQ(answer.json["kind"].str(), "APIVersions");
  EXPECT_EQ(answer.json["versions"], json(R"(["v1"])"));
  EXPECT_EQ(answer.json["serverAddressByClientCIDRs"][0]["clientCIDR"].str(), "0.0.0.0/0");
  EXPECT_FALSE(answer.json["serverAddressByClientCIDRs"][0]["serverAddress"].str().empty());
}

TEST(Discovery, DISC_02_apis_lists_groups_built_in_ones_first) {
  widgets_in(own_namespace());
  const Answer answer = api().get("/apis");
  EXPECT_EQ(answer.json["kind"].str(), "APIGroupList");
  EXPECT_EQ(answer.json["apiVersion"].str(), "v1");
  bool custom = false;
  for (const Value& group : answer.json["groups"].items()) {
    const std::string name = group["name"].str();
    EXPECT_FALSE(name.empty());
    EXPECT_EQ(group["preferredVersion"], group["versions"][0]) << name;
    EXPECT_EQ(group["versions"][0]["groupVersion"].str(), name + "/" + group["versions"][0]["version"].str());
    const bool builtin = name.ends_with(".k8s.io") || name.find('.') == std::string::npos;
    if (!builtin) custom = true;
    if (name == "apps" || name == "batch" || name == "rbac.authorization.k8s.io") {
      EXPECT_FALSE(custom) << name << " is listed after a custom group";
    }
  }
}

TEST(Discovery, DISC_03_one_group) {
  const Answer group = api().get("/apis/apps");
  EXPECT_EQ(group.json["kind"].str(), "APIGroup");
  EXPECT_EQ(group.json["preferredVersion"]["groupVersion"].str(), "apps/v1");
  EXPECT_EQ(api().get("/apis/sofas.example.com").status, 404);
}

TEST(Discovery, DISC_04_resources_of_a_group_version) {
  const Answer apps = api().get("/apis/apps/v1");
  EXPECT_EQ(apps.json["kind"].str(), "APIResourceList");
  EXPECT_EQ(apps.json["groupVersion"].str(), "apps/v1");
  const Value deployments = named(apps.json["resources"], "deployments");
  EXPECT_EQ(deployments["kind"].str(), "Deployment");
  EXPECT_TRUE(deployments["namespaced"].as_bool());
  EXPECT_EQ(deployments["shortNames"], json(R"(["deploy"])"));
  EXPECT_TRUE(deployments.contains("singularName"));
  EXPECT_EQ(deployments["storageVersionHash"].str(), "8aSe+NMegvE=");
  const Value scale = named(apps.json["resources"], "deployments/scale");
  EXPECT_EQ(scale["group"].str(), "autoscaling");
  EXPECT_EQ(scale["version"].str(), "v1");
  EXPECT_EQ(scale["kind"].str(), "Scale");
  const Value token = resource("/api/v1", "serviceaccounts/token");
  EXPECT_EQ(token["group"].str(), "authentication.k8s.io");
  EXPECT_EQ(token["verbs"], json(R"(["create"])"));
  EXPECT_FALSE(resource("/api/v1", "namespaces")["namespaced"].as_bool(true));
}

TEST(Discovery, DISC_05_listed_verbs_are_supported) {
  const Value maps = resource("/api/v1", "configmaps");
  EXPECT_EQ(texts_of(maps["verbs"]),
            (Names{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}));
  EXPECT_EQ(resource("/apis/authorization.k8s.io/v1", "selfsubjectaccessreviews")["verbs"], json(R"(["create"])"));
  // A ComponentStatus is computed when it is read.
  EXPECT_EQ(resource("/api/v1", "componentstatuses")["verbs"], json(R"(["get","list"])"));
  const Answer components = api().get("/api/v1/componentstatuses");
  ASSERT_FALSE(components.json["items"].items().empty()) << components;
  EXPECT_EQ(components.headers.get("Warning"), R"(299 - "v1 ComponentStatus is deprecated in v1.19+")");
  const std::string one = "/api/v1/componentstatuses/" + components.json["items"][0]["metadata"]["name"].str();
  EXPECT_EQ(named(api().get(one).json["conditions"], "Healthy", "type")["status"].str(), "True");
  EXPECT_EQ(api().remove(one).status, 405);
  EXPECT_EQ(api().get("/api/v1/componentstatuses?watch=true").status, 405);
  expect_failure(api().get("/api/v1/componentstatuses/none"), 404, "NotFound", "componentstatuses \"none\" not found");
  // Every resource with the verb list can be listed.
  Names versions{"/api/v1"};
  const Answer groups = api().get("/apis");
  for (const Value& group : groups.json["groups"].items()) {
    for (const Value& version : group["versions"].items()) {
      versions.push_back("/apis/" + version["groupVersion"].str());
    }
  }
  for (const std::string& version : versions) {
    const Answer list = api().get(version);
    for (const Value& entry : list.json["resources"].items()) {
      const Names verbs = texts_of(entry["verbs"]);
      if (std::ranges::find(verbs, "list") == verbs.end()) continue;
      const std::string path = version + "/" + entry["name"].str();
      EXPECT_EQ(api().get(path + "?limit=1").status, 200) << path;
    }
  }
}

TEST(Discovery, DISC_06_the_category_all) {
  const Names all{"/api/v1 pods",
                  "/api/v1 replicationcontrollers",
                  "/api/v1 services",
                  "/apis/apps/v1 daemonsets",
                  "/apis/apps/v1 deployments",
                  "/apis/apps/v1 replicasets",
                  "/apis/apps/v1 statefulsets",
                  "/apis/autoscaling/v2 horizontalpodautoscalers",
                  "/apis/batch/v1 jobs",
                  "/apis/batch/v1 cronjobs"};
  for (const std::string& entry : all) {
    const size_t space = entry.find(' ');
    const Names categories = texts_of(resource(entry.substr(0, space), entry.substr(space + 1))["categories"]);
    EXPECT_TRUE(std::ranges::find(categories, "all") != categories.end()) << entry;
  }
}

TEST(Discovery, DISC_07_aggregated_when_asked_for) {
  for (const char* path : {"/api", "/apis"}) {
    const Answer answer = api().get(path, kAggregated + "," + kAggregatedBeta + ",application/json");
    EXPECT_EQ(answer.json["kind"].str(), "APIGroupDiscoveryList") << path;
    EXPECT_EQ(answer.json["apiVersion"].str(), "apidiscovery.k8s.io/v2");
    EXPECT_EQ(answer.headers.get("Content-Type"), kAggregated);
  }
  const Answer core = api().get("/api", kAggregated);
  ASSERT_EQ(core.json["items"].size(), 1u);
  EXPECT_EQ(core.json["items"][0]["metadata"]["name"].str(), "");
  EXPECT_TRUE(named(api().get("/apis", kAggregated).json["items"], "apps").is_null());  // the name is in the metadata
}

TEST(Discovery, DISC_08_the_aggregated_form) {
  const Answer answer = api().get("/apis", kAggregated);
  for (const Value& group : answer.json["items"].items()) {
    if (group["metadata"]["name"].as_string() != "apps") continue;
    const Value& version = group["versions"][0];
    EXPECT_EQ(version["version"].str(), "v1");
    EXPECT_EQ(version["freshness"].str(), "Current");
    const Value deployments = named(version["resources"], "deployments", "resource");
    EXPECT_EQ(deployments["responseKind"], json(R"({"group":"apps","version":"v1","kind":"Deployment"})"));
    EXPECT_EQ(deployments["scope"].str(), "Namespaced");
    EXPECT_EQ(deployments["singularResource"].str(), "deployment");
    const Value scale = named(deployments["subresources"], "scale", "subresource");
    EXPECT_EQ(scale["responseKind"]["group"].str(), "autoscaling");
    return;
  }
  FAIL() << "no group apps in " << answer;
}

TEST(Discovery, DISC_09_only_the_version_that_was_asked_for) {
  const Answer beta = api().get("/apis", kAggregatedBeta + ",application/json");
  EXPECT_EQ(beta.json["apiVersion"].str(), "apidiscovery.k8s.io/v2beta1") << beta.headers.get("Content-Type");
  EXPECT_EQ(beta.headers.get("Content-Type"), kAggregatedBeta);
  const Answer unknown =
      api().get("/apis", "application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList,application/json");
  EXPECT_EQ(unknown.json["kind"].str(), "APIGroupList") << unknown;
  const Answer second =
      api().get("/apis", "application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList," + kAggregated);
  EXPECT_EQ(second.json["apiVersion"].str(), "apidiscovery.k8s.io/v2") << second;
}

TEST(Discovery, DISC_10_the_plain_form_has_the_same_content) {
  const Answer plain = api().get("/apis/apps/v1");
  const Answer aggregated = api().get("/apis", kAggregated);
  Names in_plain, in_aggregated;
  for (const Value& entry : plain.json["resources"].items()) {
    if (entry["name"].str().find('/') == std::string::npos) in_plain.push_back(entry["name"].str());
  }
  for (const Value& group : aggregated.json["items"].items()) {
    if (group["metadata"]["name"].as_string() != "apps") continue;
    for (const Value& entry : group["versions"][0]["resources"].items())
      in_aggregated.push_back(entry["resource"].str());
  }
  EXPECT_EQ(in_plain, in_aggregated);
}

TEST(Discovery, DISC_11_validators_spare_the_transfer) {
  for (const char* path : {"/api", "/apis"}) {
    const Answer first = api().get(path, kAggregated);
    const std::string etag{first.headers.get("ETag")};
    ASSERT_TRUE(etag.size() > 2 && etag.front() == '"') << etag;
    EXPECT_EQ(first.headers.get("Vary"), "Accept");
    EXPECT_EQ(first.headers.get("Cache-Control"), "public");
    const Answer again = api().call("GET", path, {}, {{"Accept", kAggregated}, {"If-None-Match", etag}});
    EXPECT_EQ(again.status, 304) << path;
    EXPECT_EQ(again.body, "");
  }
}

TEST(Discovery, DISC_12_every_advertised_document_is_served) {
  const Answer groups = api().get("/apis");
  for (const Value& group : groups.json["groups"].items()) {
    EXPECT_EQ(api().get("/apis/" + group["name"].str()).status, 200);
    for (const Value& version : group["versions"].items()) {
      EXPECT_EQ(api().get("/apis/" + version["groupVersion"].str()).status, 200) << version["groupVersion"].str();
    }
  }
}

TEST(Discovery, DISC_13_custom_resources_appear_and_disappear) {
  const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const Value definition = yaml(R"(
metadata: {name: fleeting.fleeting.example.com}
spec:
  group: fleeting.example.com
  scope: Cluster
  names: {plural: fleeting, kind: Fleeting}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
)");
  ASSERT_EQ(api().post(definitions, definition).status, 201);
  ASSERT_TRUE(eventually([&] {
    const Answer stored = api().get(definitions + "/fleeting.fleeting.example.com");
    const Value established = named(stored.json["status"]["conditions"], "Established", "type");
    return established["status"].as_string() == "True";
  }));
  EXPECT_EQ(resource("/apis/fleeting.example.com/v1", "fleeting")["kind"].str(), "Fleeting");
  ASSERT_EQ(api().remove(definitions + "/fleeting.fleeting.example.com").status, 200);
  EXPECT_TRUE(eventually([] { return api().get("/apis/fleeting.example.com").status == 404; }));
}

TEST(Discovery, DISC_14_the_version) {
  for (const char* path : {"/version", "/version/"}) {
    const Answer version = api().get(path);
    for (const char* key :
         {"major", "minor", "emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor",
          "gitVersion", "gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform"}) {
      EXPECT_TRUE(version.json[key].is_string()) << key;
    }
    EXPECT_TRUE(version.json["gitVersion"].str().starts_with("v" + version.json["major"].str() + "." +
                                                             version.json["minor"].str() + "."));
  }
}

TEST(Discovery, DISC_15_health_is_open_to_all) {
  for (const char* path : {"/healthz", "/livez", "/readyz"}) {
    const Answer well = as("anybody", "GET", path);
    EXPECT_EQ(well.status, 200) << path;
    EXPECT_EQ(well.body, "ok");
    EXPECT_EQ(well.headers.get("Content-Type"), "text/plain; charset=utf-8");
    const Answer more = api().get(std::string{path} + "?verbose");
    EXPECT_NE(more.body.find("[+]ping ok\n"), std::string::npos) << more;
    EXPECT_TRUE(more.body.ends_with(std::string{path + 1} + " check passed\n")) << more;
    EXPECT_EQ(api().get(std::string{path} + "?verbose&exclude=ping").body.find("[+]ping ok\n"), std::string::npos);
    EXPECT_EQ(as("anybody", "GET", std::string{path} + "/ping").body, "ok");
    EXPECT_EQ(as("anybody", "GET", std::string{path} + "/no-such-check").status, 404);
  }
}

}  // namespace
}  // namespace shiplog::e2e
