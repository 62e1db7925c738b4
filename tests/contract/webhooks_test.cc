// Admission webhooks, called by the real shiplogd on a server in this process (ADM-2).
#include <atomic>

#include "events/base/ascii.h"
#include "events/base/base64.h"
#include "events/base/json.h"
#include "tests/contract/contract.h"
#include "tests/contract/webhook_server.h"

namespace shiplog::e2e {
namespace {

std::vector<std::string> warnings_of(const Answer& answer) {
  std::vector<std::string> warnings;
  for (const auto& [name, value] : answer.headers.all()) {
    if (equal_ignoring_case(name, "warning")) warnings.push_back(value);
  }
  return warnings;
}

TEST(Webhooks, MutatingWebhooksPatchInTheOrderOfTheirNamesAndValidatingOnesReceiveTheResult) {
  const std::string creations = R"({"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],
      "resources":["configmaps"]}]})";
  const WebhookConfiguration second{true, "mut-b", "/mut-b", creations, "order"};
  const WebhookConfiguration first{true, "mut-a", "/mut-a", creations, "order"};
  const WebhookConfiguration third{false, "mut-v", "/mut-v", "{}", "order"};
  EXPECT_EQ(first.made.headers.get("Warning"), "");
  webhook_server().set_answer(
      "/mut-a", [](const Value&) { return patched_by(R"([{"op":"add","path":"/data","value":{"a":"1"}}])"); });
  webhook_server().set_answer("/mut-b", [](const Value& request) {
    return patched_by(
        request["object"]["data"]["a"].as_string() == "1" ? R"([{"op":"add","path":"/data/b","value":"2"}])" : "[]");
  });
  const Answer made = api().post(kConfigMaps, labelled("mutated", "order"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["data"], json(R"({"a":"1","b":"2"})"));
  EXPECT_EQ(api().get(kConfigMaps + "/mutated").json["data"]["b"].str(), "2");
  const auto seen = webhook_server().asked("/mut-v");
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0]["object"]["data"]["b"].str(), "2");
  EXPECT_EQ(seen[0]["operation"].str(), "CREATE");
  EXPECT_EQ(seen[0]["namespace"].str(), "default");
  EXPECT_EQ(seen[0]["userInfo"]["username"].str(), "kubernetes-admin");
  EXPECT_EQ(api().remove(kConfigMaps + "/mutated").status, 200);
}

TEST(Webhooks, TheResultOfAWebhookIsValidated) {
  const WebhookConfiguration configured{true, "breaks", "/breaks"};
  webhook_server().set_answer("/breaks", [](const Value&) {
    return patched_by(R"([{"op":"add","path":"/metadata/labels/x","value":"not a label value"}])");
  });
  expect_failure(api().post(kConfigMaps, labelled("broken", "breaks")), 422, "Invalid", "metadata.labels");
}

TEST(Webhooks, ADenialIsReturnedWithItsCodeAndNothingIsStored) {
  const WebhookConfiguration configured{false, "denies", "/denies"};
  webhook_server().set_answer("/denies", [](const Value&) {
    return json(R"({"allowed":false,"warnings":["look out"],"status":{"code":418,"reason":"Teapot",
        "message":"short and stout","details":{"retryAfterSeconds":7}}})");
  });
  const Answer refused = api().post(kConfigMaps, labelled("denied", "denies"));
  expect_failure(refused, 418, "Teapot",
                 "admission webhook \"denies.hooks.example\" denied the request: short and stout");
  EXPECT_NE(refused.headers.get("Warning").find("look out"), std::string::npos);
  EXPECT_EQ(refused.headers.get("Retry-After"), "7");
  EXPECT_EQ(api().get(kConfigMaps + "/denied").status, 404);
}

TEST(Webhooks, ADenialOfADeletionInACollectionIsReturnedWithItsCode) {
  ASSERT_EQ(api().post(kConfigMaps, labelled("kept", "keeps")).status, 201);
  {
    const WebhookConfiguration configured{false, "keeps", "/keeps"};
    webhook_server().set_answer("/keeps", [](const Value&) {
      return json(R"({"allowed":false,"status":{"code":418,"reason":"Teapot","message":"not this one"}})");
    });
    expect_failure(api().call("DELETE", kConfigMaps + "?labelSelector=test%3Dkeeps"), 418, "Teapot",
                   "admission webhook \"keeps.hooks.example\" denied the request: not this one");
    EXPECT_EQ(api().get(kConfigMaps + "/kept").status, 200);
  }
  EXPECT_EQ(api().remove(kConfigMaps + "/kept").status, 200);
}

TEST(Webhooks, WarningsAboutDeletionsInACollectionAreSentOnce) {
  for (const char* name : {"gone-1", "gone-2"}) {
    ASSERT_EQ(api().post(kConfigMaps, labelled(name, "goes")).status, 201);
  }
  const WebhookConfiguration configured{false, "goes", "/goes"};
  webhook_server().set_answer("/goes", [](const Value&) {
    return Value::object({{"allowed", true}, {"warnings", Value::array({"it goes", "", "it goes"})}});
  });
  const Answer deleted = api().call("DELETE", kConfigMaps + "?labelSelector=test%3Dgoes");
  ASSERT_EQ(deleted.status, 200) << deleted;
  EXPECT_EQ(warnings_of(deleted), std::vector<std::string>{R"(299 - "it goes")"});
}

TEST(Webhooks, ADeletionCannotBePatched) {
  ASSERT_EQ(api().post(kConfigMaps, labelled("patched-away", "patches-away")).status, 201);
  {
    const WebhookConfiguration configured{true, "patches-away", "/patches-away", R"({"failurePolicy":"Ignore"})"};
    webhook_server().set_answer("/patches-away",
                                [](const Value&) { return patched_by(R"([{"op":"remove","path":"/data"}])"); });
    expect_failure(api().remove(kConfigMaps + "/patched-away"), 500, "InternalError",
                   "Internal error occurred: admission webhook \"patches-away.hooks.example\" attempted to modify the "
                   "object, which is not supported for this operation");
  }
  EXPECT_EQ(api().remove(kConfigMaps + "/patched-away").status, 200);
}

TEST(Webhooks, UpdatesPatchesAndDeletionsContainTheOldObject) {
  const WebhookConfiguration configured{false, "guards", "/guards"};
  webhook_server().set_answer("/guards", [](const Value& request) {
    const bool locked = request["oldObject"]["data"]["locked"].as_string() == "yes";
    return Value::object({{"allowed", !locked}, {"status", json(R"({"message":"locked","code":403})")}});
  });
  Value object = labelled("guarded", "guards");
  ASSERT_EQ(api().post(kConfigMaps, object).status, 201);
  ASSERT_EQ(api().patch(kConfigMaps + "/guarded", "merge", json(R"({"data":{"locked":"yes"}})")).status, 200);
  EXPECT_EQ(api().patch(kConfigMaps + "/guarded", "merge", json(R"({"data":{"a":"b"}})")).status, 403);
  EXPECT_EQ(api().put(kConfigMaps + "/guarded", object).status, 403);
  const Answer kept = api().remove(kConfigMaps + "/guarded");
  EXPECT_EQ(kept.status, 403) << kept;
  EXPECT_EQ(kept.message(), "admission webhook \"guards.hooks.example\" denied the request: locked");
  EXPECT_EQ(api().call("DELETE", kConfigMaps + "?labelSelector=test%3Dguards").status, 403);
  EXPECT_EQ(api().get(kConfigMaps + "/guarded").status, 200);
  const Value last = webhook_server().asked("/guards").back();
  EXPECT_EQ(last["operation"].str(), "DELETE");
  EXPECT_TRUE(last["object"].is_null());
}

TEST(Webhooks, FailurePolicyAppliesToAnUnreachableWebhook) {
  const std::string unreachable = R"({"clientConfig":{"url":"https://127.0.0.1:1/"},"failurePolicy":)";
  {
    const WebhookConfiguration closed{false, "closed", "/", unreachable + "\"Fail\"}"};
    const Answer refused = api().post(kConfigMaps, labelled("closed", "closed"));
    expect_failure(refused, 500, "InternalError",
                   "failed calling webhook \"closed.hooks.example\": failed to call webhook: Post "
                   "\"https://127.0.0.1:1/?timeout=10s\"");
  }
  const WebhookConfiguration open{false, "open", "/", unreachable + "\"Ignore\"}"};
  EXPECT_EQ(api().post(kConfigMaps, labelled("opened", "open")).status, 201);
}

TEST(Webhooks, AWebhookThatTimesOutHasFailed) {
  static std::mutex held;
  const WebhookConfiguration configured{false, "slow", "/slow", R"({"timeoutSeconds":1})"};
  webhook_server().set_answer("/slow", [](const Value&) {
    const std::lock_guard wait{held};
    return Value::object({{"allowed", true}});
  });
  std::unique_lock hold{held};
  const Answer refused = api().post(kConfigMaps, labelled("slow", "slow"));
  hold.unlock();
  expect_failure(refused, 500, "InternalError", "failed calling webhook \"slow.hooks.example\"");
}

TEST(Webhooks, ACallTakesNoLongerThanTheTimeoutOfTheRequest) {
  const WebhookConfiguration longer{true, "timed-a", "/timed-a", R"({"timeoutSeconds":20})", "timed"};
  const WebhookConfiguration shorter{false, "timed-b", "/timed-b", R"({"timeoutSeconds":2})", "timed"};
  ASSERT_EQ(api().post(kConfigMaps + "?timeout=15s", labelled("timed", "timed")).status, 201);
  EXPECT_EQ(webhook_server().query("/timed-a"), "?timeout=15s");
  EXPECT_EQ(webhook_server().query("/timed-b"), "?timeout=2s");
}

TEST(Webhooks, WhenTheTimeOfTheRequestIsOverNothingIsStored) {
  static std::mutex held;
  const std::string ignored = R"({"timeoutSeconds":20,"failurePolicy":"Ignore"})";
  const WebhookConfiguration slow{true, "over-a", "/over-a", ignored, "over"};
  const WebhookConfiguration next{true, "over-b", "/over-b", ignored, "over"};
  webhook_server().set_answer("/over-a", [](const Value&) {
    const std::lock_guard wait{held};
    return Value::object({{"allowed", true}});
  });
  std::unique_lock hold{held};
  const Answer refused = api().post(kConfigMaps + "?timeout=1s", labelled("over", "over"));
  hold.unlock();
  expect_failure(refused, 504, "Timeout", "Timeout: request did not complete within requested timeout");
  EXPECT_EQ(webhook_server().query("/over-a"), "?timeout=1s");
  EXPECT_TRUE(webhook_server().asked("/over-b").empty());
  EXPECT_EQ(api().get(kConfigMaps + "/over").status, 404);
}

TEST(Webhooks, AHostileResponseFailsTheRequestAndNothingElse) {
  const WebhookConfiguration configured{false, "hostile", WebhookServer::kRaw, R"({"timeoutSeconds":5})"};
  const std::string review = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":)";
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "[";
  const std::vector<std::pair<const char*, HttpResponse>> responses = {
      {"nothing", {200, {}, ""}},
      {"a page", {200, {{"Content-Type", "text/html"}}, "<html>"}},
      {"another uid", {200, {}, review + R"({"uid":"another","allowed":true}})"}},
      {"no response", {200, {}, R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"})"}},
      {"another version", {200, {}, R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v9","response":{}})"}},
      {"deep nesting", {200, {}, nested}},
      {"64 MiB", {200, {}, std::string(64U << 20, ' ')}},
      {"a redirect", {302, {{"Location", "https://127.0.0.1:1/"}}, ""}},
      {"an error", {503, {}, "allowed"}},
  };
  for (const auto& [name, response] : responses) {
    webhook_server().set_raw(response);
    const Answer refused = api().post(kConfigMaps, labelled("hostile", "hostile"));
    expect_failure(refused, 500, "InternalError", "failed calling webhook \"hostile.hooks.example\"");
    EXPECT_LT(refused.body.size(), 4096U) << name << ": the response is not repeated in whole";
  }
  EXPECT_EQ(api().get(kConfigMaps + "/hostile").status, 404);
}

TEST(Webhooks, ACallIsPartOfTheTraceOfItsRequest) {
  const WebhookConfiguration configured{false, "traced", "/traced"};
  const std::string trace = "0af7651916cd43dd8448eb211c80319c";
  const std::string parent = "00-" + trace + "-b7ad6b7169203331-01";
  const Answer made =
      api().call("POST", kConfigMaps, to_json(labelled("traced", "traced")),
                 {{"Content-Type", "application/json"}, {"traceparent", parent}, {"tracestate", "a=1,b=2"}});
  ASSERT_EQ(made.status, 201) << made;
  const HttpHeaders received = webhook_server().headers("/traced");
  const std::string traceparent{received.get("traceparent")};
  EXPECT_EQ(traceparent.substr(0, 36), "00-" + trace + "-");
  EXPECT_NE(traceparent, parent) << "the call is a span of its own";
  EXPECT_EQ(received.get("tracestate"), "a=1,b=2");
}

TEST(Webhooks, OnlySelectedNamespacesAreReviewed) {
  const WebhookConfiguration configured{
      false, "spaces", "/spaces",
      R"({"objectSelector":{},"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"hooked"}}})"};
  webhook_server().set_answer("/spaces", [](const Value&) { return json(R"({"allowed":false})"); });
  ASSERT_EQ(api().post("/api/v1/namespaces", json(R"({"metadata":{"name":"hooked"}})")).status, 201);
  EXPECT_EQ(api().post(kConfigMaps, config_map("elsewhere")).status, 201);
  EXPECT_EQ(api().post("/api/v1/namespaces/hooked/configmaps", json(R"({"metadata":{"name":"here"}})")).status, 400);
}

TEST(Webhooks, ADryRunIsIndicated) {
  const WebhookConfiguration configured{true, "dry", "/dry"};
  webhook_server().set_answer(
      "/dry", [](const Value&) { return patched_by(R"([{"op":"add","path":"/data","value":{"seen":"yes"}}])"); });
  const Answer made = api().post(kConfigMaps + "?dryRun=All", labelled("dry", "dry"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["data"]["seen"].str(), "yes");
  EXPECT_TRUE(webhook_server().asked("/dry").back()["dryRun"].as_bool());
  EXPECT_EQ(api().get(kConfigMaps + "/dry").status, 404);
}

TEST(Webhooks, AReinvokedWebhookReceivesTheChangesOfLaterOnes) {
  const WebhookConfiguration first{true, "again-a", "/again-a", R"({"reinvocationPolicy":"IfNeeded"})", "again"};
  const WebhookConfiguration second{true, "again-b", "/again-b", "{}", "again"};
  webhook_server().set_answer(
      "/again-b", [](const Value&) { return patched_by(R"([{"op":"add","path":"/data","value":{"b":"1"}}])"); });
  ASSERT_EQ(api().post(kConfigMaps, labelled("again", "again")).status, 201);
  const auto seen = webhook_server().asked("/again-a");
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_TRUE(seen[0]["object"]["data"]["b"].is_null());
  EXPECT_EQ(seen[1]["object"]["data"]["b"].str(), "1");
  EXPECT_EQ(webhook_server().asked("/again-b").size(), 1U);
}

TEST(Webhooks, AChangeInTheSecondRoundReinvokesLaterWebhooks) {
  const std::string if_needed = R"({"reinvocationPolicy":"IfNeeded"})";
  const WebhookConfiguration first{true, "rounds-a", "/rounds-a", if_needed, "rounds"};
  const WebhookConfiguration second{true, "rounds-b", "/rounds-b", if_needed, "rounds"};
  webhook_server().set_answer("/rounds-a", [](const Value& request) {
    return request["object"]["data"]["b"].is_null() ? Value::object({{"allowed", true}})
                                                    : patched_by(R"([{"op":"add","path":"/data/a","value":"1"}])");
  });
  webhook_server().set_answer("/rounds-b", [](const Value& request) {
    return request["object"]["data"]["b"].is_null() ? patched_by(R"([{"op":"add","path":"/data","value":{"b":"1"}}])")
                                                    : Value::object({{"allowed", true}});
  });
  ASSERT_EQ(api().post(kConfigMaps, labelled("rounds", "rounds")).status, 201);
  EXPECT_EQ(webhook_server().asked("/rounds-a").size(), 2U);
  const auto seen = webhook_server().asked("/rounds-b");
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[1]["object"]["data"]["a"].str(), "1");
}

TEST(Webhooks, WhatAWebhookSetsHasNoOwner) {
  const WebhookConfiguration configured{true, "owners", "/owners"};
  webhook_server().set_answer("/owners", [](const Value& request) {
    return request["operation"].as_string() == "CREATE"
               ? patched_by(R"([{"op":"add","path":"/data","value":{"hooked":"1"}}])")
               : Value::object({{"allowed", true}});
  });
  const Answer made = api().post(kConfigMaps + "?fieldManager=me", labelled("owned", "owners"));
  ASSERT_EQ(made.status, 201) << made;
  const Value& fields = made.json["metadata"]["managedFields"][0]["fieldsV1"];
  EXPECT_FALSE(fields["f:metadata"]["f:labels"].is_null());
  EXPECT_TRUE(fields["f:data"].is_null()) << to_json(fields);
  EXPECT_EQ(webhook_server().asked("/owners").back()["object"]["metadata"]["managedFields"],
            made.json["metadata"]["managedFields"]);
  const std::string apply =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"owned"},"data":{"hooked":"2"}})";
  const Answer applied = api().call("PATCH", kConfigMaps + "/owned?fieldManager=other", apply,
                                    {{"Content-Type", "application/apply-patch+yaml"}});
  EXPECT_EQ(applied.status, 200) << applied;
  EXPECT_EQ(applied.json["data"]["hooked"].str(), "2");
}

TEST(Webhooks, OwnersThatAWebhookHasBrokenAreReset) {
  const WebhookConfiguration configured{true, "breaks", "/breaks"};
  webhook_server().set_answer("/breaks", [](const Value&) {
    return patched_by(R"([{"op":"replace","path":"/metadata/managedFields","value":[{"manager":"m"}]}])");
  });
  const Answer made = api().post(kConfigMaps + "?fieldManager=me", labelled("broken", "breaks"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["metadata"]["managedFields"][0]["manager"].str(), "me");
  EXPECT_EQ(warnings_of(made),
            std::vector<std::string>{"299 - \".metadata.managedFields was in an invalid state after admission; this "
                                     "could be caused by an outdated mutating admission controller; please fix your "
                                     "requests: operation must be `Apply` or `Update`\""});
}

TEST(Webhooks, OwnerReferencesThatAWebhookRepeatsAreUnited) {  // META-14
  const WebhookConfiguration configured{true, "repeats", "/repeats"};
  webhook_server().set_answer("/repeats", [](const Value&) {
    const std::string owner = R"({"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"1-2"})";
    return patched_by(R"([{"op":"add","path":"/metadata/ownerReferences","value":[)" + owner + "," + owner + "]}]");
  });
  const Answer made = api().post(kConfigMaps + "?dryRun=All", labelled("repeated", "repeats"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["metadata"]["ownerReferences"].size(), 1U);
  ASSERT_EQ(warnings_of(made).size(), 1U);
  EXPECT_NE(warnings_of(made)[0].find("contains duplicate entries after mutating admission happens"),
            std::string::npos);
}

TEST(Webhooks, ValidatingOnesSeeTheIdentityOfANewObject) {
  const WebhookConfiguration configured{false, "identity", "/identity"};
  const Answer made = api().post(kConfigMaps, labelled("identity", "identity"));
  ASSERT_EQ(made.status, 201) << made;
  const Value seen = webhook_server().asked("/identity").back()["object"]["metadata"];
  for (const char* field : {"uid", "creationTimestamp"}) {
    EXPECT_FALSE(seen[field].is_empty()) << field;
    EXPECT_EQ(seen[field], made.json["metadata"][field]);
  }
}

TEST(Webhooks, AServiceIsCalledAtItsExternalNameUnderItsOwn) {
  Value service = json(R"({"metadata":{"name":"hooks"},"spec":{"type":"ExternalName","externalName":"localhost"}})");
  ASSERT_EQ(api().post("/api/v1/namespaces/default/services", service).status, 201);
  Value client = json(R"({"service":{"namespace":"default","name":"hooks","path":"/service"}})");
  client.edit("service").set("port", webhook_server().port());
  client.set("caBundle", webhook_server().ca());
  const WebhookConfiguration configured{true, "service", "/", to_json(Value::object({{"clientConfig", client}}))};
  ASSERT_EQ(api().post(kConfigMaps, labelled("service", "service")).status, 201);
  EXPECT_EQ(webhook_server().asked("/service").size(), 1U);
  ASSERT_EQ(api().remove("/api/v1/namespaces/default/services/hooks").status, 200);
  expect_failure(api().post(kConfigMaps, labelled("service2", "service")), 500, "InternalError",
                 "service \"hooks\" of namespace \"default\" not found");
}

TEST(Webhooks, QuestionsThatAreAnsweredAndNotStoredAreReviewed) {
  const std::string rules = R"({"objectSelector":{},"rules":[{"operations":["CREATE"],"apiVersions":["v1"],
      "apiGroups":["authorization.k8s.io"],"resources":["selfsubjectaccessreviews"]}]})";
  const std::string reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const Value question = json(R"({"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}})");
  {
    const WebhookConfiguration mutating{true, "asks-a", "/asks-a", rules};
    const WebhookConfiguration validating{false, "asks-b", "/asks-b", rules};
    webhook_server().set_answer("/asks-a", [](const Value&) {
      return patched_by(R"([{"op":"replace","path":"/spec/resourceAttributes/verb","value":"list"}])");
    });
    const Answer allowed = api().post(reviews, question);
    ASSERT_EQ(allowed.status, 201) << allowed;
    EXPECT_TRUE(allowed.json["status"]["allowed"].as_bool());
    EXPECT_EQ(allowed.json["spec"]["resourceAttributes"]["verb"].str(), "list");
    ASSERT_EQ(webhook_server().asked("/asks-b").size(), 1U);
    const Value seen = webhook_server().asked("/asks-b")[0];
    EXPECT_EQ(seen["kind"]["kind"].str(), "SelfSubjectAccessReview");
    EXPECT_EQ(seen["object"]["spec"]["resourceAttributes"]["verb"].str(), "list");
    webhook_server().set_answer("/asks-b", [](const Value&) { return json(R"({"allowed":false})"); });
    expect_failure(api().post(reviews, question), 400, "", "denied the request without explanation");
  }
  EXPECT_EQ(api().post(reviews, question).status, 201);
}

TEST(Webhooks, ConfigurationsThemselvesAreNotReviewed) {
  const WebhookConfiguration everything{
      false, "everything", "/everything",
      R"({"objectSelector":{},"rules":[{"operations":["*"],"apiGroups":["admissionregistration.k8s.io"],"apiVersions":["*"],"resources":["*/*"]}]})"};
  webhook_server().set_answer("/everything", [](const Value&) { return json(R"({"allowed":false})"); });
  { const WebhookConfiguration another{true, "another", "/another"}; }
  EXPECT_TRUE(webhook_server().asked("/everything").empty());
}

TEST(Webhooks, SubresourcesAreReviewedInTheirOwnForm) {
  const auto rule = [](const std::string& group, const std::string& resource) {
    return R"({"objectSelector":{},"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"subhooked"}},)"
           R"("rules":[{"operations":["*"],"apiGroups":[")" +
           group + R"("],"apiVersions":["*"],"resources":[")" + resource + R"("]}]})";
  };
  ASSERT_EQ(api().post("/api/v1/namespaces", json(R"({"metadata":{"name":"subhooked"}})")).status, 201);
  const std::string core = "/api/v1/namespaces/subhooked/";
  const std::string web = "/apis/apps/v1/namespaces/subhooked/deployments/web";
  ASSERT_EQ(api().post("/apis/apps/v1/namespaces/subhooked/deployments", deployment("web")).status, 201);
  ASSERT_EQ(
      api()
          .post(core + "pods", json(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})"))
          .status,
      201);
  ASSERT_EQ(api().post(core + "serviceaccounts", json(R"({"metadata":{"name":"sa"}})")).status, 201);
  {
    const WebhookConfiguration changes{true, "scales", "/scales", rule("apps", "deployments/scale")};
    const WebhookConfiguration guards{false, "guards-scale", "/guards-scale", rule("*", "*/scale")};
    webhook_server().set_answer(
        "/scales", [](const Value&) { return patched_by(R"([{"op":"replace","path":"/spec/replicas","value":7}])"); });
    webhook_server().set_answer("/guards-scale", [](const Value& request) {
      return Value::object(
          {{"allowed", request["dryRun"].as_bool() || request["object"]["spec"]["replicas"] == Value{7}}});
    });
    const Answer scaled = api().patch(web + "/scale", "merge", json(R"({"spec":{"replicas":5}})"));
    ASSERT_EQ(scaled.status, 200) << scaled;
    EXPECT_EQ(scaled.json["spec"]["replicas"].as_int(), 7);
    EXPECT_EQ(api().get(web).json["spec"]["replicas"].as_int(), 7);
    const auto asked = webhook_server().asked("/guards-scale");
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0]["kind"], json(R"({"group":"autoscaling","version":"v1","kind":"Scale"})"));
    EXPECT_EQ(asked[0]["resource"]["resource"].str(), "deployments");
    EXPECT_EQ(asked[0]["subResource"].str(), "scale");
    EXPECT_EQ(asked[0]["operation"].str(), "UPDATE");
    EXPECT_EQ(asked[0]["name"].str(), "web");
    EXPECT_EQ(webhook_server().asked("/scales").back()["object"]["spec"]["replicas"].as_int(), 5);
    EXPECT_EQ(api().patch(web, "merge", json(R"({"spec":{"replicas":2}})")).status, 200)
        << "other subresources are not reviewed";
    EXPECT_EQ(webhook_server().asked("/guards-scale").size(), 1U);
  }
  for (const auto& [path, resource, body, kind] :
       {std::tuple{"pods/p/eviction", "pods/eviction", R"({"metadata":{"name":"p"}})", "Eviction"},
        std::tuple{"pods/p/binding", "pods/*", R"({"metadata":{"name":"p"},"target":{"name":"n"}})", "Binding"},
        std::tuple{"serviceaccounts/sa/token", "*/*", "{}", "TokenRequest"}}) {
    const std::string hook = std::string{"/no-"} + kind;
    webhook_server().set_answer(hook,
                                [](const Value&) { return json(R"({"allowed":false,"status":{"message":"no"}})"); });
    const std::string name = "no-" + lower_case(kind);
    const WebhookConfiguration refuses{false, name, hook, rule("", resource)};
    const Answer refused = api().post(core + path, json(body));
    EXPECT_EQ(refused.status, 400) << refused;
    EXPECT_EQ(refused.message(), "admission webhook \"" + name + ".hooks.example\" denied the request: no");
    ASSERT_EQ(webhook_server().asked(hook).size(), 1U) << kind;
    const Value asked = webhook_server().asked(hook)[0];
    EXPECT_EQ(asked["object"]["kind"].str(), kind);
    EXPECT_EQ(asked["kind"]["kind"].str(), kind);
    EXPECT_EQ(asked["operation"].str(), "CREATE");
    EXPECT_EQ(asked["namespace"].str(), "subhooked");
  }
  const Answer pod = api().get(core + "pods/p");
  EXPECT_EQ(pod.status, 200) << "neither evicted nor bound";
  EXPECT_TRUE(pod.json["spec"]["nodeName"].is_empty());
  EXPECT_EQ(api().remove("/api/v1/namespaces/subhooked").status, 200);
}

TEST(Webhooks, ConditionsThatCannotBeCompiledAreRefusedWhenTheyAreWritten) {
  const Answer refused =
      api().post(kConfigurations + "validatingwebhookconfigurations",
                 json(R"({"metadata":{"name":"cel"},"webhooks":[{"name":"a.b.c","clientConfig":{"url":"https://a/"},
        "sideEffects":"None","admissionReviewVersions":["v1"],"matchConditions":[{"name":"x","expression":"nothing"}]}]})"));
  expect_failure(refused, 422, "Invalid",
                 "webhooks[0].matchConditions[0].expression: Invalid value: \"nothing\": compilation failed: ERROR: "
                 "<input>:1:1: undeclared reference to 'nothing'");
}

}  // namespace
}  // namespace shiplog::e2e
