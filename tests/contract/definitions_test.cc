// The served kinds: discovery, OpenAPI, and kinds that users define (DISC-1 to DISC-15, OA-1 to OA-13 and CRD-1 to
// CRD-14).
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
    EXPECT_TRUE(std::ranges::any_of(maps["verbs"].items(), [&](const Value& item) { return item.as_string() == verb; }))
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

TEST(Definitions, AnInvalidDefinitionIsRefused) {
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

/// A definition of a cluster-scoped kind without its own schema.
Value plain_definition(const std::string& plural, const std::string& kind, const std::string& more = "{}") {
  Value definition = json(R"({"spec":{"group":"shop.example","scope":"Cluster","names":{},"versions":[
      {"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
      "x-kubernetes-preserve-unknown-fields":true}}}]}})");
  definition.edit("metadata").set("name", plural + ".shop.example");
  Value& names = definition.edit("spec").edit("names");
  names = json(more);
  names.set("plural", plural);
  names.set("kind", kind);
  return definition;
}

Value condition_of(const Value& object, std::string_view type) {
  for (const Value& condition : object["status"]["conditions"].items()) {
    if (condition["type"].as_string() == type) return condition;
  }
  return {};
}

TEST(Definitions, ADefinitionWithConflictingNamesIsServedAfterTheConflictEnds) {  // CRD-3
  ASSERT_EQ(api().post(kDefinitions, plain_definition("chairs", "Chair", R"({"shortNames":["ch"]})")).status, 201);
  const Answer second = api().post(kDefinitions, plain_definition("stools", "Chair"));
  ASSERT_EQ(second.status, 201) << second;
  EXPECT_EQ(condition_of(second.json, "NamesAccepted")["status"].str(), "False");
  EXPECT_EQ(condition_of(second.json, "NamesAccepted")["reason"].str(), "SingularConflict");
  EXPECT_EQ(condition_of(second.json, "Established")["reason"].str(), "NotAccepted");
  EXPECT_EQ(api().get("/apis/shop.example/v1/stools").status, 404);
  Value renamed = second.json;
  renamed.edit("spec").set("names",
                           json(R"({"plural":"stools","kind":"Stool","singular":"stool","listKind":"StoolList"})"));
  const Answer own = api().put(kDefinitions + "/stools.shop.example", renamed);
  ASSERT_EQ(own.status, 200) << own;
  EXPECT_EQ(condition_of(own.json, "Established")["status"].str(), "True");
  EXPECT_EQ(api().get("/apis/shop.example/v1/stools").status, 200);
  renamed = own.json;
  renamed.edit("spec").edit("names").set("shortNames", json(R"(["ch"])"));
  expect_failure(api().put(kDefinitions + "/stools.shop.example", renamed), 422, "Invalid", "is already in use by");
}

TEST(Definitions, EachVersionShowsTheSameObjects) {  // CRD-10, CRD-11
  Value definition = plain_definition("tables", "Table");
  Value second = definition["spec"]["versions"][0];
  second.set("name", "v2");
  second.set("storage", false);
  definition.edit("spec").edit("versions").push_back(second);
  ASSERT_EQ(api().post(kDefinitions, definition).status, 201);
  const std::string ones = "/apis/shop.example/v1/tables";
  const std::string twos = "/apis/shop.example/v2/tables";
  const Answer made =
      api().post(twos, json(R"({"apiVersion":"shop.example/v2","kind":"Table","metadata":{"name":"t"},"legs":4})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["apiVersion"].str(), "shop.example/v2");
  EXPECT_EQ(api().get(ones + "/t").json["apiVersion"].str(), "shop.example/v1");
  EXPECT_EQ(api().get(twos).json["items"][0]["apiVersion"].str(), "shop.example/v2");
  const Answer changed = api().patch(twos + "/t", "merge", json(R"({"legs":3})"));
  EXPECT_EQ(changed.json["apiVersion"].str(), "shop.example/v2") << changed;
  const auto watch = api().watch(twos + "?watch=true");
  ASSERT_TRUE(watch->wait_for(1));
  EXPECT_EQ(watch->events()[0]["object"]["apiVersion"].str(), "shop.example/v2");

  Value defined = api().get(kDefinitions + "/tables.shop.example").json;
  defined.edit("spec").edit("versions").edit_items()[1].set("served", false);
  ASSERT_EQ(api().put(kDefinitions + "/tables.shop.example", defined).status, 200);
  EXPECT_EQ(api().get(twos).status, 404);
  EXPECT_TRUE(eventually([&] { return watch->ended(); }));
  EXPECT_EQ(api().get(ones + "/t").status, 200);
}

TEST(Definitions, ADeletedDefinitionWaitsForObjectsWithFinalizers) {  // CRD-13
  ASSERT_EQ(api().post(kDefinitions, plain_definition("beds", "Bed")).status, 201);
  const std::string beds = "/apis/shop.example/v1/beds";
  ASSERT_EQ(api().post(beds, json(R"({"metadata":{"name":"free"}})")).status, 201);
  ASSERT_EQ(api().post(beds, json(R"({"metadata":{"name":"held","finalizers":["example.com/mine"]}})")).status, 201);
  const Answer removed = api().remove(kDefinitions + "/beds.shop.example");
  ASSERT_EQ(removed.status, 200) << removed;
  const Value going = api().get(kDefinitions + "/beds.shop.example").json;
  EXPECT_EQ(condition_of(going, "Terminating")["reason"].str(), "InstanceDeletionInProgress");
  EXPECT_FALSE(going["metadata"]["deletionTimestamp"].is_empty());
  EXPECT_EQ(api().get(beds + "/free").status, 404);
  expect_failure(api().post(beds, json(R"({"metadata":{"name":"late"}})")), 405, "MethodNotAllowed", "terminating");
  ASSERT_EQ(api().patch(beds + "/held", "merge", json(R"({"metadata":{"finalizers":null}})")).status, 200);
  EXPECT_TRUE(eventually([&] { return api().get(beds).status == 404; }));
  EXPECT_EQ(api().get(kDefinitions + "/beds.shop.example").status, 404);
}

}  // namespace
}  // namespace shiplog::e2e
