// Which kinds there are: discovery, OpenAPI, and kinds that users define (kubernetes-api sections 5, 6 and 17).
#include <algorithm>

#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

const std::string kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

Value find_named(const Value& list, const std::string& name) {
  for (const Value& item : list.items()) {
    if (item["name"].as_string() == name) return item;
  }
  return {};
}

TEST(Definitions, DiscoveryNamesEveryKindWithItsVerbs) {
  EXPECT_EQ(api().get("/api").json["versions"], json(R"(["v1"])"));
  const Value core = api().get("/api/v1").json;
  EXPECT_EQ(core["kind"].str(), "APIResourceList");
  const Value maps = find_named(core["resources"], "configmaps");
  EXPECT_EQ(maps["kind"].str(), "ConfigMap");
  EXPECT_EQ(maps["shortNames"], json(R"(["cm"])"));
  for (const char* verb : {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}) {
    EXPECT_TRUE(std::ranges::any_of(maps["verbs"].items(), [&](const Value& one) { return one.as_string() == verb; }))
        << verb;
  }
  const Value apps = api().get("/apis/apps/v1").json;
  EXPECT_FALSE(find_named(apps["resources"], "deployments/scale").is_null());
  const Value groups = api().get("/apis").json["groups"];
  for (const char* group : {"apps", "batch", "rbac.authorization.k8s.io", "apiextensions.k8s.io", "cluster.karmada.io",
                            "policy.karmada.io", "work.karmada.io"}) {
    EXPECT_FALSE(find_named(groups, group).is_null()) << group;
  }
  EXPECT_EQ(api().get("/version").json["major"].str(), "1");
  EXPECT_EQ(api().get("/openapi/v3").status, 200);
  for (const char* path : {"/healthz", "/readyz", "/livez"}) EXPECT_EQ(api().get(path).body, "ok") << path;
  EXPECT_NE(api().get("/metrics", "*/*").body.find("# TYPE shiplog_revision gauge"), std::string::npos);
}

TEST(Definitions, AKindThatAUserDefinesIsServedLikeAnyOther) {  // CRD-1 to CRD-8, CRD-12 to CRD-14
  const Value definition =
      json(R"({"metadata":{"name":"sofas.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
      "names":{"plural":"sofas","singular":"sofa","kind":"Sofa","shortNames":["so"]},
      "versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
        "additionalPrinterColumns":[{"name":"Seats","type":"integer","jsonPath":".spec.seats"}],
        "schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","required":["seats"],"properties":{
          "seats":{"type":"integer","minimum":1},"colour":{"type":"string","default":"red"}}},
          "status":{"type":"object","properties":{"used":{"type":"boolean"}}}}}}}]}})");
  const std::string sofas = "/apis/example.com/v1/namespaces/default/sofas";
  EXPECT_EQ(api().get(sofas).status, 404);
  const Answer made = api().post(kDefinitions, definition);
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_TRUE(eventually([] {
    const Answer defined = api().get(kDefinitions + "/sofas.example.com");
    return std::ranges::any_of(defined.json["status"]["conditions"].items(), [](const Value& condition) {
      return condition["type"].as_string() == "Established" && condition["status"].as_string() == "True";
    });
  })) << api().get(kDefinitions + "/sofas.example.com");
  EXPECT_EQ(find_named(api().get("/apis/example.com/v1").json["resources"], "sofas")["kind"].str(), "Sofa");

  const Answer sofa = api().post(sofas, json(R"({"apiVersion":"example.com/v1","kind":"Sofa","metadata":{"name":"one"},
      "spec":{"seats":3,"wheels":4},"status":{"used":true}})"));
  ASSERT_EQ(sofa.status, 201) << sofa;
  EXPECT_EQ(sofa.json["spec"], json(R"({"colour":"red","seats":3})"));
  EXPECT_FALSE(sofa.json.contains("status")) << sofa;
  EXPECT_EQ(sofa.headers.get("Warning"), R"(299 - "unknown field \"spec.wheels\"")");
  expect_failure(
      api().post(sofas,
                 json(R"({"apiVersion":"example.com/v1","kind":"Sofa","metadata":{"name":"two"},"spec":{"seats":0}})")),
      422, "Invalid", "spec.seats");
  expect_failure(
      api().post(sofas, json(R"({"apiVersion":"example.com/v1","kind":"Sofa","metadata":{"name":"two"},"spec":{}})")),
      422, "Invalid", "spec.seats");
  EXPECT_EQ(
      api().patch(sofas + "/one/status", "merge", json(R"({"status":{"used":true}})")).json["status"]["used"].as_bool(),
      true);
  const Answer table = api().get(sofas, "application/json;as=Table;v=v1;g=meta.k8s.io");
  EXPECT_EQ(table.json["columnDefinitions"][1]["name"].str(), "Seats") << table;
  EXPECT_EQ(table.json["rows"][0]["cells"][1].as_int(), 3);
  EXPECT_NE(plane().kubectl_ok({"get", "so"}).find("one"), std::string::npos);

  EXPECT_EQ(api().remove(kDefinitions + "/sofas.example.com").status, 200);
  EXPECT_TRUE(eventually([&] { return api().get(kDefinitions + "/sofas.example.com").status == 404; }))
      << api().get(kDefinitions + "/sofas.example.com");
  EXPECT_EQ(api().get(sofas).status, 404);
}

TEST(Definitions, ADefinitionThatIsNoneIsRefused) {
  expect_failure(
      api().post(kDefinitions, json(R"({"metadata":{"name":"wrong"},"spec":{"group":"example.com","scope":"Namespaced",
      "names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,
      "schema":{"openAPIV3Schema":{"type":"object"}}}]}})")),
      422, "Invalid", "metadata.name");
  expect_failure(
      api().post(kDefinitions, json(R"({"metadata":{"name":"things.example.com"},"spec":{"group":"example.com",
      "scope":"Namespaced","names":{"plural":"things","kind":"Thing"},"versions":[]}})")),
      422, "Invalid", "spec.versions");
}

}  // namespace
}  // namespace shiplog::e2e
