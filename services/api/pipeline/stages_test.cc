// Each stage by itself, without network, on an executor that is run by hand.
#include "services/api/pipeline/stages.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/api/pipeline/codecs/codecs.h"
#include "services/api/pipeline/responses.h"
#include "tests/support/literals.h"
#include "tests/support/manual_server.h"

namespace shiplog::api {
namespace {

using test::json;

const ObjectKey kMap{"configmaps", "default", "a"};
constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kMapBody = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1"}})";

class StagesTest : public testing::Test {
 protected:
  ErrorCode code_of(const Rejection& rejection) { return rejection.error.code; }

  /// The proposal of a write as far as the stage before `validate`.
  Proposal proposal_of(const RequestContext& context, const WriteRequest& write) {
    Lane lane = server_.lane();
    auto current = server_.finish(read_current(server_.server(), context, write, lane));
    return write.propose(std::move(current.value().object)).value();
  }

  ManualServer server_;
};

TEST_F(StagesTest, AuthenticateTakesTheUserOfTheClientCertificate) {
  const HttpRequest request = ManualServer::request("GET", "/api");
  const auto user = server_.finish(authenticate(server_.server(), request));
  ASSERT_TRUE(user);
  EXPECT_EQ(user.value().name, "admin");
  EXPECT_TRUE(in_group(user.value(), kAuthenticatedGroup));
}

TEST_F(StagesTest, AuthenticateRejectsRequestsWithoutCredentialsUnlessAnonymousOnesAreAllowed) {
  HttpRequest request;
  EXPECT_EQ(code_of(server_.finish(authenticate(server_.server(), request)).error()), ErrorCode::kUnauthorized);
  server_.server().options.anonymous = true;
  EXPECT_EQ(server_.finish(authenticate(server_.server(), request)).value().name, kAnonymousUser);
  request.headers.add("Authorization", "Basic YTpi");
  EXPECT_FALSE(server_.finish(authenticate(server_.server(), request)));
}

TEST_F(StagesTest, AuthenticateLooksTokensUpWhereItMayBlock) {
  HttpRequest request;
  request.headers.add("Authorization", "Bearer abcdef.0123456789abcdef");
  EXPECT_EQ(code_of(server_.finish(authenticate(server_.server(), request)).error()), ErrorCode::kUnauthorized);
  EXPECT_EQ(server_.blocking_posts, 1U);
}

TEST_F(StagesTest, AuthorizeNamesTheDeniedActionForTheAuditTrail) {
  const User jane{"jane", {kAuthenticatedGroup}, "", {}};
  const auto rejected = authorize(server_.server(), jane, ManualServer::request("GET", std::string{kMaps} + "/a"));
  ASSERT_FALSE(rejected);
  EXPECT_EQ(code_of(rejected.error()), ErrorCode::kForbidden);
  ASSERT_TRUE(rejected.error().denied);
  EXPECT_EQ(rejected.error().denied->verb, "get");
  EXPECT_EQ(rejected.error().denied->object, kMap);
}

TEST_F(StagesTest, ImpersonateNeedsThePermissionToActAsTheUser) {
  HttpRequest request = ManualServer::request("GET", kMaps);
  request.headers.add("Impersonate-User", "jane");
  request.headers.add("Impersonate-Group", kMastersGroup);
  const User admin{"admin", {kMastersGroup}, "", {}};
  EXPECT_EQ(impersonate(server_.server(), admin, request).value().name, "jane");
  const User other{"other", {}, "", {}};
  EXPECT_EQ(code_of(impersonate(server_.server(), other, request).error()), ErrorCode::kForbidden);
}

TEST_F(StagesTest, LimitGivesAUserHalfOfTheSlotsAndAdministratorsAnyNumber) {
  const auto writer = std::make_shared<RecordingWriter>();
  const User jane{"jane", {}, "", {}};
  const HttpRequest request = ManualServer::request("POST", kMaps);
  const auto first = limit(server_.server(), jane, request, writer);
  EXPECT_TRUE(first);
  EXPECT_EQ(code_of(limit(server_.server(), jane, request, writer).error()), ErrorCode::kTooManyRequests);
  EXPECT_TRUE(limit(server_.server(), {"admin", {kMastersGroup}, "", {}}, request, writer));
  EXPECT_EQ(limit_large(server_.server(), jane, 1000).value(), nullptr);
  EXPECT_NE(limit_large(server_.server(), jane, 1U << 20U).value(), nullptr);
}

TEST_F(StagesTest, ResolveFindsKindVerbAndForm) {
  HttpRequest request = ManualServer::request("PUT", std::string{kMaps} + "/a");
  request.headers.set("Accept", "application/yaml");
  const auto target = resolve(server_.server(), server_.server().options.kinds->current(), request, "");
  ASSERT_TRUE(target);
  EXPECT_EQ(target.value().verb, "update");
  EXPECT_EQ(target.value().key(), kMap);
  EXPECT_TRUE(target.value().accept.yaml);
  EXPECT_EQ(resolve(server_.server(), server_.server().options.kinds->current(),
                    ManualServer::request("GET", "/apis/x.io/v1/things"), "")
                .value()
                .kind,
            nullptr);
}

TEST_F(StagesTest, ResolveRejectsWhatAResourceDoesNotHave) {
  const auto code = [&](const std::string& method, const std::string& path) {
    const auto target =
        resolve(server_.server(), server_.server().options.kinds->current(), ManualServer::request(method, path), "");
    return target ? ErrorCode::kInternal : code_of(target.error());
  };
  EXPECT_EQ(code("PUT", kMaps), ErrorCode::kMethodNotAllowed);
  EXPECT_EQ(code("POST", std::string{kMaps} + "/a"), ErrorCode::kMethodNotAllowed);
  EXPECT_EQ(code("POST", "/api/v1/configmaps"), ErrorCode::kMethodNotAllowed);
  EXPECT_EQ(code("GET", "/api/v1/configmaps/a"), ErrorCode::kNotFound);
  EXPECT_EQ(code("GET", std::string{kMaps} + "/a/scale"), ErrorCode::kNotFound);
  EXPECT_EQ(code("GET", "/api/v1/namespaces/default/pods/p/eviction"), ErrorCode::kMethodNotAllowed);
  EXPECT_EQ(code("GET", "/api/v1/namespaces/default/pods/p/log"), ErrorCode::kNotFound);
}

TEST_F(StagesTest, AKindWithoutScaleIsNotReportedAsAMissingObject) {
  const auto target = resolve(server_.server(), server_.server().options.kinds->current(),
                              ManualServer::request("GET", "/apis/batch/v1/namespaces/default/jobs/j/scale"), "");
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().error.message, "the server could not find the requested resource (jobs.batch/scale)");
}

TEST_F(StagesTest, ATableOfAScaleIsPossible_TBL_6) {
  HttpRequest request = ManualServer::request("GET", "/apis/apps/v1/namespaces/default/deployments/d/scale");
  request.headers.set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
  const auto target = resolve(server_.server(), server_.server().options.kinds->current(), request, "");
  ASSERT_TRUE(target);
  EXPECT_EQ(target.value().accept.form, Accept::Form::kTable);
}

TEST_F(StagesTest, ACollectionAcrossNamespacesCannotBeDeleted_PATH_4) {
  const auto code = [&](const std::string& path) {
    const auto target =
        resolve(server_.server(), server_.server().options.kinds->current(), ManualServer::request("DELETE", path), "");
    return target ? std::nullopt : std::optional{code_of(target.error())};
  };
  EXPECT_EQ(code("/api/v1/configmaps"), ErrorCode::kMethodNotAllowed);
  EXPECT_EQ(code("/apis/coordination.k8s.io/v1/leases"), ErrorCode::kMethodNotAllowed);
  EXPECT_EQ(code("/apis/policy.karmada.io/v1alpha1/propagationpolicies"), ErrorCode::kNotFound);
  EXPECT_EQ(code("/api/v1/namespaces"), ErrorCode::kMethodNotAllowed) << "the one kind without deletecollection";
  EXPECT_EQ(code(kMaps), std::nullopt);
  EXPECT_EQ(code("/api/v1/namespaces/default"), std::nullopt);
  EXPECT_EQ(code("/apis/policy.karmada.io/v1alpha1/clusterpropagationpolicies"), std::nullopt);
}

TEST_F(StagesTest, ResolveTakesThePodOfABindingFromItsBody) {
  const auto target = resolve(server_.server(), server_.server().options.kinds->current(),
                              ManualServer::request("POST", "/api/v1/namespaces/default/bindings"),
                              R"({"metadata":{"name":"p"},"target":{"name":"n"}})");
  ASSERT_TRUE(target);
  EXPECT_EQ(target.value().key(), (ObjectKey{"pods", "default", "p"}));
  EXPECT_EQ(target.value().path.subresource, "binding");
}

TEST_F(StagesTest, ReadCurrentReturnsTheObjectOrThatThereIsNone) {
  const auto context = server_.context("PUT", std::string{kMaps} + "/a");
  const auto write = decode(server_.server(), *context, kMapBody);
  ASSERT_TRUE(write);
  Lane lane = server_.lane();
  auto missing = server_.finish(read_current(server_.server(), *context, write.value(), lane));
  EXPECT_EQ(missing.value().object.error().code, ErrorCode::kNotFound);
  server_.put(ObjectCreated{kMap, ManualServer::object("a")});
  auto found = server_.finish(read_current(server_.server(), *context, write.value(), lane));
  EXPECT_EQ(found.value().object.value()["metadata"]["name"].str(), "a");
}

/// A definition of two versions: `stored` and `other` are the fields of their specs.
Event things_defined(const std::string& stored, const std::string& other) {
  const auto version = [](const std::string& name, bool storage, const std::string& fields) {
    return R"({"name":")" + name + R"(","served":true,"storage":)" + (storage ? "true" : "false") +
           R"(,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{"status":)"
           R"({"type":"object"},"spec":{"type":"object","properties":{)" +
           fields + "}}}}}}";
  };
  return ObjectCreated{
      {type::kCustomResourceDefinition, "", "things.up.io"},
      json(
          R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.up.io"},)"
          R"("spec":{"group":"up.io","scope":"Namespaced",)"
          R"("names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},"versions":[)" +
          version("v1", true, stored) + "," + version("v2", false, other) + "]}}")};
}

const ObjectKey kThing{"things.up.io", "default", "p"};
constexpr const char* kThings = "/apis/up.io/v1/namespaces/default/things";

TEST_F(StagesTest, AFieldThatADefinitionHasLostIsNoFieldOfTheRequest_CRD_7) {
  server_.put(things_defined(R"("a":{"type":"string"})", R"("b":{"type":"string"})"));
  server_.put(ObjectCreated{kThing, json(R"({"apiVersion":"up.io/v1","kind":"Thing","metadata":{"name":"p",)"
                                         R"("namespace":"default"},"spec":{"a":"one","old":"legacy"}})")});
  const std::string things = std::string{kThings} + "/p";
  for (const std::string& path : {things, things + "/status"}) {
    for (const char* type : {"application/merge-patch+json", "application/apply-patch+yaml"}) {
      const auto context = server_.context("PATCH", path + "?fieldValidation=Strict&fieldManager=m", type);
      const auto write = decode(server_.server(), *context,
                                R"({"apiVersion":"up.io/v1","kind":"Thing","metadata":{"labels":{"x":"y"}}})");
      ASSERT_TRUE(write);
      Proposal proposal = proposal_of(*context, write.value());
      Lane lane = server_.lane();
      const auto validated = server_.finish(validate(server_.server(), *context, write.value(), lane, proposal));
      ASSERT_TRUE(validated) << path << " " << validated.error().error.message;
      EXPECT_EQ(validated.value().object["spec"], json(R"({"a":"one"})")) << path << " " << type;
    }
  }
  const auto context = server_.context("GET", things);
  answer_object(*context, 200, server_.server().objects.find(kThing).value(), UtcMillis{});
  EXPECT_EQ(json(server_.writer->response->body)["spec"], json(R"({"a":"one"})"));
}

TEST_F(StagesTest, ReadCurrentMakesTheRequestForALargeObjectALargeOne) {
  Value large = ManualServer::object("a");
  large.set("data", Value::object({{"k", std::string(LargeRequests::kLargeBytes, 'x')}}));
  server_.put(ObjectCreated{kMap, large});
  const auto context = server_.context("PUT", std::string{kMaps} + "/a");
  const auto write = decode(server_.server(), *context, kMapBody);
  ASSERT_TRUE(write);
  std::vector<LargeRequests::Permit> places;
  for (size_t index = 0; index < LargeRequests::kMost / 2; ++index) {
    places.push_back(server_.server().large->take("admin"));
  }
  Lane lane = server_.lane();
  const auto rejected = server_.finish(read_current(server_.server(), *context, write.value(), lane));
  EXPECT_EQ(code_of(rejected.error()), ErrorCode::kTooManyRequests);
}

TEST_F(StagesTest, MutateSetsTheClientsManagedFieldsAside) {
  const auto context = server_.context("POST", kMaps);
  const auto write =
      decode(server_.server(), *context, R"({"metadata":{"name":"a","managedFields":[{"manager":"m"}]},"data":{}})");
  Proposal proposal = proposal_of(*context, write.value());
  Lane lane = server_.lane();
  auto mutated = server_.finish(mutate(server_.server(), *context, write.value(), lane, proposal));
  ASSERT_TRUE(mutated);
  EXPECT_EQ(mutated.value().managed[0]["manager"].str(), "m");
}

TEST_F(StagesTest, ValidateFillsInIdentityAndFieldOwners) {
  const auto context = server_.context("POST", kMaps);
  const auto write = decode(server_.server(), *context, R"({"metadata":{"name":"a"},"data":{"k":"1"}})");
  Proposal proposal = proposal_of(*context, write.value());
  Lane lane = server_.lane();
  auto validated = server_.finish(validate(server_.server(), *context, write.value(), lane, proposal));
  ASSERT_TRUE(validated);
  const Value& object = validated.value().object;
  EXPECT_EQ(object["kind"].str(), "ConfigMap");
  EXPECT_EQ(object["metadata"]["namespace"].str(), "default");
  EXPECT_EQ(object["metadata"]["managedFields"].size(), 1U);
}

TEST_F(StagesTest, ValidateDeniesAnInvalidObjectUnderItsName) {
  const auto context = server_.context("POST", kMaps);
  const auto write = decode(server_.server(), *context, R"({"metadata":{"name":"Not A Name"}})");
  Proposal proposal = proposal_of(*context, write.value());
  Lane lane = server_.lane();
  const auto rejected = server_.finish(validate(server_.server(), *context, write.value(), lane, proposal));
  ASSERT_FALSE(rejected);
  EXPECT_EQ(code_of(rejected.error()), ErrorCode::kInvalid);
  EXPECT_EQ(rejected.error().denied->object.name, "Not A Name");
  EXPECT_EQ(rejected.error().subject->name, "Not A Name");
}

class CommitTest : public StagesTest {
 protected:
  StageResult<Committed> committed(const RequestContext& context, const WriteRequest& write) {
    Proposal proposal = proposal_of(context, write);
    Lane lane = server_.lane();
    auto validated = server_.finish(validate(server_.server(), context, write, lane, proposal));
    if (!validated) return std::move(validated).error();
    return server_.finish(commit(server_.server(), context, write, lane, validated.value()));
  }
};

TEST_F(CommitTest, AnswersOnceTheObjectIsFolded) {
  const auto context = server_.context("POST", kMaps);
  const auto write = decode(server_.server(), *context, kMapBody);
  const auto stored = committed(*context, write.value());
  ASSERT_TRUE(stored);
  ASSERT_NE(stored.value().change, nullptr);
  EXPECT_NE(server_.state().find(kMap), nullptr);
  EXPECT_EQ(server_.journal.back().request.verb, "create");
  EXPECT_EQ(server_.journal.back().actor.user, "admin");
}

TEST_F(CommitTest, AFieldThatTheStoredVersionDoesNotHaveIsNotStored_CRD_10) {
  server_.put(things_defined(R"("a":{"type":"string"})", R"("a":{"type":"string"},"b":{"type":"string"})"));
  const auto context = server_.context("POST", "/apis/up.io/v2/namespaces/default/things");
  const auto write = decode(server_.server(), *context, R"({"metadata":{"name":"p"},"spec":{"a":"one","b":"two"}})");
  ASSERT_TRUE(write);
  ASSERT_TRUE(committed(*context, write.value()));
  EXPECT_EQ(server_.server().objects.find(kThing).value()["spec"], json(R"({"a":"one"})"));
}

TEST_F(CommitTest, OfADryRunStoresNothing) {
  const auto context = server_.context("POST", std::string{kMaps} + "?dryRun=All");
  const auto write = decode(server_.server(), *context, kMapBody);
  const auto result = committed(*context, write.value());
  ASSERT_TRUE(result);
  EXPECT_FALSE(result.value().object["metadata"]["uid"].is_empty());
  EXPECT_EQ(server_.state().find(kMap), nullptr);
  server_.put(ObjectCreated{kMap, ManualServer::object("a")});
  EXPECT_EQ(code_of(committed(*context, decode(server_.server(), *context, kMapBody).value()).error()),
            ErrorCode::kAlreadyExists);
}

TEST_F(CommitTest, OfADryRunIsRefusedByTheQuotaThatRefusesTheWriteAndReservesNothing_4_3_10_Q_15) {
  server_.put(FoldVersionActivated{kFoldVersion});
  server_.put(FeatureGatesSet{{"FederatedQuotaEnforcement"}});
  const ObjectKey limits{type::kFederatedResourceQuota, "default", "limits"};
  Value quota = ManualServer::object("limits");
  quota.set("spec", json(R"({"overall":{"cpu":"2"}})"));
  server_.put(ObjectCreated{limits, quota});
  const auto binding = [&](const std::string& name, int64_t replicas) {
    Value made = json(R"({"apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding","metadata":{},"spec":{
        "resource":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"default","name":"web"},
        "replicaRequirements":{"resourceRequest":{"cpu":"1"}}}})");
    made.edit("metadata").set("name", name);
    if (const Object* stored = server_.state().find({type::kResourceBinding, "default", name})) {
      made.edit("metadata").set("resourceVersion", std::to_string(stored->revision.value));
    }
    made.edit("spec").set("replicas", replicas);
    made.edit("spec").set("clusters", Value::array({Value::object({{"name", "m1"}, {"replicas", replicas}})}));
    return to_json(made);
  };
  const std::string all = "/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings";
  const auto write = [&](const std::string& method, const std::string& target, const std::string& body) {
    const auto context = server_.context(method, target);
    return committed(*context, decode(server_.server(), *context, body).value());
  };
  const auto message = [](const StageResult<Committed>& result) {
    if (result) return std::string{"accepted"};
    const Rejection& rejection = result.error();
    return rejection.denial ? to_json(rejection.denial->status) : rejection.error.message;
  };

  const std::string refused = message(write("POST", all, binding("b", 3)));
  EXPECT_NE(refused.find("exceeded for resource cpu: requested sum 3, limit 2."), std::string::npos) << refused;
  EXPECT_EQ(message(write("POST", all + "?dryRun=All", binding("b", 3))), refused);
  EXPECT_EQ(message(write("POST", all + "?dryRun=All", binding("b", 2))), "accepted");
  EXPECT_TRUE(server_.state().find(limits)->value["status"]["overallUsed"].is_null()) << "the dry run used something";

  EXPECT_EQ(message(write("POST", all, binding("b", 2))), "accepted");
  const size_t entries = server_.journal.size();
  EXPECT_EQ(message(write("PUT", all + "/b?dryRun=All", binding("b", 3))), refused);
  EXPECT_EQ(message(write("PUT", all + "/b?dryRun=All", binding("b", 1))), "accepted");
  EXPECT_EQ(message(write("DELETE", all + "/b?dryRun=All", "")), "accepted");
  EXPECT_EQ(server_.journal.size(), entries);
  EXPECT_EQ(to_json(server_.state().find(limits)->value["status"]["overallUsed"]), R"({"cpu":"2"})");
}

TEST_F(CommitTest, OfADryRunIsRefusedAsTheWriteWhereTheNamespaceIsMissing) {
  const auto elsewhere = server_.context("POST", "/api/v1/namespaces/nowhere/configmaps?dryRun=All");
  const auto missing = committed(*elsewhere, decode(server_.server(), *elsewhere, kMapBody).value());
  ASSERT_FALSE(missing);
  EXPECT_EQ(code_of(missing.error()), ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().subject->kind, "Namespace");
}

TEST_F(CommitTest, ANewPodIsChargedToTheQuotasOfItsNamespace) {
  const ObjectKey few{"resourcequotas", "default", "few"};
  server_.put(ObjectCreated{few, ManualServer::object("few")});
  server_.put(ObjectCreated{{type::kNamespace, "", "elsewhere"}, ManualServer::object("elsewhere", "")});
  server_.put(ObjectCreated{{"resourcequotas", "elsewhere", "other"}, ManualServer::object("other", "elsewhere")});
  bool stale = false;
  server_.server().options.admit_pod = [&](const Value& pod, const std::vector<Value>& quotas) {
    PodAdmission admission;
    if (quotas.size() != 1) return PodAdmission{"not one quota", {}};
    if (pod["metadata"]["name"] == Value{"b"}) return PodAdmission{"pods \"b\" is forbidden: exceeded quota: few", {}};
    admission.charged = quotas;
    admission.charged[0].edit("status").edit("used").set("pods", "1");
    if (stale) admission.charged[0].edit("metadata").set("resourceVersion", "1");
    return admission;
    return admission;
  };
  const auto create = [&](const std::string& name, const std::string& query = "") {
    const auto context = server_.context("POST", "/api/v1/namespaces/default/pods" + query);
    return committed(*context, decode(server_.server(), *context,
                                      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                                          R"("},"spec":{"containers":[{"name":"c","image":"i"}]}})")
                                   .value());
  };
  ASSERT_TRUE(create("a", "?dryRun=All"));
  EXPECT_TRUE(server_.state().find(few)->value["status"].is_null());
  ASSERT_TRUE(create("a"));
  EXPECT_EQ(server_.journal.back().events.size(), 2U) << "the pod and its usage, or neither";
  EXPECT_EQ(server_.state().find(few)->value["status"]["used"]["pods"], Value{"1"});
  for (const char* query : {"", "?dryRun=All"}) {
    const auto refused = create("b", query);
    ASSERT_FALSE(refused);
    EXPECT_EQ(code_of(refused.error()), ErrorCode::kForbidden);
    EXPECT_EQ(refused.error().error.message, "pods \"b\" is forbidden: exceeded quota: few");
    EXPECT_EQ(refused.error().denied->object, (ObjectKey{"pods", "default", "b"}));
  }
  // Another pod was charged after the quotas were read: the request is computed again.
  stale = true;
  const auto raced = create("c");
  ASSERT_FALSE(raced);
  EXPECT_TRUE(raced.error().superseded);
  EXPECT_EQ(server_.state().find({"pods", "default", "c"}), nullptr);
}

TEST_F(CommitTest, ReportsWhatTheFoldRefuses) {
  server_.put(ObjectCreated{kMap, ManualServer::object("a")});
  const auto context = server_.context("POST", kMaps);
  const auto rejected = committed(*context, decode(server_.server(), *context, kMapBody).value());
  EXPECT_EQ(code_of(rejected.error()), ErrorCode::kAlreadyExists);
  EXPECT_EQ(rejected.error().error.message, "configmaps \"a\" already exists");
  EXPECT_FALSE(rejected.error().superseded);
  const auto elsewhere = server_.context("POST", "/api/v1/namespaces/nowhere/configmaps");
  const auto missing = committed(*elsewhere, decode(server_.server(), *elsewhere, kMapBody).value());
  EXPECT_EQ(code_of(missing.error()), ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().subject->kind, "Namespace");
}

TEST_F(CommitTest, IsSupersededWhenAnotherWriteWasFirstAndNoVersionIsNamed) {
  server_.put(ObjectCreated{kMap, ManualServer::object("a")});
  const auto context = server_.context("PUT", std::string{kMaps} + "/a");
  const auto write = decode(server_.server(), *context, kMapBody);
  Proposal proposal = proposal_of(*context, write.value());
  Value other = server_.state().find(kMap)->value;
  other.set("data", Value::object({{"k", "2"}}));
  server_.put(ObjectUpdated{kMap, other});
  Lane lane = server_.lane();
  auto validated = server_.finish(validate(server_.server(), *context, write.value(), lane, proposal));
  const auto rejected = server_.finish(commit(server_.server(), *context, write.value(), lane, validated.value()));
  EXPECT_EQ(code_of(rejected.error()), ErrorCode::kConflict);
  EXPECT_TRUE(rejected.error().superseded);
}

TEST_F(CommitTest, IsSupersededWhenTheObjectIsGoneMeanwhile) {  // an apply is to create it then
  server_.put(ObjectCreated{kMap, ManualServer::object("a")});
  const auto context = server_.context("PUT", std::string{kMaps} + "/a");
  const auto write = decode(server_.server(), *context, kMapBody);
  Proposal proposal = proposal_of(*context, write.value());
  server_.put(DeletionRequested{kMap});
  Lane lane = server_.lane();
  auto validated = server_.finish(validate(server_.server(), *context, write.value(), lane, proposal));
  const auto rejected = server_.finish(commit(server_.server(), *context, write.value(), lane, validated.value()));
  EXPECT_EQ(code_of(rejected.error()), ErrorCode::kNotFound);
  EXPECT_TRUE(rejected.error().superseded);
}

TEST_F(CommitTest, OfAnUnchangedObjectStoresNothing) {
  const auto context = server_.context("POST", kMaps);
  ASSERT_TRUE(committed(*context, decode(server_.server(), *context, kMapBody).value()));
  const size_t entries = server_.journal.size();
  const auto again = server_.context("PUT", std::string{kMaps} + "/a");
  const auto result = committed(*again, decode(server_.server(), *again, kMapBody).value());
  ASSERT_TRUE(result);
  EXPECT_FALSE(result.value().sealed);
  EXPECT_EQ(server_.journal.size(), entries);
}

TEST_F(StagesTest, RespondRendersOnTheLaneUnlessTheStoredJsonIsTheAnswer) {
  auto context = server_.context("POST", kMaps);
  const auto write = decode(server_.server(), *context, kMapBody);
  Proposal proposal{.operation = "CREATE", .verb = "create", .success = 201};
  proposal.warnings = {"careful"};
  Committed committed;
  committed.sealed = true;
  Change change;
  change.object = kMap;
  change.after = json(kMapBody);
  change.json = std::make_shared<const std::string>(kMapBody);
  committed.object = change.after;
  committed.change = std::make_shared<const Change>(change);
  Lane lane{&server_.server(), nullptr, false};
  server_.finish(respond(server_.server(), *context, write.value(), lane, proposal, committed));
  ASSERT_TRUE(server_.writer->response);
  EXPECT_EQ(server_.writer->response->status, 201);
  EXPECT_EQ(server_.writer->response->body, std::string{kMapBody} + "\n");
  EXPECT_EQ(server_.writer->response->headers.get("Warning"), "299 - \"careful\"");
  EXPECT_EQ(server_.blocking_posts, 0U);

  context->accept.yaml = true;
  server_.finish(respond(server_.server(), *context, write.value(), lane, proposal, committed));
  EXPECT_EQ(server_.writer->response->headers.get("Content-Type"), "application/yaml");
  EXPECT_EQ(server_.blocking_posts, 1U);
}

TEST_F(StagesTest, RejectAnswersAndRecordsTheDeniedAction) {
  const auto context = server_.context("POST", kMaps);
  Rejection rejection{Error{ErrorCode::kForbidden, "no"}};
  rejection.denied = DeniedAction{"create", kMap};
  reject(server_.server(), *context, rejection);
  server_.run();
  EXPECT_EQ(server_.writer->response->status, 403);
  const auto* denied = std::get_if<RequestDenied>(&server_.journal.back().events[0]);
  ASSERT_NE(denied, nullptr);
  EXPECT_EQ(denied->object, kMap);
  reject(server_.server(), *context, Error{ErrorCode::kForbidden, "not recorded"});
  const size_t entries = server_.journal.size();
  server_.run();
  EXPECT_EQ(server_.journal.size(), entries);
}

TEST_F(StagesTest, TextThatMayQuoteASecretIsNotRecorded) {
  const auto context = server_.context("POST", "/api/v1/namespaces/default/secrets");
  for (const bool by_admission : {true, false}) {
    Rejection rejection{Error{ErrorCode::kForbidden, "no"}};
    rejection.denied = DeniedAction{"create", {type::kSecret, "default", "a"}};
    rejection.by_admission = by_admission;
    reject(server_.server(), *context, rejection);
    server_.run();
    const auto* denied = std::get_if<RequestDenied>(&server_.journal.back().events[0]);
    ASSERT_NE(denied, nullptr);
    EXPECT_EQ(denied->message, by_admission ? "not recorded, as it may quote data of a Secret" : "no");
  }
}

TEST(SentWarnings, AreThoseOfKubernetes) {
  EXPECT_EQ(sent_warnings({"a", "", "b", "a"}), (std::vector<std::string>{"a", "b"}));
  std::vector<std::string> many;
  for (char c = 'a'; c <= 'z'; ++c) many.emplace_back(300, c);
  const std::vector<std::string> sent = sent_warnings(many);
  ASSERT_EQ(sent.size(), 16U);
  EXPECT_EQ(sent.front().substr(0, 260), std::string(256, 'a') + "...");
}

}  // namespace
}  // namespace shiplog::api
