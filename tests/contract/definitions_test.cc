// The served kinds: discovery, OpenAPI, and kinds that users define (DISC-1 to DISC-15, OA-1 to OA-13 and CRD-1 to
// CRD-14).
#include <algorithm>

#include "events/base/json.h"
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
  EXPECT_EQ(condition_of(second.json, "NamesAccepted")["reason"].str(), "ListKindConflict");
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
  const Answer taken = api().put(kDefinitions + "/stools.shop.example", renamed);
  ASSERT_EQ(taken.status, 200) << taken;
  EXPECT_EQ(condition_of(taken.json, "NamesAccepted")["message"].str(),
            "\"ch\" is already in use by chairs.shop.example");
  const auto short_names = [] {
    return find_named(api().get("/apis/shop.example/v1").json["resources"], "stools")["shortNames"];
  };
  EXPECT_EQ(short_names(), Value{}) << "what is served keeps its names";
  ASSERT_EQ(api().post(kDefinitions, plain_definition("thrones", "Chair")).status, 201);
  EXPECT_EQ(api().get("/apis/shop.example/v1/thrones").status, 404);

  ASSERT_EQ(api().remove(kDefinitions + "/chairs.shop.example").status, 200);
  EXPECT_TRUE(eventually([] { return api().get("/apis/shop.example/v1/thrones").status == 200; }));
  const Value throne = api().get(kDefinitions + "/thrones.shop.example").json;
  EXPECT_EQ(condition_of(throne, "NamesAccepted")["status"].str(), "True");
  EXPECT_EQ(condition_of(throne, "Established")["status"].str(), "True");
  EXPECT_TRUE(eventually([&] { return short_names() == json(R"(["ch"])"); }));
}

TEST(Definitions, AnInvalidBundleMayBeMendedLater) {  // CRD-2
  Value definition = plain_definition("rugs", "Rug");
  definition.edit("spec").set("conversion", json(R"({"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],
      "clientConfig":{"caBundle":"Cg==","service":{"namespace":"default","name":"convert"}}}})"));
  const Answer made = api().post(kDefinitions, definition);
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(condition_of(made.json, "NamesAccepted")["status"].str(), "True");
  EXPECT_EQ(condition_of(made.json, "Established")["reason"].str(), "InvalidCABundle");
  EXPECT_EQ(api().get("/apis/shop.example/v1/rugs").status, 404);
  const auto set_bundle = [](const std::string& bundle) {
    return api().patch(kDefinitions + "/rugs.shop.example", "merge",
                       json(R"({"spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":")" + bundle + "\"}}}}}"));
  };
  const Answer mended = set_bundle("LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==");
  ASSERT_EQ(mended.status, 200) << mended;
  EXPECT_EQ(condition_of(mended.json, "Established")["status"].str(), "True");
  EXPECT_EQ(api().get("/apis/shop.example/v1/rugs").status, 200);
  expect_failure(set_bundle("Cg=="), 422, "Invalid",
                 "spec.conversion.webhook.clientConfig.caBundle: Invalid value: \"<caBundle>\": unable to load root "
                 "certificates");
}

TEST(Definitions, AWriteOfTheStatusChangesNothingThatControllersOwn) {  // CRD-2
  const Answer made = api().post(kDefinitions, plain_definition("lofts", "Loft"));
  ASSERT_EQ(made.status, 201) << made;
  const Answer written = api().patch(kDefinitions + "/lofts.shop.example/status", "merge",
                                     json(R"({"status":{"acceptedNames":{"plural":"lofts","kind":"Other"},"conditions":[
                      {"type":"Established","status":"False"},{"type":"Mine","status":"True"}]}})"));
  ASSERT_EQ(written.status, 200) << written;
  EXPECT_EQ(condition_of(written.json, "Mine")["status"].str(), "True");
  for (const char* type : {"NamesAccepted", "Established"}) {
    EXPECT_EQ(condition_of(written.json, type), condition_of(made.json, type)) << type;
  }
  EXPECT_EQ(written.json["status"]["acceptedNames"], made.json["status"]["acceptedNames"]);
  EXPECT_EQ(api().get("/apis/shop.example/v1/lofts").status, 200);
}

TEST(Definitions, AnotherKindInTheBodyIsInvalid) {  // META-11
  ASSERT_EQ(api().post(kDefinitions, plain_definition("shelves", "Shelf")).status, 201);
  expect_failure(api().post("/apis/shop.example/v1/shelves",
                            json(R"({"apiVersion":"shop.example/v1","kind":"Bad","metadata":{"name":"foo"}})")),
                 422, "Invalid", R"(Bad.shop.example "foo" is invalid: kind: Invalid value: "Bad": must be Shelf)");
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

TEST(Definitions, ADefinitionThatServesNoVersionKeepsItsObjects) {  // CRD-11
  ASSERT_EQ(api().post(kDefinitions, plain_definition("looms", "Loom")).status, 201);
  const std::string looms = "/apis/shop.example/v1/looms";
  ASSERT_EQ(api().post(looms, json(R"({"metadata":{"name":"old"},"threads":7})")).status, 201);
  const auto serve = [](bool served) {
    Value definition = api().get(kDefinitions + "/looms.shop.example").json;
    definition.edit("spec").edit("versions").edit_items()[0].set("served", served);
    return api().put(kDefinitions + "/looms.shop.example", definition).status;
  };
  ASSERT_EQ(serve(false), 200);
  EXPECT_EQ(api().get(looms).status, 404);
  EXPECT_EQ(api().post(looms, json(R"({"metadata":{"name":"new"}})")).status, 404);
  EXPECT_EQ(find_named(api().get("/apis/shop.example/v1").json["resources"], "looms"), Value{});
  ASSERT_EQ(serve(true), 200);
  EXPECT_EQ(api().get(looms + "/old").json["threads"].as_int(), 7);
  ASSERT_EQ(serve(false), 200);
  EXPECT_EQ(api().remove(kDefinitions + "/looms.shop.example").status, 200);
  EXPECT_TRUE(eventually([] { return api().get(kDefinitions + "/looms.shop.example").status == 404; }))
      << "its objects are deleted all the same";
}

TEST(Definitions, UnknownMetadataOfEmbeddedResourcesIsReported) {  // CRD-7, CRU-6
  Value definition = plain_definition("crates", "Crate");
  definition.edit("spec")
      .edit("versions")
      .edit_items()[0]
      .edit("schema")
      .set("openAPIV3Schema", json(R"({"type":"object","properties":{"spec":{"type":"object","properties":{"t":{
          "type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}}}})"));
  ASSERT_EQ(api().post(kDefinitions, definition).status, 201);
  const std::string crates = "/apis/shop.example/v1/crates";
  const Value crate = json(R"({"apiVersion":"shop.example/v1","kind":"Crate","metadata":{"name":"c"},"spec":{"t":{
      "apiVersion":"v1","kind":"Pod","metadata":{"name":"p","unk":1},"any":2}}})");
  expect_failure(api().post(crates + "?fieldValidation=Strict", crate), 400, "BadRequest",
                 R"(unknown field "spec.t.metadata.unk")");
  const Answer applied = api().call("PATCH", crates + "/c?fieldManager=m", to_json(crate),
                                    {{"Content-Type", "application/apply-patch+yaml"}});
  expect_failure(applied, 400, "BadRequest", ".spec.t.metadata.unk: field not declared in schema");
  const Answer made = api().post(crates, crate);
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["spec"]["t"], json(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"any":2})"));
  Value wrong = crate;
  wrong.edit("metadata").set("name", "wrong");
  wrong.edit("spec").edit("t").set("kind", "%");
  expect_failure(api().post(crates, wrong), 422, "Invalid", "spec.t.kind");
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
  const std::string late = R"({"apiVersion":"shop.example/v1","kind":"Bed","metadata":{"name":"late"}})";
  const std::string refusal =
      "beds.shop.example \"late\" is forbidden: create not allowed while custom resource definition is terminating";
  expect_failure(api().post(beds, json(late)), 403, "Forbidden", refusal);
  const Answer applied =
      api().call("PATCH", beds + "/late?fieldManager=m", late, {{"Content-Type", "application/apply-patch+yaml"}});
  expect_failure(applied, 403, "Forbidden", refusal);
  ASSERT_EQ(api().patch(beds + "/held", "merge", json(R"({"metadata":{"finalizers":null}})")).status, 200);
  EXPECT_TRUE(eventually([&] { return api().get(beds).status == 404; }));
  EXPECT_EQ(api().get(kDefinitions + "/beds.shop.example").status, 404);
}

/// A definition of a namespaced kind with two versions: v1, which is stored, and v1beta1, which is deprecated.
Value lamps() {
  return json(R"({"metadata":{"name":"lamps.light.example"},"spec":{"group":"light.example","scope":"Namespaced",
      "names":{"plural":"lamps","kind":"Lamp"},"versions":[
      {"name":"v1","served":true,"storage":true,"selectableFields":[{"jsonPath":".spec.color"},{"jsonPath":".spec.watts"}],
       "subresources":{"status":{},"scale":{"specReplicasPath":".spec.bulbs","statusReplicasPath":".status.bulbs"}},
       "schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
         "color":{"type":"string","default":"white"},"watts":{"type":"integer"},"bulbs":{"type":"integer","maximum":3}}}}}}},
      {"name":"v1beta1","served":true,"storage":false,"deprecated":true,
       "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},
      {"name":"v1alpha1","served":true,"storage":false,"deprecated":true,"deprecationWarning":"this is \"old\"",
       "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})");
}

Value lamp(const std::string& name, const std::string& spec) {
  return json(R"({"apiVersion":"light.example/v1","kind":"Lamp","metadata":{"name":")" + name + R"("},"spec":)" + spec +
              "}");
}

/// Lamps that are served within its scope.
class Lamps {
 public:
  Lamps() {
    const Answer made = api().post(kDefinitions, lamps());
    EXPECT_EQ(made.status, 201) << made;
  }
  ~Lamps() {
    const std::string definition = kDefinitions + "/lamps.light.example";
    EXPECT_EQ(api().remove(definition).status, 200);
    EXPECT_TRUE(eventually([&] { return api().get(definition).status == 404; }));
  }
  Lamps(const Lamps&) = delete;
  Lamps& operator=(const Lamps&) = delete;

  const std::string path = "/apis/light.example/v1/namespaces/default/lamps";
};

TEST(Definitions, SelectableFieldsSelectObjects) {  // CRD-16
  const Lamps lamps;
  ASSERT_EQ(api().post(lamps.path, lamp("red", R"({"color":"red","watts":40})")).status, 201);
  ASSERT_EQ(api().post(lamps.path, lamp("plain", R"({"watts":60})")).status, 201);
  const auto names = [&](const std::string& selector) {
    const Answer list = api().get(lamps.path + "?fieldSelector=" + selector);
    EXPECT_EQ(list.status, 200) << list;
    std::string found;
    for (const Value& item : list.json["items"].items()) found += item["metadata"]["name"].str() + " ";
    return found;
  };
  EXPECT_EQ(names("spec.color%3Dred"), "red ");
  EXPECT_EQ(names("spec.color%21%3Dred"), "plain ");
  EXPECT_EQ(names("spec.color%3Dwhite,spec.watts%3D60,metadata.name%3Dplain"), "plain ");
  EXPECT_EQ(names("spec.watts%3D"), "");
  expect_failure(api().get(lamps.path + "?fieldSelector=spec.bulbs%3D1"), 400, "BadRequest",
                 "field label not supported: spec.bulbs");
  EXPECT_NE(plane().kubectl_ok({"get", "lamps", "--field-selector=spec.color=red"}).find("red"), std::string::npos);

  const auto watch = api().watch(lamps.path + "?watch=true&fieldSelector=spec.color%3Dblue");
  ASSERT_EQ(api().patch(lamps.path + "/red", "merge", json(R"({"spec":{"color":"blue"}})")).status, 200);
  ASSERT_EQ(api().patch(lamps.path + "/red", "merge", json(R"({"spec":{"color":"red"}})")).status, 200);
  ASSERT_TRUE(watch->wait_for(2));
  EXPECT_EQ(watch->events()[0]["type"].str(), "ADDED");
  EXPECT_EQ(watch->events()[1]["type"].str(), "DELETED");
  EXPECT_EQ(api().call("DELETE", lamps.path + "?fieldSelector=spec.color%3Dred").status, 200);
  EXPECT_EQ(names("spec.color%21%3Dx"), "plain ");

  const Value schemas = api().get("/openapi/v3/apis/light.example/v1").json["components"]["schemas"];
  EXPECT_EQ(schemas["example.light.v1.Lamp"]["x-kubernetes-selectable-fields"],
            json(R"([{"fieldPath":"spec.color"},{"fieldPath":"spec.watts"}])"));
}

TEST(Definitions, SelectableFieldsAreFieldsOfTheSchema) {
  Value wrong = lamps();
  wrong.edit("spec").edit("versions").edit_items()[0].set("selectableFields", json(R"([{"jsonPath":".spec"}])"));
  expect_failure(api().post(kDefinitions, wrong), 422, "Invalid", "spec.versions[0].selectableFields[0].jsonPath");
}

TEST(Definitions, AScaleIsCheckedLikeAnyUpdate) {  // SUB-3
  const Lamps lamps;
  ASSERT_EQ(api().post(lamps.path, lamp("one", R"({"bulbs":1})")).status, 201);
  const auto scale = [&](int bulbs) {
    return api().patch(lamps.path + "/one/scale", "merge",
                       json(R"({"spec":{"replicas":)" + std::to_string(bulbs) + "}}"));
  };
  expect_failure(scale(4), 422, "Invalid", "spec.bulbs");
  expect_failure(scale(-1), 422, "Invalid",
                 "Lamp.light.example \"one\" is invalid: spec.bulbs: Invalid value: -1: should be a non-negative "
                 "integer");
  expect_failure(api().patch(lamps.path + "/one/scale", "strategic-merge", json(R"({"spec":{"replicas":2}})")), 415,
                 "UnsupportedMediaType");
  EXPECT_EQ(scale(3).status, 200);
  const Value scaled = api().get(lamps.path + "/one").json;
  EXPECT_EQ(scaled["spec"]["bulbs"].as_int(), 3);
  EXPECT_EQ(scaled["metadata"]["generation"].as_int(), 2);
}

TEST(Definitions, ARefusedScaleOfABuiltInKindIsAScale) {  // SUB-3
  const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
  ASSERT_EQ(api()
                .post(deployments, json(R"({"metadata":{"name":"scaled"},"spec":{"replicas":1,
      "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
      "spec":{"containers":[{"name":"c","image":"i"}]}}}})"))
                .status,
            201);
  const auto scale = [&](const std::string& replicas) {
    return api().patch(deployments + "/scaled/scale", "merge", json(R"({"spec":{"replicas":)" + replicas + "}}"));
  };
  expect_failure(scale("-1"), 422, "Invalid",
                 "Scale.autoscaling \"scaled\" is invalid: spec.replicas: Invalid value: -1: must be greater than or "
                 "equal to 0");
  const std::string unreadable = "Scale in version \"v1\" cannot be handled as a Scale: json: cannot unmarshal ";
  expect_failure(scale("\"x\""), 400, "BadRequest", unreadable + "string into Go struct field ScaleSpec.spec.replicas");
  expect_failure(scale("3000000000"), 400, "BadRequest", unreadable + "number 3000000000 into");
  EXPECT_EQ(scale("2").status, 200);
}

TEST(Definitions, ADeprecatedVersionIsAnsweredWithAWarning) {  // CRD-15
  const Lamps lamps;
  EXPECT_EQ(api().get(lamps.path).headers.get("Warning"), "");
  EXPECT_EQ(api().get("/apis/light.example/v1beta1/namespaces/default/lamps").headers.get("Warning"),
            R"(299 - "light.example/v1beta1 Lamp is deprecated; use light.example/v1 Lamp")");
  EXPECT_EQ(api().get("/apis/light.example/v1alpha1/lamps").headers.get("Warning"), R"(299 - "this is \"old\"")");
  Value renewed = api().get(kDefinitions + "/lamps.light.example").json;
  renewed.edit("spec").edit("versions").edit_items()[1].set("deprecated", false);
  ASSERT_EQ(api().put(kDefinitions + "/lamps.light.example", renewed).status, 200);
  EXPECT_EQ(api().get("/apis/light.example/v1beta1/lamps").headers.get("Warning"), "");
}

TEST(Definitions, AStorageMigrationTakesVersionsOutOfTheStatus) {  // CRD-11
  const Lamps lamps;
  ASSERT_EQ(api().post(lamps.path, lamp("one", "{}")).status, 201);
  const std::string definition = kDefinitions + "/lamps.light.example";
  Value changed = api().get(definition).json;
  changed.edit("spec").edit("versions").edit_items()[0].set("storage", false);
  changed.edit("spec").edit("versions").edit_items()[1].set("storage", true);
  ASSERT_EQ(api().put(definition, changed).status, 200);
  const Value old = api().get(lamps.path + "/one").json;
  EXPECT_NE(api().put(lamps.path + "/one", old).json["metadata"]["resourceVersion"], old["metadata"]["resourceVersion"])
      << "it is stored in v1beta1 from now on";
  const auto set = [&](const std::string& versions) {
    return api().patch(definition + "/status", "merge", json(R"({"status":{"storedVersions":)" + versions + "}}"));
  };
  expect_failure(set("[]"), 422, "Invalid", "must have at least one stored version");
  expect_failure(set(R"(["v1"])"), 422, "Invalid", "must have the storage version v1beta1");
  expect_failure(
      set(R"(["v1beta1","v7"])"), 422, "Invalid",
      "status.storedVersions[1]: Invalid value: \"v7\": missing from spec.versions; v7 was previously a storage "
      "version, and must remain in spec.versions until a storage migration ensures no data remains persisted "
      "in v7 and removes v7 from status.storedVersions");
  changed = api().get(definition).json;
  changed.edit("spec").edit("versions").edit_items().erase(changed.edit("spec").edit("versions").edit_items().begin());
  expect_failure(api().put(definition, changed), 422, "Invalid", "status.storedVersions[0]");
  EXPECT_EQ(set(R"(["v1beta1"])").status, 200);
  changed.edit("metadata").erase("resourceVersion");
  const Answer removed = api().patch(definition, "json", json(R"([{"op":"remove","path":"/spec/versions/0"}])"));
  EXPECT_EQ(removed.status, 200) << removed;
}

}  // namespace
}  // namespace shiplog::e2e
