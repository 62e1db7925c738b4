// Each verb's codec: what it decodes, and what it makes of the current object.
#include "services/api/pipeline/codecs/codecs.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/kinds/protobuf.h"
#include "services/api/pipeline/admission_input.h"
#include "services/api/pipeline/stages.h"
#include "tests/support/literals.h"
#include "tests/support/manual_server.h"

namespace shiplog::api {
namespace {

using test::json;

constexpr const char* kDecodedMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kDeployment = "/apis/apps/v1/namespaces/default/deployments/web";
constexpr const char* kPod = "/api/v1/namespaces/default/pods/p";

Result<Value> missing() { return Error{ErrorCode::kNotFound, "not there"}; }

class CodecsTest : public testing::Test {
 protected:
  /// The write that a request is decoded into.
  const StageResult<WriteRequest>& decoded(const std::string& method, const std::string& target,
                                           const std::string& body,
                                           const std::string& content_type = "application/json") {
    context_ = server_.context(method, target, content_type);
    write_.emplace(decode(server_.server(), *context_, body));
    return *write_;
  }
  ErrorCode error_of(const std::string& method, const std::string& target, const std::string& body,
                     const std::string& content_type = "application/json") {
    const auto& write = decoded(method, target, body, content_type);
    return write ? ErrorCode::kInternal : write.error().error.code;
  }
  ErrorCode proposal_error(Result<Value> current) {
    const auto proposal = write_->value().propose(std::move(current));
    return proposal ? ErrorCode::kInternal : proposal.error().error.code;
  }

  ManualServer server_;
  std::unique_ptr<RequestContext> context_;
  std::optional<StageResult<WriteRequest>> write_;
};

TEST_F(CodecsTest, CreateNeedsNoCurrentObjectAndMovesItsBodyOn) {
  const auto& write = decoded("POST", kDecodedMaps, R"({"metadata":{"name":"a","name":"b"}})");
  ASSERT_TRUE(write);
  EXPECT_EQ(write.value().reads, WriteReads::kNothing);
  EXPECT_FALSE(write.value().retries_conflicts);
  const auto proposal = write.value().propose(Value{});
  EXPECT_EQ(proposal.value().operation, "CREATE");
  EXPECT_EQ(proposal.value().success, 201);
  EXPECT_EQ(proposal.value().name, "b");
  EXPECT_EQ(proposal.value().duplicate_fields.size(), 1U);
}

TEST_F(CodecsTest, CreateOfAServiceMayBeProposedAgain) {
  const auto& write = decoded("POST", "/api/v1/namespaces/default/services", R"({"metadata":{"name":"s"}})");
  ASSERT_TRUE(write);
  EXPECT_EQ(write.value().propose(Value{}).value().name, "s");
  EXPECT_EQ(write.value().propose(Value{}).value().name, "s");
}

TEST_F(CodecsTest, BodiesThatCannotBeReadAreRejected) {
  EXPECT_EQ(error_of("POST", kDecodedMaps, "{"), ErrorCode::kBadRequest);
  EXPECT_EQ(error_of("POST", kDecodedMaps, "{}", "text/plain"), ErrorCode::kUnsupportedMediaType);
  EXPECT_EQ(error_of("POST", std::string{kDecodedMaps} + "?dryRun=Some", "{}"), ErrorCode::kInvalid);
}

TEST_F(CodecsTest, UpdateReplacesTheVersionThatItNames) {
  const Value current = json(R"({"metadata":{"name":"a","resourceVersion":"7"}})");
  decoded("PUT", std::string{kDecodedMaps} + "/a", R"({"metadata":{"name":"a","resourceVersion":"7"}})");
  EXPECT_FALSE(write_->value().retries_conflicts);
  EXPECT_EQ(write_->value().propose(current).value().old, current);
  decoded("PUT", std::string{kDecodedMaps} + "/a", R"({"metadata":{"name":"a","resourceVersion":"6"}})");
  EXPECT_EQ(proposal_error(current), ErrorCode::kConflict);
  decoded("PUT", std::string{kDecodedMaps} + "/a", R"({"metadata":{"name":"a","resourceVersion":"x"}})");
  EXPECT_EQ(proposal_error(current), ErrorCode::kInvalid);
  decoded("PUT", std::string{kDecodedMaps} + "/a", R"({"metadata":{"name":"a"}})");
  EXPECT_TRUE(write_->value().retries_conflicts);
  EXPECT_EQ(proposal_error(missing()), ErrorCode::kNotFound);
}

TEST_F(CodecsTest, UpdateCreatesSomeKinds) {  // CRU-3
  const std::string limits = "/api/v1/namespaces/default/limitranges/l";
  const auto& write = decoded("PUT", limits, R"({"metadata":{"name":"l"}})");
  const auto proposal = write.value().propose(missing());
  EXPECT_EQ(proposal.value().operation, "CREATE");
  EXPECT_EQ(proposal.value().verb, "create");
  EXPECT_EQ(proposal.value().success, 201);
  decoded("PUT", limits, R"({"metadata":{"name":"l","uid":"u"}})");
  EXPECT_EQ(proposal_error(missing()), ErrorCode::kNotFound);
}

TEST_F(CodecsTest, UpdateOfAStatusIsAdmittedAsOne) {
  EXPECT_EQ(decoded("PUT", std::string{kDeployment} + "/status", "{}").value().form, WriteForm::kStatus);
  EXPECT_EQ(decoded("PUT", kDeployment, "{}").value().form, WriteForm::kObject);
}

TEST_F(CodecsTest, PatchIsAFunctionOfTheCurrentObject) {
  const auto& write = decoded("PATCH", std::string{kDecodedMaps} + "/a", R"({"data":{"k":"2","l":null}})",
                              "application/merge-patch+json");
  ASSERT_TRUE(write);
  const auto proposal = write.value().propose(json(R"({"metadata":{"name":"a"},"data":{"k":"1","l":"x"}})"));
  EXPECT_EQ(proposal.value().object["data"], json(R"({"k":"2"})"));
  EXPECT_EQ(proposal.value().verb, "patch");
  EXPECT_EQ(proposal_error(missing()), ErrorCode::kNotFound);
  EXPECT_EQ(error_of("PATCH", std::string{kDecodedMaps} + "/a", "{}"), ErrorCode::kUnsupportedMediaType);
  EXPECT_EQ(error_of("PATCH", std::string{kDecodedMaps} + "/a?force=true", "{}", "application/merge-patch+json"),
            ErrorCode::kInvalid);
}

TEST_F(CodecsTest, ApplyCreatesWhatIsMissingAndKnowsItsOwners) {
  const std::string target = std::string{kDecodedMaps} + "/a?fieldManager=me";
  const std::string body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1"}})";
  const auto& write = decoded("PATCH", target, body, "application/apply-patch+yaml");
  ASSERT_TRUE(write);
  const auto created = write.value().propose(missing());
  EXPECT_EQ(created.value().success, 201);
  EXPECT_TRUE(created.value().applied);
  EXPECT_EQ(created.value().object["metadata"]["managedFields"][0]["manager"].str(), "me");
  const auto updated = write.value().propose(created.value().object);
  EXPECT_EQ(updated.value().operation, "UPDATE");
  EXPECT_EQ(error_of("PATCH", std::string{kDecodedMaps} + "/a", body, "application/apply-patch+yaml"),
            ErrorCode::kInvalid);
  EXPECT_EQ(error_of("PATCH", target, R"({"apiVersion":"v2","kind":"ConfigMap"})", "application/apply-patch+yaml"),
            ErrorCode::kBadRequest);
}

TEST_F(CodecsTest, ApplyOfAFieldThatTheKindDoesNotHaveIsRefused) {  // SSA-2
  const auto message = [&](const std::string& query, const std::string& fields) {
    const auto& write =
        decoded("PATCH", std::string{kDecodedMaps} + "/a?fieldManager=me" + query,
                R"({"apiVersion":"v1","kind":"ConfigMap",)" + fields + "}", "application/apply-patch+yaml");
    return write ? "" : write.error().error.message;
  };
  const std::string begin = "failed to create typed patch object (default/a; /v1, Kind=ConfigMap): ";
  EXPECT_EQ(message("", R"("date":{"k":"1"})"), begin + ".date: field not declared in schema");
  EXPECT_EQ(message("&fieldValidation=Ignore", R"("metadata":{"name":"a","lables":{}})"),
            begin + ".metadata.lables: field not declared in schema");
  EXPECT_EQ(message("&fieldValidation=Strict", R"("date":{"k":"1"},"metadata":{"name":"a","lables":{}})"),
            begin + "errors:\n  .date: field not declared in schema\n  .metadata.lables: field not declared in schema");
  EXPECT_EQ(message("", R"("metadata":{"name":"a","labels":{"any":"thing"}},"data":{"any":"thing"})"), "");
}

TEST_F(CodecsTest, KeysThatStandTwiceInAnApplyAreRefusedByStrictOnly) {  // CRU-6
  const auto applied = [&](const std::string& query, const std::string& body) {
    decoded("PATCH", std::string{kDecodedMaps} + "/a?fieldManager=me" + query, body, "application/apply-patch+yaml");
    return write_->value().propose(missing());
  };
  const std::string begin = "apiVersion: v1\nkind: ConfigMap\ndata:\n";
  const auto refused = applied("&fieldValidation=Strict", begin + "  k: '1'\n  k: '2'\n  l: x\n  l: y");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error.code, ErrorCode::kBadRequest);
  EXPECT_EQ(refused.error().error.message,
            "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n"
            "  line 5: key \"k\" already set in map\n  line 7: key \"l\" already set in map");
  const auto warned = applied("", begin + "  k: '1'\n  k: '2'");
  EXPECT_EQ(warned.value().duplicate_fields, std::vector<std::string>{R"(line 5: key "k" already set in map)"});
  EXPECT_EQ(warned.value().object["data"], json(R"({"k":"2"})"));
  const auto as_json = applied("", R"({"apiVersion":"v1","kind":"ConfigMap",)"
                                   "\n\t\"data\":{\"k\":\"1\",\n\t\"k\":\"2\"}}");
  EXPECT_EQ(as_json.value().duplicate_fields, std::vector<std::string>{R"(line 3: key "k" already set in map)"});
}

TEST_F(CodecsTest, KeysThatStandTwiceInAPatchAreReported) {  // CRU-6
  const auto complaints = [&](const std::string& type, const std::string& body) {
    const auto& write = decoded("PATCH", std::string{kDecodedMaps} + "/a", body, type);
    return write.value().propose(json(R"({"metadata":{"name":"a"},"data":{}})")).value().duplicate_fields;
  };
  for (const char* type : {"application/merge-patch+json", "application/strategic-merge-patch+json"}) {
    EXPECT_EQ(complaints(type, R"({"data":{"a":"1","a":"2"}})"),
              std::vector<std::string>{R"(duplicate field "data.a")"});
  }
  EXPECT_EQ(
      complaints("application/json-patch+json",
                 R"([{"op":"add","path":"/data/a","value":"1","sofa":1},{"op":"test","op":"add","path":"/data/b",)"
                 R"("value":"2"}])"),
      (std::vector<std::string>{R"(json patch unknown field "[0].sofa")", R"(json patch duplicate field "[1].op")"}));
}

TEST_F(CodecsTest, ApplyOfTheSameAmountInAnotherNotationIsNoConflict) {
  const auto apply = [&](const std::string& manager, const std::string& limits) {
    decoded("PATCH", std::string{kDeployment} + "?fieldManager=" + manager,
            R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"containers":[{"name":"c",)"
            R"("resources":{"limits":)" +
                limits + "}}]}}}}",
            "application/apply-patch+yaml");
  };
  apply("me", R"({"cpu":1,"memory":"1024Mi"})");
  const Value mine = write_->value().propose(missing()).value().object;
  apply("you", R"({"cpu":"1000m","memory":"1Gi"})");
  EXPECT_EQ(write_->value().propose(mine).value().object["spec"], mine["spec"]);
}

TEST_F(CodecsTest, WholeNumbersAreIntegersInPatchesThatAreNoPlainJson) {
  const Value current = json(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{}})");
  const auto replicas = [&](const std::string& type) {
    const auto& write =
        decoded("PATCH", std::string{kDeployment} + (type.starts_with("application/apply") ? "?fieldManager=me" : ""),
                R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":3.0}})", type);
    return to_json(write.value().propose(current).value().object["spec"]["replicas"]);
  };
  EXPECT_EQ(replicas("application/apply-patch+yaml"), "3");
  EXPECT_EQ(replicas("application/strategic-merge-patch+json"), "3");
  EXPECT_EQ(replicas("application/merge-patch+json"), "3.0") << "admission refuses it, as Go's decoder does";
}

TEST_F(CodecsTest, APatchOfWhatWasStoredWithWholeNumbersIsNotRefusedForThem) {
  const Value current = json(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","finalizers":[
      "x.y/z"]},"spec":{"replicas":3.0}})");
  const auto replicas = [&](const std::string& query, const std::string& body, const std::string& type) {
    const auto& write = decoded("PATCH", kDeployment + query, body, type);
    return to_json(write.value().propose(current).value().object["spec"]["replicas"]);
  };
  EXPECT_EQ(replicas("", R"({"metadata":{"finalizers":null}})", "application/merge-patch+json"), "3");
  EXPECT_EQ(replicas("?fieldManager=me", R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"}})",
                     "application/apply-patch+yaml"),
            "3");
}

TEST_F(CodecsTest, ApplyIsInConflictWithOtherOwners) {  // SSA-9
  const std::string body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":")";
  decoded("PATCH", std::string{kDecodedMaps} + "/a?fieldManager=me", body + R"(1"}})", "application/apply-patch+yaml");
  const Value mine = write_->value().propose(missing()).value().object;
  decoded("PATCH", std::string{kDecodedMaps} + "/a?fieldManager=you", body + R"(2"}})", "application/apply-patch+yaml");
  EXPECT_EQ(proposal_error(mine), ErrorCode::kConflict);
}

TEST_F(CodecsTest, ScalePutsReplicasIntoTheObject) {
  const Value web = json(R"({"metadata":{"name":"web","resourceVersion":"3"},"spec":{"replicas":1}})");
  const auto& write = decoded("PATCH", std::string{kDeployment} + "/scale", R"({"spec":{"replicas":4}})",
                              "application/merge-patch+json");
  ASSERT_TRUE(write);
  auto proposal = write.value().propose(web);
  ASSERT_TRUE(proposal);
  EXPECT_EQ(proposal.value().old["kind"].str(), "Scale");
  const auto changes = write.value().changes(proposal.value());
  EXPECT_EQ(changes.value().object["spec"]["replicas"].as_int(), 4);
  EXPECT_EQ(changes.value().expected, Revision{3});
  Committed committed;
  committed.object = changes.value().object;
  EXPECT_EQ(write.value().answer(proposal.value(), committed).value().body["spec"]["replicas"].as_int(), 4);
  proposal.value().object = json(R"({"spec":{"replicas":-1}})");
  EXPECT_EQ(write.value().changes(proposal.value()).error().error.code, ErrorCode::kInvalid);
}

TEST_F(CodecsTest, AStrategicMergePatchChangesNoKind) {  // SMP-11
  const Value web = json(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},
      "spec":{"replicas":1}})");
  const auto kind_after = [&](const std::string& path, const std::string& type) {
    const std::string body = R"({"apiVersion":"x/v1","kind":"X","spec":{"replicas":4}})";
    const auto proposal = decoded("PATCH", path, body, type).value().propose(web);
    if (!proposal) return std::string{"refused"};
    const Value& object = proposal.value().object;
    return object["apiVersion"].str() + " " + object["kind"].str() + " " + to_json(object["spec"]["replicas"]);
  };
  const std::string scale = std::string{kDeployment} + "/scale";
  EXPECT_EQ(kind_after(kDeployment, "application/strategic-merge-patch+json"), "apps/v1 Deployment 4");
  EXPECT_EQ(kind_after(scale, "application/strategic-merge-patch+json"), "autoscaling/v1 Scale 4");
  EXPECT_EQ(kind_after(kDeployment, "application/merge-patch+json"), "x/v1 X 4") << "admission refuses it";
  EXPECT_EQ(kind_after(scale, "application/merge-patch+json"), "refused");
}

TEST_F(CodecsTest, ScaleOfAnotherVersionIsAConflict) {
  decoded("PUT", std::string{kDeployment} + "/scale", R"({"metadata":{"resourceVersion":"2"},"spec":{"replicas":4}})");
  EXPECT_FALSE(write_->value().retries_conflicts);
  EXPECT_EQ(proposal_error(json(R"({"metadata":{"name":"web","resourceVersion":"3"}})")), ErrorCode::kConflict);
}

TEST_F(CodecsTest, EvictionSpendsTheBudgetOfThePod) {
  server_.put(
      ObjectCreated{{"pods", "default", "p"}, json(R"({"metadata":{"name":"p","namespace":"default","labels":{"a":"b"}},
                                     "spec":{"terminationGracePeriodSeconds":30},"status":{"phase":"Running"}})")});
  const ObjectKey budget{"poddisruptionbudgets.policy", "default", "b"};
  server_.put(ObjectCreated{budget, json(R"({"metadata":{"name":"b","namespace":"default"},
      "spec":{"selector":{"matchLabels":{"a":"b"}}},"status":{"disruptionsAllowed":1}})")});
  const auto& write = decoded("POST", std::string{kPod} + "/eviction", "{}");
  ASSERT_TRUE(write);
  auto proposal = write.value().propose(Value{});
  EXPECT_EQ(proposal.value().object["apiVersion"].str(), "policy/v1");
  const auto changes = write.value().changes(proposal.value());
  ASSERT_TRUE(changes);
  ASSERT_EQ(changes.value().events.size(), 2U);
  EXPECT_EQ(std::get<StatusUpdated>(changes.value().events[0]).value["status"]["disruptionsAllowed"].as_int(), 0);
  EXPECT_EQ(std::get<DeletionRequested>(changes.value().events[1]).object.name, "p");
  EXPECT_EQ(changes.value().expects.size(), 2U);
}

TEST_F(CodecsTest, ActionsOnPodsAreReadInTheirOwnVersionsOnly) {
  const std::string eviction = std::string{kPod} + "/eviction";
  for (const char* version : {"policy/v1", "policy/v1beta1"}) {
    const auto& write =
        decoded("POST", eviction, R"({"kind":"Eviction","apiVersion":")" + std::string{version} + "\"}");
    ASSERT_TRUE(write) << version;
    EXPECT_EQ(write.value().propose(Value{}).value().object["apiVersion"].str(), version);
  }
  const auto refusal = [&](const std::string& path, const char* body) {
    const auto& write = decoded("POST", path, body);
    return write ? std::string{} : std::string{name_of(write.error().error.code)} + ": " + write.error().error.message;
  };
  EXPECT_EQ(refusal(eviction, R"({"apiVersion":"v1"})"),
            R"(bad_request: no kind "Eviction" is registered for version "v1": use policy/v1)");
  EXPECT_EQ(refusal(std::string{kPod} + "/binding", R"({"apiVersion":"policy/v1"})"),
            R"(bad_request: no kind "Binding" is registered for version "policy/v1": use v1)");
  EXPECT_EQ(refusal(eviction, "[]"), "bad_request: the body is no Eviction");
  EXPECT_EQ(refusal(eviction, R"({"metadata":{"name":"q"}})"),
            "bad_request: name in URL does not match name in Eviction object: q");
}

TEST_F(CodecsTest, ActionsOnPodsAreReadInEveryFormOfBodies) {  // SUB-4, PB-3
  const auto grace = [&](const std::string& body, const std::string& type) {
    const auto& write = decoded("POST", std::string{kPod} + "/eviction", body, type);
    if (!write) return write.error().error.message;
    return to_json(write.value().propose(Value{}).value().object["deleteOptions"]["gracePeriodSeconds"]);
  };
  EXPECT_EQ(
      grace("{apiVersion: policy/v1, kind: Eviction, deleteOptions: {gracePeriodSeconds: 7}}", "application/yaml"),
      "7");
  for (const char* version : {"policy/v1", "policy/v1beta1"}) {
    const auto body = encode_protobuf(Kinds::compiled(),
                                      Value::object({{"apiVersion", version},
                                                     {"kind", "Eviction"},
                                                     {"metadata", Value::object({{"name", "p"}})},
                                                     {"deleteOptions", Value::object({{"gracePeriodSeconds", 0}})}}));
    EXPECT_EQ(grace(body.value(), "application/vnd.kubernetes.protobuf"), "0") << version;
  }
  const auto binding = encode_protobuf(
      Kinds::compiled(),
      json(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}})"));
  const auto& write =
      decoded("POST", std::string{kPod} + "/binding", binding.value(), "application/vnd.kubernetes.protobuf");
  ASSERT_TRUE(write);
  EXPECT_EQ(write.value().propose(Value{}).value().object["target"], json(R"({"kind":"Node","name":"n"})"));
}

TEST_F(CodecsTest, BindingAssignsThePodToANodeOnce) {
  server_.put(ObjectCreated{{"pods", "default", "p"}, ManualServer::object("p")});
  const auto& write = decoded("POST", std::string{kPod} + "/binding", R"({"target":{"kind":"Node","name":"n"}})");
  ASSERT_TRUE(write);
  auto proposal = write.value().propose(Value{});
  const auto changes = write.value().changes(proposal.value());
  const Value bound = std::get<ObjectUpdated>(changes.value().events[0]).value;
  EXPECT_EQ(bound["spec"]["nodeName"].str(), "n");
  server_.put(ObjectUpdated{{"pods", "default", "p"}, bound});
  EXPECT_EQ(write.value().changes(proposal.value()).error().error.code, ErrorCode::kConflict);
}

TEST_F(CodecsTest, DeleteChecksItsPreconditions) {
  const Value current = json(R"({"metadata":{"name":"a","namespace":"default","uid":"u","resourceVersion":"7"}})");
  decoded("DELETE", std::string{kDecodedMaps} + "/a", R"({"preconditions":{"uid":"v"}})");
  EXPECT_EQ(proposal_error(current), ErrorCode::kConflict);
  decoded("DELETE", std::string{kDecodedMaps} + "/a", R"({"preconditions":{"resourceVersion":"7"},"dryRun":["All"]})");
  EXPECT_TRUE(write_->value().parameters.dry_run);
  auto proposal = write_->value().propose(current);
  const auto changes = write_->value().changes(proposal.value());
  EXPECT_EQ(changes.value().expects, (std::vector<Expect>{{{"configmaps", "default", "a"}, Revision{7}}}));
  EXPECT_TRUE(changes.value().gone);
  EXPECT_EQ(error_of("DELETE", std::string{kDecodedMaps} + "/a?propagationPolicy=Some", ""), ErrorCode::kInvalid);
}

TEST_F(CodecsTest, WebhooksSeeTheOptionsOfTheRequest_ADM_2) {
  const auto options = [&](const std::string& method, const std::string& target, const std::string& body,
                           const Result<Value>& current, const std::string& type = "application/json") {
    const auto& write = decoded(method, target, body, type);
    const auto proposal = write.value().propose(current);
    return to_json(admission_request_for(*context_, write.value(), proposal.value()).options);
  };
  const std::string one = std::string{kDecodedMaps} + "/a";
  const Value current = json(R"({"metadata":{"name":"a","namespace":"default","uid":"u","resourceVersion":"7"}})");
  EXPECT_EQ(options("DELETE", one, R"({"propagationPolicy":"Foreground","gracePeriodSeconds":5,
                    "preconditions":{"uid":"u","resourceVersion":"7"},"dryRun":["All"]})",
                    current),
            R"({"apiVersion":"meta.k8s.io/v1","dryRun":["All"],"gracePeriodSeconds":5,"kind":"DeleteOptions",)"
            R"("preconditions":{"resourceVersion":"7","uid":"u"},"propagationPolicy":"Foreground"})");
  EXPECT_EQ(options("DELETE", one + "?orphanDependents=true&gracePeriodSeconds=0", "", current),
            R"({"apiVersion":"meta.k8s.io/v1","gracePeriodSeconds":0,"kind":"DeleteOptions","orphanDependents":true})");
  EXPECT_EQ(options("DELETE", one, "", current), R"({"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions"})");
  EXPECT_EQ(
      options("PATCH", one + "?fieldManager=m&fieldValidation=Strict", "{}", current, "application/merge-patch+json"),
      R"({"apiVersion":"meta.k8s.io/v1","fieldManager":"m","fieldValidation":"Strict","kind":"UpdateOptions"})");
  EXPECT_EQ(options("PATCH", one + "?fieldManager=m", R"({"apiVersion":"v1","kind":"ConfigMap"})", missing(),
                    "application/apply-patch+yaml"),
            R"({"apiVersion":"meta.k8s.io/v1","fieldManager":"m","kind":"CreateOptions"})");
  EXPECT_EQ(options("POST", kDecodedMaps, R"({"metadata":{"name":"a"}})", missing()),
            R"({"apiVersion":"meta.k8s.io/v1","kind":"CreateOptions"})");
}

TEST_F(CodecsTest, WhatIsDeletedInTheEphemeraWaitsForNoDependents_DEL_10) {
  const auto deletion_of = [&](const std::string& target, const std::string& finalizers) {
    decoded("DELETE", target, "");
    auto proposal = write_->value().propose(json(
        R"({"metadata":{"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":)" + finalizers + "}}"));
    return write_->value().changes(proposal.value()).value().events;
  };
  const std::string lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/a";
  for (const char* policy : {"?propagationPolicy=Foreground", "?orphanDependents=true"}) {
    const auto events = deletion_of(lease + policy, R"(["foregroundDeletion"])");
    ASSERT_EQ(events.size(), 2U) << policy;
    EXPECT_EQ(std::get<ObjectUpdated>(events[0]).value["metadata"]["finalizers"].size(), 0U) << "of an older deletion";
    EXPECT_EQ(std::get<DeletionRequested>(events[1]).propagation, "Background");
  }
  const auto events = deletion_of(std::string{kDecodedMaps} + "/a?propagationPolicy=Foreground", "[]");
  EXPECT_EQ(std::get<DeletionRequested>(events.back()).propagation, "Foreground");
}

TEST_F(CodecsTest, DeleteOfAJobWithoutAPolicyGoesWithAWarning_DEL_10) {
  const auto warnings = [&](const std::string& target, const std::string& body) {
    const auto& write = decoded("DELETE", target, body);
    EXPECT_EQ(write.value().propose(json(R"({"metadata":{"name":"a"}})")).value().warnings, write.value().warnings);
    return write.value().warnings;
  };
  const std::string jobs = "/apis/batch/v1/namespaces/default/jobs";
  const std::vector<std::string> expected = {
      "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or "
      "set propagationPolicy=Orphan to suppress this warning"};
  EXPECT_EQ(warnings(jobs + "/a", ""), expected);
  EXPECT_EQ(warnings(jobs, ""), expected) << "the collection";
  EXPECT_TRUE(warnings(jobs + "/a", R"({"propagationPolicy":"Orphan"})").empty());
  EXPECT_TRUE(warnings(jobs + "/a?orphanDependents=false", "").empty());
  EXPECT_TRUE(warnings(std::string{kDecodedMaps} + "/a", "").empty());
}

TEST_F(CodecsTest, DeleteOfACollectionDeletesEachObjectAsItWasListed) {
  const auto& write = decoded("DELETE", kDecodedMaps, "");
  ASSERT_TRUE(write);
  const ObjectKey key{"configmaps", "default", "a"};
  const WriteRequest single = write.value().for_object(key, ManualServer::object("a"));
  EXPECT_EQ(single.key, key);
  EXPECT_EQ(single.reads, WriteReads::kNothing);
  EXPECT_EQ(single.propose(missing()).value().old["metadata"]["name"].str(), "a");
}

TEST_F(CodecsTest, ReviewsAreAnsweredAndNotStored) {
  const auto& write = decoded("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                              R"({"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}})");
  ASSERT_TRUE(write);
  EXPECT_EQ(write.value().form, WriteForm::kReview);
  auto proposal = write.value().propose(Value{});
  Lane lane = server_.lane();
  auto answered = server_.finish(validate(server_.server(), *context_, write.value(), lane, proposal.value()));
  ASSERT_TRUE(answered);
  const auto changes = write.value().changes(answered.value());
  ASSERT_TRUE(changes);
  EXPECT_EQ(changes.value().put, WriteChanges::Put::kNothing);
  EXPECT_TRUE(changes.value().object["status"]["allowed"].as_bool());
}

TEST_F(CodecsTest, TokensNeedAKey) {
  EXPECT_EQ(error_of("POST", "/api/v1/namespaces/default/serviceaccounts/s/token", "{}"), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace shiplog::api
