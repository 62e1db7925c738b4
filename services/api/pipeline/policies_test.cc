// Whole requests that ValidatingAdmissionPolicies are about (ADM-3), through the pipeline, without network.
#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "services/api/pipeline/codecs/codecs.h"
#include "services/api/pipeline/pipeline.h"
#include "tests/support/manual_server.h"

namespace shiplog::api {
namespace {

constexpr const char* kPolicedMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kMerge = "application/merge-patch+json";

Value yaml(const std::string& text) { return parse_yaml(text).value(); }
std::string json_of(const std::string& text) { return to_json(yaml(text)); }

std::string config_map(const std::string& name, const std::string& rest = "data: {k: '1'}") {
  return json_of("{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + "}, " + rest + "}");
}

/// matchConstraints about these resources.
std::string rules(const std::string& resources, const std::string& operations = "'*'", const std::string& group = "''",
                  const std::string& version = "'*'") {
  return "matchConstraints: {resourceRules: [{operations: [" + operations + "], apiGroups: [" + group +
         "], apiVersions: [" + version + "], resources: [" + resources + "]}]}, ";
}

class PoliciesTest : public testing::Test {
 protected:
  PoliciesTest() { server_.server().options.policies = &policies_; }

  void put(const char* type, const std::string& name, const std::string& spec) {
    server_.put(ObjectCreated{{type, "", name}, yaml("{metadata: {name: " + name + "}, spec: {" + spec + "}}")});
  }
  /// A policy with a binding, which are in force from now on.
  void bind(const std::string& name, const std::string& policy,
            const std::string& binding = "validationActions: [Deny]") {
    put(kAdmissionPolicies, name, policy);
    put(kAdmissionPolicyBindings, name, "policyName: " + name + ", " + binding);
    policies_.load(server_.state());
  }
  void put_map(const std::string& name, const std::string& rest, const std::string& ns = "default") {
    server_.put(ObjectCreated{{"configmaps", ns, name},
                              yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: " + ns +
                                   "}, " + rest + "}")});
  }
  void put_namespace(const std::string& name, const std::string& labels) {
    server_.put(ObjectCreated{
        {type::kNamespace, "", name},
        yaml("{apiVersion: v1, kind: Namespace, metadata: {name: " + name + ", labels: " + labels + "}}")});
  }

  HttpResponse answer(const std::string& method, const std::string& target, const std::string& body = "",
                      const std::string& content_type = "application/json") {
    HttpRequest request = ManualServer::request(method, target, content_type);
    request.body = body;
    auto writer = std::make_shared<RecordingWriter>();
    pipeline_.handle(std::move(request), writer);
    server_.run();
    EXPECT_TRUE(writer->response) << "no answer";
    return writer->response.value_or(HttpResponse{});
  }
  int status(const std::string& method, const std::string& target, const std::string& body = "",
             const std::string& content_type = "application/json") {
    return answer(method, target, body, content_type).status;
  }
  /// The message of the Status.
  std::string message(const HttpResponse& response) {
    const auto body = parse_json(response.body);
    return std::to_string(response.status) + " " + (body ? body.value()["message"].str() : "");
  }
  std::string message(const std::string& method, const std::string& target, const std::string& body = "",
                      const std::string& content_type = "application/json") {
    return message(answer(method, target, body, content_type));
  }
  bool exists(const ObjectKey& key) { return server_.state().find(key) != nullptr; }

  ManualServer server_;
  AdmissionPoliciesInForce policies_{kValidatingTypes};
  Webhooks webhooks_;
  Pipeline pipeline_{server_.shared(),
                     {[](const RequestContextPtr&) { return false; }, [](const RequestContextPtr&) {}},
                     server_.executor()};
};

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
}

TEST_F(PoliciesTest, EveryWayToWriteAnObjectIsJudged) {
  bind("p", rules("configmaps") + "validations: [{expression: \"object == null || object.data.k == '1'\"}]");
  const std::string one = std::string{kPolicedMaps} + "/a";
  expect_contains(message("POST", kPolicedMaps, config_map("a", "data: {k: '2'}")),
                  "422 configmaps \"a\" is forbidden");
  EXPECT_EQ(status("POST", std::string{kPolicedMaps} + "?dryRun=All", config_map("a", "data: {k: '2'}")), 422);
  EXPECT_EQ(status("PATCH", one + "?fieldManager=m", config_map("a", "data: {k: '2'}"), "application/apply-patch+yaml"),
            422);
  EXPECT_EQ(status("POST", kPolicedMaps, config_map("a")), 201);
  EXPECT_EQ(status("PUT", one, config_map("a", "data: {k: '2'}")), 422);
  EXPECT_EQ(status("PATCH", one, R"({"data":{"k":"2"}})", kMerge), 422);
  EXPECT_EQ(status("PUT", one, config_map("a", "data: {k: '1', l: '2'}")), 200);
  EXPECT_EQ(status("DELETE", one), 200);
}

TEST_F(PoliciesTest, PoliciesAreEvaluatedWhereTheyDelayNoOtherRequests) {
  size_t evaluations = 0;
  server_.server().post_evaluation = [&](std::function<void()> work) {
    ++evaluations;
    server_.server().post_blocking(std::move(work));
  };
  bind("p", rules("configmaps") + "validations: [{expression: \"object.data.k == '1'\"}]");
  EXPECT_EQ(status("POST", "/api/v1/namespaces", json_of("{metadata: {name: shop}}")), 201);
  EXPECT_EQ(evaluations, 0U);
  EXPECT_EQ(status("POST", kPolicedMaps, config_map("a")), 201);
  EXPECT_EQ(status("POST", kPolicedMaps, config_map("b", "data: {k: '2'}")), 422);
  EXPECT_EQ(evaluations, 2U);
}

TEST_F(PoliciesTest, AGeneratedNameIsInTheDenial) {
  bind("p", rules("configmaps") + "validations: [{expression: 'false'}]");
  const std::string refused =
      message("POST", kPolicedMaps, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"some-"}})");
  expect_contains(refused, "422 configmaps \"some-");
}

TEST_F(PoliciesTest, ADeletionIsJudgedByTheObjectThatGoes) {
  const std::string validation = "validations: [{expression: \"oldObject.data.k == '1'\", message: keep it}]";
  put_map("a", "data: {k: '1'}");
  put_map("b", "data: {k: '2'}");
  bind("p", rules("configmaps", "DELETE") + validation);
  EXPECT_EQ(status("DELETE", std::string{kPolicedMaps} + "/a"), 200);
  expect_contains(message("DELETE", std::string{kPolicedMaps} + "/b"), "denied request: keep it");
  EXPECT_TRUE(exists({"configmaps", "default", "b"}));
}

TEST_F(PoliciesTest, AWarningAboutADeletionIsSent) {
  put_map("a", "data: {k: '2'}");
  bind("p", rules("configmaps", "DELETE") + "validations: [{expression: 'false', message: look out}]",
       "validationActions: [Warn]");
  const HttpResponse deleted = answer("DELETE", std::string{kPolicedMaps} + "/a");
  EXPECT_EQ(deleted.status, 200);
  expect_contains(std::string{deleted.headers.get("Warning")}, "with binding 'p': look out");
}

TEST_F(PoliciesTest, EachObjectOfACollectionIsJudged) {
  put_map("a", "data: {k: '1'}");
  put_map("b", "data: {k: '2'}");
  put_map("c", "data: {k: '1'}");
  bind("p", rules("configmaps", "DELETE") + "validations: [{expression: \"oldObject.data.k == '1'\"}]");
  EXPECT_EQ(status("DELETE", kPolicedMaps), 422);
  EXPECT_FALSE(exists({"configmaps", "default", "a"}));
  EXPECT_TRUE(exists({"configmaps", "default", "b"}));
  EXPECT_FALSE(exists({"configmaps", "default", "c"}));
}

const std::string kDeploymentPath = "/apis/apps/v1/namespaces/default/deployments";
const std::string kDeploymentBody = json_of(
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1, selector: {matchLabels: {a: "
    "b}}, "
    "template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}");

TEST_F(PoliciesTest, AStatusIsJudgedByRulesThatNameIt) {
  ASSERT_EQ(status("POST", kDeploymentPath, kDeploymentBody), 201);
  bind("p", rules("deployments/status", "'*'", "apps") + "validations: [{expression: 'object.status.replicas <= 1'}]");
  const auto set = [&](int replicas) {
    return status("PATCH", kDeploymentPath + "/web/status",
                  R"({"status":{"replicas":)" + std::to_string(replicas) + "}}", kMerge);
  };
  EXPECT_EQ(set(2), 422);
  EXPECT_EQ(set(1), 200);
  EXPECT_EQ(status("PATCH", kDeploymentPath + "/web", R"({"spec":{"replicas":2}})", kMerge), 200);
}

TEST_F(PoliciesTest, AScaleIsJudgedAsOneWhateverItsBodyNames) {
  ASSERT_EQ(status("POST", kDeploymentPath, kDeploymentBody), 201);
  bind("p", rules("deployments/scale", "'*'", "apps") +
                "validations: [{expression: \"request.kind.kind != 'Scale' || object.spec.replicas <= 10\"}]");
  const std::string scale = kDeploymentPath + "/web/scale";
  const auto put = [&](const std::string& identity, int replicas) {
    return message(
        "PUT", scale,
        "{" + identity + R"("metadata":{"name":"web"},"spec":{"replicas":)" + std::to_string(replicas) + "}}");
  };
  const std::string proper = R"("apiVersion":"autoscaling/v1","kind":"Scale",)";
  EXPECT_EQ(put(R"("apiVersion":"x/v1","kind":"Scale",)", 100),
            "400 the apiVersion in the data (x/v1) does not match the expected one (autoscaling/v1)");
  EXPECT_EQ(put(R"("apiVersion":"autoscaling/v1","kind":"X",)", 100),
            "400 the kind in the data (X) does not match the expected one (Scale)");
  expect_contains(put("", 100), "422 deployments.apps \"web\" is forbidden");
  expect_contains(put(proper, 100), "422 deployments.apps \"web\" is forbidden");
  EXPECT_EQ(status("PATCH", scale, R"({"kind":"X","spec":{"replicas":100}})", kMerge), 400);
  EXPECT_EQ(status("PATCH", scale, R"({"spec":{"replicas":100}})", kMerge), 422);
  EXPECT_EQ(status("PUT", scale, "[]"), 400);
  EXPECT_EQ(put(proper, 5), "200 ");
  EXPECT_EQ(put("", 6), "200 ");
}

TEST_F(PoliciesTest, AnEvictionIsJudgedAsACreation) {
  server_.put(ObjectCreated{{"pods", "default", "p"},
                            yaml("{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: "
                                 "default}, spec: {containers: [{name: c, image: i}]}}")});
  bind("p", rules("pods/eviction", "CREATE") +
                "validations: [{expression: \"request.kind.kind != 'Eviction'\", message: stay}]");
  expect_contains(message("POST", "/api/v1/namespaces/default/pods/p/eviction",
                          R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}})"),
                  "denied request: stay");
  EXPECT_TRUE(exists({"pods", "default", "p"}));
}

TEST_F(PoliciesTest, ANamespaceIsSelectedByItsOwnLabels) {
  bind("p",
       "matchConstraints: {namespaceSelector: {matchLabels: {env: prod}}, resourceRules: [{operations: ['*'], "
       "apiGroups: [''], apiVersions: ['*'], resources: [namespaces]}]}, validations: [{expression: \"object == null "
       "|| namespaceObject != null\"}]");
  const auto create = [&](const std::string& name, const std::string& env) {
    return message("POST", "/api/v1/namespaces",
                   json_of("{metadata: {name: " + name + ", labels: {env: " + env + "}}}"));
  };
  expect_contains(create("one", "prod"), "422 namespaces \"one\" is forbidden");
  expect_contains(create("two", "test"), "201");
}

TEST_F(PoliciesTest, ANamespaceSelectorSelectsTheNamespaceOfTheObject) {
  put_namespace("shop", "{env: prod}");
  bind("p",
       "matchConstraints: {namespaceSelector: {matchLabels: {env: prod}}, resourceRules: [{operations: ['*'], "
       "apiGroups: [''], apiVersions: ['*'], resources: [configmaps, namespaces, nodes]}]}, validations: "
       "[{expression: \"has(namespaceObject.metadata.labels.none)\"}]");
  EXPECT_EQ(status("POST", "/api/v1/namespaces/shop/configmaps", config_map("a")), 422);
  EXPECT_EQ(status("POST", kPolicedMaps, config_map("a")), 201);
  EXPECT_EQ(status("POST", "/api/v1/nodes", json_of("{metadata: {name: one}}")), 422) << "of no namespace";
}

// A client creates them through one API server, and uses another one at once.
TEST_F(PoliciesTest, WhatAnotherServerHasAcknowledgedIsNotMissing) {
  bind("p",
       "matchConstraints: {namespaceSelector: {matchLabels: {env: prod}}, resourceRules: [{operations: ['*'], "
       "apiGroups: "
       "[''], apiVersions: ['*'], resources: [configmaps]}]}, validations: [{expression: 'false', message: never}]");
  server_.put_unseen(
      ObjectCreated{{type::kNamespace, "", "shop"}, yaml("{metadata: {name: shop, labels: {env: prod}}}")});
  expect_contains(message("POST", "/api/v1/namespaces/shop/configmaps", config_map("a")), "denied request: never");
  EXPECT_EQ(message("POST", "/api/v1/namespaces/none/configmaps", config_map("a")),
            "404 namespaces \"none\" not found");
}

TEST_F(PoliciesTest, AParameterThatAnotherServerHasAcknowledgedIsRead) {
  bind("p",
       "paramKind: {apiVersion: v1, kind: ConfigMap}, " + rules("services", "CREATE") +
           "validations: [{expression: \"params == null || params.data.open == 'yes'\", message: closed}]",
       "validationActions: [Deny], paramRef: {name: limits, parameterNotFoundAction: Allow}");
  const auto create = [&](const std::string& name) {
    return message("POST", "/api/v1/namespaces/default/services",
                   json_of("{metadata: {name: " + name + "}, spec: {ports: [{port: 80}]}}"));
  };
  expect_contains(create("a"), "201");
  server_.put_unseen(ObjectCreated{{"configmaps", "default", "limits"},
                                   yaml("{metadata: {name: limits, namespace: default}, data: {open: 'no'}}")});
  expect_contains(create("b"), "denied request: closed");
}

TEST_F(PoliciesTest, RulesMayNameAnotherVersionUnlessTheyMustBeExact) {
  const std::string path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
  const auto create = [&](const std::string& name) {
    return status("POST", path,
                  json_of("{metadata: {name: " + name +
                          "}, spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, "
                          "kind: Deployment, name: web}}}"));
  };
  const auto about = [](const std::string& policy) {
    return "matchConstraints: {matchPolicy: " + policy +
           ", resourceRules: [{operations: ['*'], apiGroups: [autoscaling], apiVersions: [v1], resources: "
           "[horizontalpodautoscalers]}]}, validations: [{expression: \"object.apiVersion != 'autoscaling/v1'\"}]";
  };
  bind("p", about("Exact"));
  EXPECT_EQ(create("a"), 201);
  bind("q", about("Equivalent"));
  EXPECT_EQ(create("b"), 422);
}

TEST_F(PoliciesTest, ExcludedRequestsAndFalseConditionsAreNotJudged) {
  bind("p",
       "matchConstraints: {resourceRules: [{operations: ['*'], apiGroups: [''], apiVersions: ['*'], resources: "
       "[configmaps]}], excludeResourceRules: [{operations: ['*'], apiGroups: [''], apiVersions: ['*'], resources: "
       "[configmaps], resourceNames: [excluded]}]}, matchConditions: [{name: c, expression: \"object.metadata.name "
       "!= 'uncalled'\"}], validations: [{expression: 'false'}]");
  EXPECT_EQ(status("POST", kPolicedMaps, config_map("excluded")), 201);
  EXPECT_EQ(status("POST", kPolicedMaps, config_map("uncalled")), 201);
  EXPECT_EQ(status("POST", kPolicedMaps, config_map("other")), 422);
}

TEST_F(PoliciesTest, FailurePolicyIgnoreAdmitsWhatCannotBeEvaluated) {
  bind("p", "failurePolicy: Ignore, " + rules("configmaps") +
                "validations: [{expression: 'object.none'}, {expression: \"object.metadata.name != 'bad'\"}]");
  EXPECT_EQ(status("POST", kPolicedMaps, config_map("a")), 201);
  EXPECT_EQ(status("POST", kPolicedMaps, config_map("bad")), 422);
}

TEST_F(PoliciesTest, ReviewsAreNotJudged) {
  bind("p", rules("'*/*'", "'*'", "'*'") + "validations: [{expression: 'false'}]");
  EXPECT_EQ(status("POST", kPolicedMaps, config_map("a")), 422);
  EXPECT_EQ(status("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                   json_of("{spec: {resourceAttributes: {verb: get, resource: pods}}}")),
            201);
}

TEST_F(PoliciesTest, PoliciesThemselvesAreNotJudged) {
  bind("p", rules("'*'", "'*'", "'*'") + "validations: [{expression: 'false'}]");
  EXPECT_EQ(status("POST", kPolicedMaps, config_map("a")), 422);
  EXPECT_EQ(status("DELETE", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/p"), 200);
}

// Parameters.

const std::string kReadsMaps = "paramKind: {apiVersion: v1, kind: ConfigMap}, ";
const std::string kBySelector =
    "validationActions: [Deny], paramRef: {selector: {matchLabels: {limits: 'yes'}}, parameterNotFoundAction: Deny}";

TEST_F(PoliciesTest, ASelectorSelectsParametersByLabelInTheNamespaceOfTheRequest) {
  put_namespace("shop", "{}");
  bind("p",
       kReadsMaps + rules("services", "CREATE") +
           "validations: [{expression: \"object.metadata.name.startsWith(params.data.prefix)\", messageExpression: "
           "\"'needs ' + params.data.prefix\"}]",
       kBySelector);
  const auto create = [&](const std::string& ns, const std::string& name) {
    return message("POST", "/api/v1/namespaces/" + ns + "/services",
                   json_of("{metadata: {name: " + name + "}, spec: {ports: [{port: 80}]}}"));
  };
  expect_contains(create("default", "a"), "failed to configure binding: no params found");
  const auto limits = [&](const std::string& ns, const std::string& name, const std::string& labels,
                          const std::string& prefix) {
    server_.put(ObjectCreated{{"configmaps", ns, name},
                              yaml("{metadata: {name: " + name + ", namespace: " + ns + ", labels: " + labels +
                                   "}, data: {prefix: " + prefix + "}}")});
  };
  limits("default", "one", "{limits: 'yes'}", "a");
  limits("default", "two", "{limits: 'yes'}", "ab");
  limits("default", "three", "{limits: 'no'}", "x");
  limits("shop", "four", "{limits: 'yes'}", "xyz");
  expect_contains(create("default", "ac"), "denied request: needs ab");
  expect_contains(create("default", "abc"), "201");
  expect_contains(create("shop", "abc"), "denied request: needs xyz");
}

TEST_F(PoliciesTest, MoreParametersThanMayBeReadDenyWhateverFailurePolicyStates) {
  bind("p",
       "failurePolicy: Ignore, " + kReadsMaps + rules("services", "CREATE") + "validations: [{expression: 'true'}]",
       kBySelector);
  for (int i = 0; i < 40; ++i) {
    const std::string name = "large" + std::to_string(i);
    Value large = yaml("{metadata: {name: " + name + ", namespace: default}}");
    large.edit("data").set("k", std::string(900'000, 'x'));
    server_.put(ObjectCreated{{"configmaps", "default", name}, large});
  }
  expect_contains(message("POST", "/api/v1/namespaces/default/services",
                          json_of("{metadata: {name: a}, spec: {ports: [{port: 80}]}}")),
                  "denied request: failed to configure binding: paramRef.selector: the objects that it selects from");
}

// Users who may add parameters could otherwise put the policy out of force.
TEST_F(PoliciesTest, ParametersThatCostTooMuchTogetherDenyWhateverFailurePolicyStates) {
  bind("p",
       "failurePolicy: Ignore, " + kReadsMaps + rules("services", "CREATE") +
           "validations: [{expression: 'params != null && lists.range(690).distinct().size() == 690'}]",
       kBySelector);
  for (int i = 0; i < 60; ++i) {
    const std::string name = "a" + std::to_string(i);
    server_.put(ObjectCreated{{"configmaps", "default", name},
                              yaml("{metadata: {name: " + name + ", namespace: default, labels: {limits: 'yes'}}}")});
  }
  expect_contains(message("POST", "/api/v1/namespaces/default/services",
                          json_of("{metadata: {name: a}, spec: {ports: [{port: 80}]}}")),
                  "denied request: the parameters of the binding cost too much together");
}

TEST_F(PoliciesTest, ParametersOfANamespacedKindNeedANamespaceOfTheirOwnForClusterScopedObjects) {
  put_map("limits", "data: {names: one}");
  const std::string policy = kReadsMaps + rules("nodes, namespaces", "CREATE") +
                             "validations: [{expression: 'params.data.names == object.metadata.name'}]";
  bind("p", policy, "validationActions: [Deny], paramRef: {name: limits, parameterNotFoundAction: Allow}");
  const auto node = [&](const std::string& name) {
    return message("POST", "/api/v1/nodes", json_of("{metadata: {name: " + name + "}}"));
  };
  expect_contains(node("one"),
                  "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
  expect_contains(message("POST", "/api/v1/namespaces", json_of("{metadata: {name: shop}}")), "201");
  server_.put(ObjectUpdated{
      {kAdmissionPolicyBindings, "", "p"},
      yaml("{metadata: {name: p}, spec: {policyName: p, validationActions: [Deny], paramRef: {name: limits, namespace: "
           "default, parameterNotFoundAction: Deny}}}")});
  policies_.load(server_.state());
  expect_contains(node("one"), "201");
  expect_contains(node("two"), "422 nodes \"two\" is forbidden");
}

/// A definition whose versions only a webhook converts; v2 is stored.
void define_shirts(ManualServer& server) {
  server.put(ObjectCreated{
      {type::kCustomResourceDefinition, "", "shirts.example.com"},
      yaml(
          "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: shirts.example.com}, "
          "spec: {group: example.com, scope: Namespaced, names: {plural: shirts, singular: shirt, kind: Shirt, "
          "listKind: "
          "ShirtList}, conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "
          "'https://127.0.0.1:1/'}}}, versions: [{name: v1, served: true, storage: false, schema: {openAPIV3Schema: "
          "{type: object, properties: {spec: {type: object, properties: {privileged: {type: boolean}}}}}}}, {name: v2, "
          "served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, "
          "properties: {security: {type: object, properties: {privileged: {type: boolean}}}}}}}}}]}}")});
}

constexpr const char* kShirts = "/apis/example.com/v2/namespaces/default/shirts";
const std::string kPrivilegedShirt =
    json_of("{apiVersion: example.com/v2, kind: Shirt, metadata: {name: a}, spec: {security: {privileged: true}}}");

TEST_F(PoliciesTest, AnObjectInAnotherVersionDoesNotEvadeAPolicy) {
  define_shirts(server_);
  const std::string about_v1 = rules("shirts", "'*'", "example.com", "v1") +
                               "validations: [{expression: '!has(object.spec.privileged) || !object.spec.privileged'}]";
  bind("ignores", "failurePolicy: Ignore, " + about_v1);
  EXPECT_EQ(status("POST", std::string{kShirts} + "?dryRun=All", kPrivilegedShirt), 201);
  bind("p", about_v1);
  expect_contains(message("POST", kShirts, kPrivilegedShirt),
                  "denied request: failed to convert object version: its rules name version v1 of shirts.example.com");
}

TEST_F(PoliciesTest, AnObjectInAnotherVersionDoesNotEvadeAWebhookByItsConditions) {
  define_shirts(server_);
  server_.put(ObjectCreated{
      {"validatingwebhookconfigurations.admissionregistration.k8s.io", "", "w"},
      yaml("{metadata: {name: w}, webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
           "clientConfig: "
           "{url: 'https://127.0.0.1:1/'}, matchConditions: [{name: c, expression: 'has(object.spec.privileged)'}], "
           "rules: "
           "[{operations: ['*'], apiGroups: [example.com], apiVersions: [v1], resources: [shirts]}]}]}")});
  webhooks_.load(server_.state());
  server_.server().options.webhooks = &webhooks_;
  expect_contains(message("POST", kShirts, kPrivilegedShirt), "500 Internal error occurred: failed calling webhook");
}

TEST_F(PoliciesTest, AParameterIsNotReadInAnotherVersionThanItsOwn) {
  define_shirts(server_);
  ASSERT_EQ(status("POST", kShirts, kPrivilegedShirt), 201);
  const auto with = [&](const std::string& name, const std::string& version, const std::string& reference) {
    bind(name,
         "paramKind: {apiVersion: example.com/" + version + ", kind: Shirt}, " + rules("configmaps") +
             "validations: [{expression: 'has(params.spec.security)'}]",
         "validationActions: [Deny], paramRef: {" + reference + ", parameterNotFoundAction: Deny}");
  };
  with("p", "v2", "name: a");
  with("q", "v2", "selector: {}");
  EXPECT_EQ(status("POST", kPolicedMaps, config_map("a")), 201);
  with("r", "v1", "selector: {}");
  const std::string failed = "failed to configure binding: failed to convert object version: shirts.example.com \"a\"";
  expect_contains(message("POST", kPolicedMaps, config_map("b")), failed);
  ASSERT_EQ(status("DELETE", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/r"), 200);
  with("s", "v1", "name: a");
  expect_contains(message("POST", kPolicedMaps, config_map("b")), failed);
}

TEST_F(PoliciesTest, AParamKindThatIsNoLongerDefinedIsAnError) {
  define_shirts(server_);
  bind("p",
       "paramKind: {apiVersion: example.com/v2, kind: Shirt}, " + rules("configmaps") +
           "validations: [{expression: "
           "'true'}]",
       "validationActions: [Deny], paramRef: {name: a, parameterNotFoundAction: Allow}");
  EXPECT_EQ(status("POST", kPolicedMaps, config_map("a")), 201);
  server_.put(ObjectRemoved{{type::kCustomResourceDefinition, "", "shirts.example.com"}});
  expect_contains(message("POST", kPolicedMaps, config_map("b")),
                  "ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource "
                  "referenced by paramKind: 'example.com/v2, Kind=Shirt'");
}

TEST_F(PoliciesTest, AParamKindThatIsNotServedIsAnErrorOfBindingsWithoutParametersToo) {
  const std::string param = "paramKind: {apiVersion: v1, kind: Nope}, ";
  const std::string valid = "validations: [{expression: 'true'}]";
  bind("closed", param + rules("configmaps") + valid);
  bind("open", "failurePolicy: Ignore, " + param + rules("serviceaccounts") + valid);
  expect_contains(message("POST", kPolicedMaps, config_map("a")), "referenced by paramKind: '/v1, Kind=Nope'");
  EXPECT_EQ(status("POST", "/api/v1/namespaces/default/serviceaccounts", json_of("{metadata: {name: a}}")), 201);
}

// Secrets.

TEST_F(PoliciesTest, ADenialThatMayQuoteASecretIsNotRecorded) {
  server_.put(ObjectCreated{{type::kSecret, "default", "token"},
                            yaml("{apiVersion: v1, kind: Secret, metadata: {name: token, namespace: default}, data: "
                                 "{token: c2VjcmV0}}")});
  bind("p",
       "paramKind: {apiVersion: v1, kind: Secret}, " + rules("configmaps") +
           "validations: [{expression: 'false', messageExpression: \"'expected ' + string(params.data.token)\"}]",
       "validationActions: [Deny], paramRef: {name: token, parameterNotFoundAction: Deny}");
  expect_contains(message("POST", kPolicedMaps, config_map("a")), "denied request: expected c2VjcmV0");
  const auto* denied = std::get_if<RequestDenied>(&server_.journal.back().events[0]);
  ASSERT_NE(denied, nullptr);
  EXPECT_EQ(denied->message, "not recorded, as it may quote data of a Secret");
}

// The authors of bindings.

class PolicyAuthorsTest : public PoliciesTest {
 protected:
  /// What jane, who may read nothing, is refused when she writes the binding; "" if it is admitted.
  std::string refused(const std::string& spec) {
    const Object* stored = server_.state().find({kAdmissionPolicyBindings, "", "binding"});
    const std::string version = stored == nullptr ? "" : std::to_string(stored->revision.value);
    const auto context = stored == nullptr ? server_.context("POST", kBindings)
                                           : server_.context("PUT", std::string{kBindings} + "/binding");
    context->user = {"jane", {kAuthenticatedGroup}, "", {}};
    const auto write =
        decode(server_.server(), *context,
               json_of("{metadata: {name: binding, resourceVersion: '" + version + "'}, spec: {" + spec + "}}"));
    Lane lane = server_.lane();
    auto current = server_.finish(read_current(server_.server(), *context, write.value(), lane));
    Proposal proposal = write.value().propose(std::move(current.value().object)).value();
    const auto validated = server_.finish(validate(server_.server(), *context, write.value(), lane, proposal));
    return validated ? "" : validated.error().error.message;
  }

  static constexpr const char* kBindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
};

const std::string kParamRef =
    ", validationActions: [Warn], paramRef: {name: root, namespace: kube-system, "
    "parameterNotFoundAction: Deny}";

TEST_F(PolicyAuthorsTest, ABindingOfAPolicyThatIsNotThereYetNeedsTheRightToReadEverything) {
  put(kAdmissionPolicies, "plain", rules("configmaps") + "validations: [{expression: 'true'}]");
  const std::string why = "user jane does not have \"get\" permission on the object referenced by paramRef";
  expect_contains(refused("policyName: later" + kParamRef), why);
  expect_contains(refused("policyName: plain" + kParamRef), why);
  EXPECT_EQ(refused("policyName: later, validationActions: [Warn]"), "");
}

TEST_F(PolicyAuthorsTest, AnUpdateThatLeavesTheParametersNeedsNoRightToReadThem) {
  put(kAdmissionPolicyBindings, "binding", "policyName: later" + kParamRef);
  const std::string more = ", matchResources: {matchPolicy: Exact}";
  EXPECT_EQ(refused("policyName: later" + kParamRef + more), "");
  EXPECT_NE(refused("policyName: another" + kParamRef), "");
}

}  // namespace
}  // namespace shiplog::api
