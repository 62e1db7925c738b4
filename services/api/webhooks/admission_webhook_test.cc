// Which webhook is called, at which address, and how its answer is interpreted (ADM-2).
#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "services/api/webhooks/review.h"

namespace shiplog::api {
namespace {

Value json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value ? std::move(value).value() : Value{};
}

/// A configuration of one webhook with one rule; `more` goes beside the rules.
AdmissionWebhook webhook(const std::string& rule, const std::string& more = "", bool mutating = true) {
  const std::string text = R"({"metadata":{"name":"c"},"webhooks":[{"name":"a.b.c","admissionReviewVersions":["v1"],)" +
                           more + R"("rules":[)" + rule + "]}]}";
  const auto webhooks = webhooks_of(json(text), mutating);
  return webhooks.size() == 1 ? webhooks.front() : AdmissionWebhook{};
}

AdmissionRequest action(const char* type, const std::string& operation = "CREATE",
                        const std::string& subresource = "") {
  AdmissionRequest action;
  action.kinds = &Kinds::compiled();
  action.kind = action.kinds->find_type(type);
  EXPECT_NE(action.kind, nullptr) << type;
  action.operation = operation;
  action.subresource = subresource;
  return action;
}

bool asked(const std::string& rule, const AdmissionRequest& about) {
  return matched_kind(webhook(rule), about) != nullptr;
}

constexpr const char* kPods = R"({"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]})";

TEST(AdmissionWebhooks, ARuleNamesOperationsGroupsVersionsAndResources) {
  EXPECT_TRUE(asked(kPods, action("pods")));
  EXPECT_FALSE(asked(kPods, action("pods", "UPDATE")));
  EXPECT_FALSE(asked(kPods, action("pods", "CREATE", "status")));
  EXPECT_FALSE(asked(kPods, action("services")));
  EXPECT_FALSE(
      asked(R"({"operations":["*"],"apiGroups":["apps"],"apiVersions":["*"],"resources":["*"]})", action("pods")));
  EXPECT_FALSE(
      asked(R"({"operations":["*"],"apiGroups":[""],"apiVersions":["v2"],"resources":["*"]})", action("pods")));
}

TEST(AdmissionWebhooks, AStarStandsForResourcesAndAStarBehindASlashForSubresources) {
  const auto rule = [](const std::string& resource) {
    return R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":[")" + resource + "\"]}";
  };
  EXPECT_TRUE(asked(rule("*"), action("pods")));
  EXPECT_FALSE(asked(rule("*"), action("pods", "UPDATE", "status")));
  EXPECT_TRUE(asked(rule("*/*"), action("pods")));
  EXPECT_TRUE(asked(rule("*/*"), action("pods", "UPDATE", "status")));
  EXPECT_TRUE(asked(rule("pods/*"), action("pods", "UPDATE", "status")));
  EXPECT_FALSE(asked(rule("pods/*"), action("services", "UPDATE", "status")));
  EXPECT_TRUE(asked(rule("*/scale"), action("deployments.apps", "UPDATE", "scale")));
  EXPECT_FALSE(asked(rule("*/scale"), action("deployments.apps")));
}

TEST(AdmissionWebhooks, AScopeDistinguishesClusterAndNamespaced) {
  const auto rule = [](const std::string& scope) {
    return R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":")" + scope + "\"}";
  };
  EXPECT_TRUE(asked(rule("Namespaced"), action("pods")));
  EXPECT_FALSE(asked(rule("Namespaced"), action("namespaces")));
  EXPECT_FALSE(asked(rule("Cluster"), action("pods")));
  EXPECT_TRUE(asked(rule("Cluster"), action("namespaces")));
  EXPECT_TRUE(asked(rule("*"), action("pods")));
}

TEST(AdmissionWebhooks, AnEquivalentVersionMatchesUnlessItMustBeExact) {
  const char* rule = R"({"operations":["*"],"apiGroups":["autoscaling"],"apiVersions":["v1"],
      "resources":["horizontalpodautoscalers"]})";
  AdmissionRequest about = action("horizontalpodautoscalers.autoscaling");
  ASSERT_EQ(about.kind->version, "v2");
  const Kind* wanted = matched_kind(webhook(rule), about);
  ASSERT_NE(wanted, nullptr);
  EXPECT_EQ(wanted->version, "v1");
  EXPECT_EQ(matched_kind(webhook(rule, R"("matchPolicy":"Exact",)"), about), nullptr);

  about.object = json(R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","spec":{"metrics":[{"type":
      "Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":70}}}]}})");
  const auto review = review_request(webhook(rule), about, *wanted, "u1");
  ASSERT_TRUE(review.has_value());
  const Value& request = review.value()["request"];
  EXPECT_EQ(request["object"]["spec"]["targetCPUUtilizationPercentage"].as_int(), 70) << "in the version that it knows";
  EXPECT_EQ(request["kind"]["version"].str(), "v1");
  EXPECT_EQ(request["requestKind"]["version"].str(), "v2");
}

TEST(AdmissionWebhooks, AnObjectIsSelectedByItsLabelsBeforeOrAfter) {
  const AdmissionWebhook only = webhook(kPods, R"("objectSelector":{"matchLabels":{"a":"b"}},)");
  AdmissionRequest about = action("pods");
  about.object = json(R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_TRUE(is_selected(only, about));
  about.object = json(R"({"metadata":{}})");
  EXPECT_FALSE(is_selected(only, about));
  about.old = json(R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_TRUE(is_selected(only, about));
  EXPECT_TRUE(is_selected(webhook(kPods), about));
}

TEST(AdmissionWebhooks, ConfigurationsOfWebhooksAreBeyondWebhooks) {
  EXPECT_TRUE(is_beyond_webhooks(*action("mutatingwebhookconfigurations.admissionregistration.k8s.io").kind));
  EXPECT_FALSE(is_beyond_webhooks(*action("pods").kind));
}

TEST(AdmissionWebhooks, AReviewContainsTheRequestAndItsUser) {
  AdmissionRequest about = action("pods", "UPDATE");
  about.ns = "default";
  about.name = "p";
  about.object = json(R"({"apiVersion":"v1","kind":"Pod"})");
  about.user = json(R"({"username":"jane"})");
  auto review = review_request(webhook(kPods), about, *about.kind, "u1");
  ASSERT_TRUE(review.has_value());
  EXPECT_EQ(review.value()["apiVersion"].str(), "admission.k8s.io/v1");
  const Value& request = review.value()["request"];
  EXPECT_EQ(request["uid"].str(), "u1");
  EXPECT_EQ(request["resource"], json(R"({"group":"","version":"v1","resource":"pods"})"));
  EXPECT_EQ(request["kind"], json(R"({"group":"","version":"v1","kind":"Pod"})"));
  EXPECT_EQ(request["operation"].str(), "UPDATE");
  EXPECT_EQ(request["userInfo"]["username"].str(), "jane");
  EXPECT_TRUE(request["oldObject"].is_null());
  EXPECT_FALSE(request["dryRun"].as_bool(true));
  EXPECT_FALSE(request.contains("subResource"));
  AdmissionWebhook old = webhook(kPods);
  old.review_versions = {"v0"};
  EXPECT_FALSE(review_request(old, about, *about.kind, "u1").has_value());
}

Result<AdmissionResponse> answered(const std::string& response, bool mutating = true) {
  return read_review(
      webhook(kPods, "", mutating),
      json(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":)" + response + "}"), "u1");
}

TEST(AdmissionWebhooks, ADenialHasTheWordingOfKubernetes) {
  const auto denial = [](const std::string& status) {
    auto response = answered(R"({"uid":"u1","allowed":false)" + status + "}");
    return response && response.value().denial ? *response.value().denial : Denial{};
  };
  const Denial full = denial(R"(,"status":{"message":"no","reason":"Forbidden","code":403})");
  EXPECT_EQ(full.message(), "admission webhook \"a.b.c\" denied the request: no");
  EXPECT_EQ(full.http_status, 403);
  EXPECT_EQ(full.status["reason"].str(), "Forbidden");
  EXPECT_EQ(denial("").message(), "admission webhook \"a.b.c\" denied the request without explanation");
  EXPECT_EQ(denial("").http_status, 400);
  EXPECT_EQ(denial(R"(,"status":{"code":200})").http_status, 400) << "a refusal is no success";
}

TEST(AdmissionWebhooks, APatchIsAcceptedFromMutatingWebhooksOnly) {
  const std::string patch = base64_encode(R"([{"op":"add","path":"/a","value":1}])");
  const std::string yes = R"({"uid":"u1","allowed":true,"patchType":"JSONPatch","warnings":["w"],"patch":")" + patch;
  auto response = answered(yes + "\"}");
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response.value().patch.size(), 1U);
  EXPECT_EQ(response.value().warnings, std::vector<std::string>{"w"});
  EXPECT_FALSE(answered(yes + "\"}", false).has_value());
  EXPECT_FALSE(answered(R"({"uid":"u1","allowed":true,"patch":")" + patch + "\"}").has_value()) << "no patchType";
  EXPECT_FALSE(answered(R"({"uid":"u1","allowed":true,"patchType":"JSONPatch","patch":"%"})").has_value());
}

TEST(AdmissionWebhooks, AnAnswerToAnotherQuestionIsNone) {
  EXPECT_FALSE(answered(R"({"uid":"u2","allowed":true})").has_value());
  EXPECT_FALSE(answered("null").has_value());
  EXPECT_FALSE(read_review(webhook(kPods), json(R"({"kind":"Pod","apiVersion":"v1"})"), "u1").has_value());
  for (const char* version : {"v9", "v1beta1"}) {
    const Value review = Value::object({{"kind", "AdmissionReview"},
                                        {"apiVersion", std::string{"admission.k8s.io/"} + version},
                                        {"response", Value::object({{"uid", "u1"}, {"allowed", true}})}});
    EXPECT_FALSE(read_review(webhook(kPods), review, "u1").has_value()) << version << " was not requested";
  }
}

TEST(AdmissionWebhooks, AnAnswerOfTheOldVersionNeedsNoTypeAndNoUid) {
  for (const bool mutating : {true, false}) {
    AdmissionWebhook old = webhook(kPods, "", mutating);
    old.review_versions = {"v1beta1"};
    const auto response = read_review(
        old,
        json(R"({"response":{"allowed":true,"patch":")" + base64_encode(R"([{"op":"remove","path":"/a"}])") + "\"}}"),
        "u1");
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response.value().patch.size(), mutating ? 1U : 0U);
    EXPECT_FALSE(read_review(old, json("{}"), "u1").has_value());
  }
}

TEST(AdmissionWebhooks, AuditAnnotationsHaveTheNameOfTheWebhook) {
  auto response = answered(R"({"uid":"u1","allowed":true,"auditAnnotations":{"why":"so","a b":"no","x/y":"no"}})");
  ASSERT_TRUE(response.has_value());
  ASSERT_EQ(response.value().annotations.size(), 1U);
  EXPECT_EQ(response.value().annotations[0], (std::pair<std::string, std::string>{"a.b.c/why", "so"}));
}

TEST(AdmissionWebhooks, ANamespaceSelectorIsAboutTheNamespaceOfTheObjectOrTheNamespaceItself) {
  const AdmissionWebhook only =
      webhook(R"({"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["*"]})",
              R"("namespaceSelector":{"matchLabels":{"env":"prod"}},)");
  const Value labelled = json(R"({"metadata":{"labels":{"env":"prod"}}})");
  AdmissionRequest pod = action("pods");
  pod.object = labelled;
  EXPECT_FALSE(is_selected(only, pod)) << "these are the labels of the pod";
  pod.in_namespace = labelled;
  EXPECT_TRUE(is_selected(only, pod));
  AdmissionRequest ns = action("namespaces");
  EXPECT_FALSE(is_selected(only, ns));
  ns.object = labelled;
  EXPECT_TRUE(is_selected(only, ns));
  AdmissionRequest gone = action("namespaces", "DELETE");
  gone.old = labelled;
  EXPECT_TRUE(is_selected(only, gone));
  EXPECT_TRUE(is_selected(only, action("nodes"))) << "of no namespace";
}

TEST(AdmissionWebhooks, ADenialByConditionsHasTheGeneratedName) {
  AdmissionRequest about = action("pods");
  about.object = json(R"({"metadata":{"generateName":"a-","name":"a-x7k2p"}})");
  EXPECT_EQ(failed_conditions(about, "no").message(), "pods \"a-x7k2p\" is forbidden: no");
  about.name = "b";
  EXPECT_EQ(failed_conditions(about, "no").message(), "pods \"b\" is forbidden: no");
}

}  // namespace
}  // namespace shiplog::api
