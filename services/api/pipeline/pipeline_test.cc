// Whole requests through the pipeline, without network, on an executor that is run by hand.
#include "services/api/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/manual_server.h"

namespace shiplog::api {
namespace {

const ObjectKey kRequestedMap{"configmaps", "default", "a"};
constexpr const char* kRequestedMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kBody = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1"}})";

class PipelineTest : public testing::Test {
 protected:
  std::shared_ptr<RecordingWriter> start(HttpRequest request, const std::string& body = "") {
    request.body = body;
    auto writer = std::make_shared<RecordingWriter>();
    pipeline_.handle(std::move(request), writer);
    return writer;
  }
  HttpResponse answer(HttpRequest request, const std::string& body = "") {
    const auto writer = start(std::move(request), body);
    server_.run();
    EXPECT_TRUE(writer->response) << "no answer";
    return writer->response.value_or(HttpResponse{});
  }
  HttpResponse answer(const std::string& method, const std::string& target, const std::string& body = "",
                      const std::string& content_type = "application/json") {
    return answer(ManualServer::request(method, target, content_type), body);
  }
  /// As the lifecycle role does once a definition has no objects any more.
  void release(const ObjectKey& definition) {
    Value released = server_.state().value_of(definition);
    released.edit("metadata").erase("finalizers");
    server_.put(ObjectUpdated{definition, std::move(released)});
  }
  Value stored() {
    return server_.state().find(kRequestedMap) == nullptr ? Value{} : server_.state().find(kRequestedMap)->value;
  }

  ManualServer server_;
  size_t reads_ = 0;
  ReadHandlers handlers_{[](const RequestContextPtr&) { return false; },
                         [this](const RequestContextPtr&) { ++reads_; }};
  Pipeline pipeline_{server_.shared(), handlers_, server_.executor()};
};

TEST_F(PipelineTest, ACreateIsAnsweredOnceItIsFoldedWithoutBlockingWork) {
  const auto writer = start(ManualServer::request("POST", kRequestedMaps), kBody);
  EXPECT_FALSE(writer->response);
  server_.run();
  ASSERT_TRUE(writer->response);
  EXPECT_EQ(writer->response->status, 201);
  EXPECT_FALSE(stored().is_null());
  EXPECT_EQ(parse_json(writer->response->body).value()["metadata"]["uid"].str(), stored()["metadata"]["uid"].str());
  EXPECT_FALSE(writer->response->headers.get("Audit-Id").empty());
  EXPECT_EQ(server_.blocking_posts, 0U);
}

TEST_F(PipelineTest, ApplyOfTheSameStoresNothingThoughAdmissionFillsIn_SSA_10) {
  const std::string policies = "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies";
  const std::string body = R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy","metadata":{
      "name":"p"},"spec":{"resourceSelectors":[{"apiVersion":"v1","kind":"ConfigMap"}]}})";
  const auto apply = [&] {
    return answer("PATCH", policies + "/p?fieldManager=m", body, "application/apply-patch+yaml").status;
  };
  ASSERT_EQ(apply(), 201);
  const ObjectKey key{type::kPropagationPolicy, "default", "p"};
  Value earlier = server_.state().find(key)->value;
  EXPECT_EQ(earlier["spec"]["resourceSelectors"][0]["namespace"].str(), "default") << "admission fills this in";
  earlier.edit("metadata").edit("managedFields").edit_items()[0].set("time", "2020-01-01T00:00:00Z");
  server_.put(ObjectUpdated{key, earlier});
  const size_t entries = server_.journal.size();
  ASSERT_EQ(apply(), 200);
  EXPECT_EQ(server_.journal.size(), entries) << "only the time of the apply differs";
}

TEST_F(PipelineTest, EveryVerbOfAnObjectsLife) {
  const std::string one = std::string{kRequestedMaps} + "/a";
  EXPECT_EQ(answer("POST", kRequestedMaps, kBody).status, 201);
  EXPECT_EQ(answer("POST", kRequestedMaps, kBody).status, 409);
  EXPECT_EQ(answer("PUT", one, R"({"metadata":{"name":"a"},"data":{"k":"2"}})").status, 200);
  EXPECT_EQ(stored()["data"]["k"].str(), "2");
  EXPECT_EQ(answer("PATCH", one, R"({"data":{"k":"3"}})", "application/merge-patch+json").status, 200);
  EXPECT_EQ(stored()["data"]["k"].str(), "3");
  EXPECT_EQ(answer("PATCH", one + "?fieldManager=me&force=true",
                   R"({"apiVersion":"v1","kind":"ConfigMap","data":{"k":"4"}})", "application/apply-patch+yaml")
                .status,
            200);
  EXPECT_EQ(stored()["data"]["k"].str(), "4");
  EXPECT_EQ(answer("DELETE", one).status, 200);
  EXPECT_TRUE(stored().is_null());
  EXPECT_EQ(answer("DELETE", one).status, 404);
}

TEST_F(PipelineTest, AWriteWithoutVersionIsComputedAgainWhenAnotherOneWasFirst) {
  ASSERT_EQ(answer("POST", kRequestedMaps, kBody).status, 201);
  // Both have read the same object before the first of them is folded.
  const auto first =
      start(ManualServer::request("PATCH", std::string{kRequestedMaps} + "/a", "application/merge-patch+json"),
            R"({"data":{"x":"1"}})");
  const auto second =
      start(ManualServer::request("PATCH", std::string{kRequestedMaps} + "/a", "application/merge-patch+json"),
            R"({"data":{"y":"1"}})");
  server_.run();
  EXPECT_EQ(first->response->status, 200);
  EXPECT_EQ(second->response->status, 200);
  EXPECT_EQ(stored()["data"], parse_json(R"({"k":"1","x":"1","y":"1"})").value());
  size_t patches = 0;
  for (const Entry& entry : server_.journal) patches += entry.request.verb == "patch" ? 1U : 0U;
  EXPECT_EQ(patches, 3U) << "one of them was refused and computed again";
}

/// The same number so many times, and others then.
class SameNumberFirst final : public Random {
 public:
  uint64_t next() override {
    ++drawn;
    if (same == 0) return others_.next();
    --same;
    return uint64_t{1} << 63;
  }
  uint64_t same = 1'000;
  uint64_t drawn = 0;

 private:
  SeededRandom others_{11};
};

TEST_F(PipelineTest, AGeneratedNameThatIsTakenIsGeneratedAgain) {
  SameNumberFirst random;
  server_.server().options.random = &random;
  const std::string body = R"({"metadata":{"generateName":"web-"},"data":{"k":"1"}})";
  const HttpResponse first = answer("POST", kRequestedMaps, body);
  ASSERT_EQ(first.status, 201);
  const std::string taken = parse_json(first.body).value()["metadata"]["name"].str();
  random.same = random.drawn;  // the second request draws the same name first
  const size_t entries = server_.journal.size();
  const HttpResponse second = answer("POST", kRequestedMaps, body);
  EXPECT_EQ(second.status, 201) << second.body;
  const std::string name = parse_json(second.body).value()["metadata"]["name"].str();
  EXPECT_TRUE(name.starts_with("web-") && name != taken) << name;
  EXPECT_EQ(server_.journal.size(), entries + 2) << "it was refused once";
  EXPECT_EQ(answer("POST", kRequestedMaps, R"({"metadata":{"name":")" + taken + R"("}})").status, 409)
      << "a name that was given";
}

TEST_F(PipelineTest, AWriteThatNamesAVersionIsAConflictWhenAnotherOneWasFirst) {
  ASSERT_EQ(answer("POST", kRequestedMaps, kBody).status, 201);
  const std::string body = R"({"metadata":{"name":"a","resourceVersion":")" +
                           stored()["metadata"]["resourceVersion"].str() + R"("},"data":{"k":"5"}})";
  const auto first = start(ManualServer::request("PUT", std::string{kRequestedMaps} + "/a"), body);
  const auto second = start(ManualServer::request("PUT", std::string{kRequestedMaps} + "/a"),
                            R"({"metadata":{"name":"a"},"data":{"k":"6"}})");
  server_.run();
  EXPECT_EQ(first->response->status, 200);
  EXPECT_EQ(second->response->status, 200);
  EXPECT_EQ(answer("PUT", std::string{kRequestedMaps} + "/a", body).status, 409);
}

TEST_F(PipelineTest, OfTwoClustersOfOneMemberTheFirstIsRegistered_1_3_2) {
  server_.put(FoldVersionActivated{kFoldVersion});
  constexpr const char* kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters";
  const auto cluster = [](const std::string& name, const std::string& id) {
    return R"({"metadata":{"name":")" + name + R"("},"spec":{"syncMode":"Push","id":")" + id + R"("}})";
  };
  // Both are admitted before the first of them is folded.
  const auto first = start(ManualServer::request("POST", kClusters), cluster("first", "x"));
  const auto second = start(ManualServer::request("POST", kClusters), cluster("second", "x"));
  server_.run();
  EXPECT_EQ(first->response->status, 201) << first->response->body;
  EXPECT_EQ(second->response->status, 422) << second->response->body;
  const Value refused = parse_json(second->response->body).value();
  EXPECT_EQ(refused["details"]["causes"][0]["field"].str(), "spec.id");
  EXPECT_EQ(refused["details"]["causes"][0]["reason"].str(), "FieldValueDuplicate");
  EXPECT_EQ(refused["details"]["causes"][0]["message"].str(),
            R"(Duplicate value: "x": the member is registered as the cluster first)");
  EXPECT_EQ(server_.state().cluster("second"), nullptr);

  ASSERT_EQ(answer("POST", kClusters, cluster("second", "y")).status, 201);
  ASSERT_EQ(answer("POST", kClusters, cluster("third", "z")).status, 201);
  const auto patch = [&](const std::string& name) {
    return start(ManualServer::request("PATCH", std::string{kClusters} + "/" + name, "application/merge-patch+json"),
                 R"({"spec":{"id":"w"}})");
  };
  const auto one = patch("second");
  const auto other = patch("third");
  server_.run();
  EXPECT_EQ(one->response->status, 200) << one->response->body;
  EXPECT_EQ(other->response->status, 422) << other->response->body;
}

TEST_F(PipelineTest, ACollectionIsDeletedAtOnce) {
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_EQ(answer("POST", kRequestedMaps, std::string{R"({"metadata":{"name":")"} + name + R"("}})").status, 201);
  }
  const HttpResponse deleted = answer("DELETE", std::string{kRequestedMaps} + "?fieldSelector=metadata.name!=b");
  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(parse_json(deleted.body).value()["items"].size(), 2U);
  EXPECT_EQ(server_.state().find(kRequestedMap), nullptr);
  EXPECT_NE(server_.state().find({"configmaps", "default", "b"}), nullptr);
}

constexpr const char* kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kSofas = R"({"metadata":{"name":"sofas.example.com"},"spec":{"group":"example.com",
    "scope":"Namespaced","names":{"plural":"sofas","kind":"Sofa"},"versions":[{"name":"v1","served":true,
    "storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})";
const ObjectKey kSofasKey{type::kCustomResourceDefinition, "", "sofas.example.com"};
constexpr const char* kSofaPath = "/apis/example.com/v1/namespaces/default/sofas";
constexpr const char* kRedSofa = R"({"apiVersion":"example.com/v1","kind":"Sofa","metadata":{"name":"red"}})";
const ObjectKey kRed{"sofas.example.com", "default", "red"};

TEST_F(PipelineTest, ADefinitionIsDeletedThoughOneOfItsObjectsVanishesMeanwhile_CRD_13) {
  const ObjectKey definition{type::kCustomResourceDefinition, "", "sofas.example.com"};
  const std::string sofas = "/apis/example.com/v1/namespaces/default/sofas";
  const std::string one = std::string{kDefinitions} + "/sofas.example.com";
  for (const std::string& target :
       {one, std::string{kDefinitions} + "?fieldSelector=metadata.name%3Dsofas.example.com"}) {
    ASSERT_EQ(answer("POST", kDefinitions, kSofas).status, 201);
    ASSERT_EQ(answer("POST", sofas, R"({"metadata":{"name":"red"}})").status, 201);
    ASSERT_EQ(answer("POST", sofas, R"({"metadata":{"name":"blue"}})").status, 201);
    // Both have read what there is before the first of them is folded.
    const auto first = start(ManualServer::request("DELETE", sofas + "/red"));
    const auto second = start(ManualServer::request("DELETE", target));
    server_.run();
    EXPECT_EQ(first->response->status, 200);
    EXPECT_EQ(second->response->status, 200) << second->response->body;
    EXPECT_TRUE(deleting(server_.state().value_of(definition))) << "not said to be absent: " << target;
    EXPECT_EQ(server_.state().find({"sofas.example.com", "default", "blue"}), nullptr);
    release(definition);
    EXPECT_EQ(answer("DELETE", one).status, 404);
  }
}

TEST_F(PipelineTest, ADefinitionIsDeletedThoughItIsChangedMeanwhile_CRD_13) {
  const std::string one = std::string{kDefinitions} + "/sofas.example.com";
  ASSERT_EQ(answer("POST", kDefinitions, kSofas).status, 201);
  // The definition is written anew, which is bound to what was read.
  ASSERT_EQ(answer("POST", "/apis/example.com/v1/namespaces/default/sofas",
                   R"({"metadata":{"name":"red","finalizers":["example.com/keep"]}})")
                .status,
            201);
  const auto first = start(ManualServer::request("PATCH", one, "application/merge-patch+json"),
                           R"({"metadata":{"labels":{"a":"b"}}})");
  const auto second = start(ManualServer::request("DELETE", one));
  server_.run();
  EXPECT_EQ(first->response->status, 200);
  EXPECT_EQ(second->response->status, 200) << second->response->body;
  const Value& left = server_.state().value_of({type::kCustomResourceDefinition, "", "sofas.example.com"});
  EXPECT_TRUE(deleting(left));
  EXPECT_EQ(left["metadata"]["labels"]["a"].str(), "b") << "neither write is lost";
}

TEST_F(PipelineTest, AnObjectThatIsCreatedWhileItsDefinitionIsDeletedKeepsTheDefinition_CRD_13) {
  ASSERT_EQ(answer("POST", kDefinitions, kSofas).status, 201);
  const auto created = start(ManualServer::request("POST", kSofaPath), kRedSofa);
  const auto deleted = start(ManualServer::request("DELETE", std::string{kDefinitions} + "/sofas.example.com"));
  server_.run();
  EXPECT_EQ(created->response->status, 201);
  EXPECT_EQ(deleted->response->status, 200);
  EXPECT_NE(server_.state().find(kRed), nullptr);
  EXPECT_TRUE(deleting(server_.state().value_of(kSofasKey))) << "it has an object, which the lifecycle role deletes";
}

TEST_F(PipelineTest, NothingIsCreatedOfADefinitionThatIsDeletedMeanwhile_CRD_13) {
  ASSERT_EQ(answer("POST", kDefinitions, kSofas).status, 201);
  const auto context = server_.context("POST", kSofaPath);  // which is resolved, and waits for a webhook then
  const auto refusal = [&] {
    const auto write = decode(server_.server(), *context, kRedSofa);
    Lane lane = server_.lane();
    const auto written = server_.finish(carry_out(server_.server(), *context, write.value(), lane));
    return written ? ErrorCode::kInternal : written.error().error.code;
  };
  ASSERT_EQ(answer("DELETE", std::string{kDefinitions} + "/sofas.example.com").status, 200);
  const HttpResponse applied =
      answer("PATCH", std::string{kSofaPath} + "/red?fieldManager=m", kRedSofa, "application/apply-patch+yaml");
  EXPECT_EQ(applied.status, 403);
  EXPECT_NE(applied.body.find("create not allowed while custom resource definition is terminating"), std::string::npos);
  EXPECT_EQ(refusal(), ErrorCode::kForbidden);
  release(kSofasKey);
  EXPECT_EQ(server_.state().find(kSofasKey), nullptr);
  EXPECT_EQ(refusal(), ErrorCode::kNotFound);
  EXPECT_EQ(server_.state().find(kRed), nullptr);
}

constexpr const char* kDefinitionOfTwoVersions = R"({"metadata":{"name":"sofas.example.com"},"spec":{
    "group":"example.com","scope":"Namespaced","names":{"plural":"sofas","kind":"Sofa"},"versions":[
    {"name":"v1","served":true,"storage":true,"selectableFields":[{"jsonPath":".spec.a"}],"schema":{"openAPIV3Schema":
      {"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}}}}},
    {"name":"v2","served":true,"storage":false,"selectableFields":[{"jsonPath":".spec.a"}],"schema":{"openAPIV3Schema":
      {"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}}}}}}}]}})";
constexpr const char* kSofaOfV1 = R"({"apiVersion":"example.com/v1","kind":"Sofa","metadata":{"name":"red",
    "finalizers":["foregroundDeletion","example.com/keep"]},"spec":{"a":"x","b":"y"}})";
constexpr const char* kSofaPathOfV2 = "/apis/example.com/v2/namespaces/default/sofas";

TEST_F(PipelineTest, ADeletionThroughAnotherVersionLeavesWhatIsStored_CRD_10) {
  ASSERT_EQ(answer("POST", kDefinitions, kDefinitionOfTwoVersions).status, 201);
  ASSERT_EQ(answer("POST", kSofaPath, kSofaOfV1).status, 201);
  const std::string one = std::string{kSofaPathOfV2} + "/red";
  ASSERT_EQ(answer("DELETE", one + "?propagationPolicy=Foreground").status, 200);
  // Takes back the finalizer of the first one, so that the object is written anew.
  const HttpResponse deleted = answer("DELETE", one + "?propagationPolicy=Background");
  ASSERT_EQ(deleted.status, 200) << deleted.body;
  const Value shown = parse_json(deleted.body).value();
  EXPECT_EQ(shown["apiVersion"].str(), "example.com/v2");
  EXPECT_FALSE(shown["spec"].contains("b")) << deleted.body;
  const Value& left = server_.state().value_of(kRed);
  EXPECT_EQ(left["metadata"]["finalizers"].size(), 1U);
  EXPECT_EQ(left["apiVersion"].str(), "example.com/v1");
  EXPECT_EQ(left["spec"]["b"].str(), "y");
}

TEST_F(PipelineTest, ACollectionIsDeletedThoughItsConverterFails) {
  Value definition = parse_json(kDefinitionOfTwoVersions).value();
  definition.edit("spec").set("conversion", parse_json(R"({"strategy":"Webhook","webhook":{
      "conversionReviewVersions":["v1"],"clientConfig":{"url":"https://converter.example.com"}}})")
                                                .value());
  ASSERT_EQ(answer("POST", kDefinitions, to_json(definition)).status, 201);
  ASSERT_EQ(answer("POST", kSofaPath, kRedSofa).status, 201);
  // Fields of this version select what is deleted.
  EXPECT_EQ(answer("DELETE", std::string{kSofaPathOfV2} + "?fieldSelector=spec.a%3Dx").status, 500);
  EXPECT_NE(server_.state().find(kRed), nullptr);
  const HttpResponse deleted = answer("DELETE", std::string{kSofaPathOfV2} + "?fieldSelector=metadata.name%3Dred");
  EXPECT_EQ(deleted.status, 200) << deleted.body;
  EXPECT_EQ(parse_json(deleted.body).value()["items"].size(), 1U);
  EXPECT_EQ(server_.state().find(kRed), nullptr);
}

/// Lists in lists, each with a default of `count` objects.
Value schema_of_multiplying_defaults(int depth, size_t count) {
  Value items = Value::object({{"type", "object"}});
  if (depth > 0) {
    items.set("properties", Value::object({{"x", schema_of_multiplying_defaults(depth - 1, count)}}));
  }
  Value list = Value::object({{"type", "array"}, {"items", std::move(items)}});
  list.set("default", Value::array(Value::Array(count, Value::object())));
  return list;
}

TEST_F(PipelineTest, AStoredDefinitionWhoseDefaultsMultiplyIsServedAndItsObjectsAreRefused) {
  Value definition = parse_json(kSofas).value();
  Value& schema = definition.edit("spec").edit("versions").edit_items()[0].edit("schema").edit("openAPIV3Schema");
  schema.set("properties", Value::object({{"x", schema_of_multiplying_defaults(3, 100)}}));
  const HttpResponse refused = answer("POST", kDefinitions, to_json(definition));
  EXPECT_EQ(refused.status, 422);
  EXPECT_NE(refused.body.find("openAPIV3Schema.properties[x].items.properties[x].default: Forbidden: the defaults of "),
            std::string::npos)
      << refused.body.substr(0, 2000);
  definition.set("apiVersion", "apiextensions.k8s.io/v1");
  definition.set("kind", "CustomResourceDefinition");
  server_.put(ObjectCreated{kSofasKey, definition});  // by an older build
  const HttpResponse object = answer("POST", kSofaPath, kRedSofa);
  EXPECT_EQ(object.status, 422);
  EXPECT_NE(object.body.find("].x: Forbidden: its default is not filled in"), std::string::npos) << object.body;
  server_.put(ObjectCreated{kRed, parse_json(kRedSofa).value()});
  EXPECT_EQ(answer("PATCH", std::string{kSofaPath} + "/red", R"({"metadata":{"labels":{"a":"b"}}})",
                   "application/merge-patch+json")
                .status,
            200)
      << "what could not be filled in before holds no object";
}

TEST_F(PipelineTest, RequestsEndAtTheStageThatRejectsThem) {
  HttpRequest stranger = ManualServer::request("POST", kRequestedMaps);
  stranger.peer = {};
  EXPECT_EQ(answer(stranger, kBody).status, 401);
  HttpRequest jane = ManualServer::request("POST", kRequestedMaps);
  jane.peer.common_name = "jane";
  jane.peer.organizations.clear();
  EXPECT_EQ(answer(jane, kBody).status, 403);
  EXPECT_TRUE(std::holds_alternative<RequestDenied>(server_.journal.back().events[0]));
  EXPECT_EQ(answer("POST", std::string{kRequestedMaps} + "?timeout=soon", kBody).status, 400);
  EXPECT_EQ(answer("GET", "/nothing").status, 404);
  EXPECT_EQ(answer("GET", "/apis/example.com/v1/things").status, 404);
  EXPECT_EQ(answer("PUT", kRequestedMaps, kBody).status, 405);
  EXPECT_EQ(answer("POST", kRequestedMaps, "{").status, 400);
  EXPECT_EQ(answer("POST", kRequestedMaps, R"({"metadata":{"name":"Not A Name"}})").status, 422);
  EXPECT_TRUE(stored().is_null());
}

TEST_F(PipelineTest, ReadsAreHandedOverOnceTheyAreAllowed) {
  start(ManualServer::request("GET", kRequestedMaps));
  start(ManualServer::request("GET", std::string{kRequestedMaps} + "?watch=1"));
  server_.run();
  EXPECT_EQ(reads_, 2U);
}

}  // namespace
}  // namespace shiplog::api
