// Whole requests that MutatingAdmissionPolicies are about (ADM-4), through the pipeline, without network.
#include <map>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "services/api/pipeline/pipeline.h"
#include "tests/support/manual_server.h"

namespace shiplog::api {
namespace {

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

Value from_yaml(const std::string& text) { return parse_yaml(text).value(); }

/// matchConstraints about these resources.
std::string about_resources(const std::string& resources, const std::string& group = "''",
                            const std::string& version = "'*'", const std::string& more = "") {
  return "matchConstraints: {resourceRules: [{operations: ['*'], apiGroups: [" + group + "], apiVersions: [" + version +
         "], resources: [" + resources + "]}]" + more + "}, ";
}

std::string configured(const std::string& expression) {
  return "{patchType: ApplyConfiguration, applyConfiguration: {expression: '" + expression + "'}}";
}
std::string patched_with(const std::string& expression) {
  return "{patchType: JSONPatch, jsonPatch: {expression: '" + expression + "'}}";
}
/// Appends the text to data.trail.
std::string append(const std::string& text) {
  return "mutations: [" +
         configured("Object{data: {\"trail\": object.?data.?trail.orValue(\"\") + \"" + text + "\"}}") + "]";
}

class MutatingPoliciesTest : public ::testing::Test {
 protected:
  MutatingPoliciesTest() {
    server_.server().options.policies = &validating_;
    server_.server().options.mutating_policies = &mutating_;
  }

  /// A policy with a binding, which are in force from now on.
  void bind(const std::string& name, const std::string& policy, const std::string& binding = "") {
    put(kMutatingPolicies, name, policy);
    put(kMutatingPolicyBindings, name, "policyName: " + name + (binding.empty() ? "" : ", " + binding));
    mutating_.load(server_.state());
  }
  void put(const char* type, const std::string& name, const std::string& spec) {
    server_.put(ObjectCreated{{type, "", name}, from_yaml("{metadata: {name: " + name + "}, spec: {" + spec + "}}")});
  }

  HttpResponse respond(const std::string& method, const std::string& target, const std::string& yaml_body,
                       const std::string& content_type = "application/json") {
    HttpRequest request = ManualServer::request(method, target, content_type);
    request.body = yaml_body.empty() ? "" : to_json(from_yaml(yaml_body));
    auto writer = std::make_shared<RecordingWriter>();
    pipeline_.handle(std::move(request), writer);
    server_.run();
    EXPECT_TRUE(writer->response) << "no answer";
    return writer->response.value_or(HttpResponse{});
  }
  /// The object of the answer; of a refusal the Status.
  Value written(const std::string& method, const std::string& target, const std::string& yaml_body,
                const std::string& content_type = "application/json") {
    auto body = parse_json(respond(method, target, yaml_body, content_type).body);
    return body ? std::move(body).value() : Value{};
  }
  Value created_map(const std::string& name = "a", const std::string& rest = "data: {k: '1'}") {
    return written("POST", kMaps, "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + "}, " + rest + "}");
  }

  ManualServer server_;
  AdmissionPoliciesInForce validating_{kValidatingTypes}, mutating_{kMutatingTypes};
  Pipeline pipeline_{server_.shared(),
                     {[](const RequestContextPtr&) { return false; }, [](const RequestContextPtr&) {}},
                     server_.executor()};
};

TEST_F(MutatingPoliciesTest, EveryWayToWriteAnObjectIsChanged) {
  bind("p", about_resources("configmaps") + append("x"));
  const std::string one = std::string{kMaps} + "/a";
  EXPECT_EQ(created_map()["data"], from_yaml("{k: '1', trail: x}"));
  EXPECT_EQ(written("PATCH", one, "{data: {k: '2'}}", "application/merge-patch+json")["data"],
            from_yaml("{k: '2', trail: xx}"));
  EXPECT_EQ(written("PUT", one, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: '3'}}")["data"],
            from_yaml("{k: '3', trail: x}"));
  EXPECT_EQ(written("PATCH", one + "?fieldManager=m&force=true",
                    "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: '4'}}",
                    "application/apply-patch+yaml")["data"],
            from_yaml("{k: '4', trail: xx}"));
  EXPECT_EQ(written("POST", std::string{kMaps} + "?dryRun=All", "{metadata: {name: b}}")["data"],
            from_yaml("{trail: x}"));
  EXPECT_EQ(respond("DELETE", one, "").status, 200);
}

TEST_F(MutatingPoliciesTest, WhatAPolicySetsHasNoOwner) {
  bind("p", about_resources("configmaps") + append("x"));
  const Value owners = created_map()["metadata"]["managedFields"];
  ASSERT_EQ(owners.size(), 1U);
  EXPECT_FALSE(owners[0]["fieldsV1"]["f:data"]["f:k"].is_null());
  EXPECT_TRUE(owners[0]["fieldsV1"]["f:data"]["f:trail"].is_null());
}

TEST_F(MutatingPoliciesTest, AreAppliedByNameAndOnceForEachParameter) {
  const std::string by_param = "paramKind: {apiVersion: v1, kind: ConfigMap}, " + about_resources("serviceaccounts") +
                               "mutations: [" +
                               configured(
                                   "Object{metadata: Object.metadata{annotations: {\"trail\": "
                                   "object.metadata.?annotations.?trail.orValue(\"\") + params.data.text}}}") +
                               "]";
  bind("b", by_param, "paramRef: {selector: {matchLabels: {for: b}}, parameterNotFoundAction: Deny}");
  bind("a", by_param, "paramRef: {name: one, namespace: default, parameterNotFoundAction: Deny}");
  for (const auto& [name, text] : std::map<std::string, std::string>{{"one", "1"}, {"two", "2"}, {"zero", "0"}}) {
    server_.put(ObjectCreated{{"configmaps", "default", name},
                              from_yaml("{metadata: {name: " + name +
                                        ", namespace: default, labels: {for: b}}, data: {text: '" + text + "'}}")});
  }
  EXPECT_EQ(written("POST", "/api/v1/namespaces/default/serviceaccounts",
                    "{metadata: {name: s}}")["metadata"]["annotations"]["trail"]
                .str(),
            "1120");
}

TEST_F(MutatingPoliciesTest, APolicyIsReinvokedOnceWhenALaterOneChangesTheObject) {
  bind("a", about_resources("configmaps") + "reinvocationPolicy: IfNeeded, " + append("a"));
  bind("b", about_resources("configmaps") + "reinvocationPolicy: Never, " + append("b"));
  bind("c", about_resources("configmaps") + "reinvocationPolicy: IfNeeded, " + append("c"));
  // In the second round, a changes the object after c was called: c is called again, too.
  EXPECT_EQ(created_map()["data"]["trail"].str(), "abcac");
}

TEST_F(MutatingPoliciesTest, WhatPoliciesAreAboutIsDecidedBeforeAnyIsApplied) {
  bind("a", about_resources("configmaps") + "mutations: [" +
                configured("Object{metadata: Object.metadata{labels: {\"tier\": \"gold\"}}}") + "]");
  bind("b", about_resources("configmaps", "''", "'*'", ", objectSelector: {matchLabels: {tier: gold}}") + append("b"));
  const Value made = created_map();
  EXPECT_EQ(made["metadata"]["labels"]["tier"].str(), "gold");
  EXPECT_TRUE(made["data"]["trail"].is_null());
}

TEST_F(MutatingPoliciesTest, DefaultsAreFilledInBetweenMutations) {
  const std::string add_container = patched_with(
      "[JSONPatch{op: \"add\", path: \"/spec/template/spec/containers/-\", value: "
      "Object.spec.template.spec.containers{name: \"side\", image: \"side:1\"}}]");
  const std::string copy_default = configured(
      "Object{metadata: Object.metadata{labels: {\"policy\": "
      "object.spec.template.spec.containers[1].terminationMessagePolicy}}}");
  bind("p", about_resources("deployments", "apps") + "mutations: [" + add_container + ", " + copy_default + "]");
  const Value made =
      written("POST", "/apis/apps/v1/namespaces/default/deployments",
              "{metadata: {name: web}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: "
              "{a: b}}, spec: {containers: [{name: c, image: 'i:1'}]}}}}");
  EXPECT_EQ(made["metadata"]["labels"]["policy"].str(), "File") << to_json(made);
}

TEST_F(MutatingPoliciesTest, AFailureDeniesTheRequestInTheWordsOfKubernetes) {
  bind("p", about_resources("configmaps") + "mutations: [" +
                patched_with("[JSONPatch{op: \"remove\", path: \"/nothing\"}]") + ", " +
                configured("Object{datum: 1}") + "]");
  const HttpResponse refused = respond("POST", kMaps, "{metadata: {name: a}}");
  EXPECT_EQ(refused.status, 403);
  const Value status = parse_json(refused.body).value();
  EXPECT_EQ(status["reason"].str(), "Invalid");
  EXPECT_TRUE(status["message"].str().starts_with("policy 'p' with binding 'p' denied request: JSON Patch: "))
      << status["message"].str();
  ASSERT_EQ(status["details"]["causes"].size(), 2U);
  EXPECT_EQ(status["details"]["causes"][1]["message"].str(),
            "policy 'p' with binding 'p' denied request: error applying patch: failed to convert patch object to typed "
            "object: .datum: field not declared in schema");
  EXPECT_EQ(server_.state().find({"configmaps", "default", "a"}), nullptr);
}

TEST_F(MutatingPoliciesTest, AnObjectThatCannotBeDecodedIsAFailure) {
  bind("p", about_resources("configmaps") + "mutations: [" +
                patched_with("[JSONPatch{op: \"add\", path: \"/data\", value: {\"k\": 1}}]") + "]");
  const Value status = created_map();
  EXPECT_EQ(status["code"], Value{403}) << to_json(status);
  bind("q", about_resources("secrets") + "mutations: [" +
                patched_with("[JSONPatch{op: \"add\", path: \"/unknown\", value: 1}]") + "]");
  EXPECT_NE(written("POST", "/api/v1/namespaces/default/secrets", "{metadata: {name: s}}")["message"].str().find(
                "unknown field \"unknown\""),
            std::string::npos);
}

TEST_F(MutatingPoliciesTest, ABindingThatCannotBeUsedDenies) {
  bind("p", "paramKind: {apiVersion: v1, kind: ConfigMap}, " + about_resources("secrets") + append("x"),
       "paramRef: {name: one, namespace: default, parameterNotFoundAction: Deny}");
  const Value status = written("POST", "/api/v1/namespaces/default/secrets", "{metadata: {name: s}}");
  EXPECT_EQ(status["reason"].str(), "Forbidden");
  EXPECT_EQ(
      status["message"].str(),
      "policy 'p' with binding 'p' denied request: failed to configure binding: no params found for policy binding "
      "with `Deny` parameterNotFoundAction");
  bind("q", "paramKind: {apiVersion: example.com/v1, kind: Limit}, " + about_resources("services") + append("x"));
  EXPECT_EQ(written("POST", "/api/v1/namespaces/default/services",
                    "{metadata: {name: s}, spec: {ports: [{port: 80}]}}")["message"]
                .str(),
            "policy \"q\" denied request: failed to configure policy: failed to find resource referenced by paramKind: "
            "'example.com/v1, Kind=Limit'");
}

TEST_F(MutatingPoliciesTest, FailuresAreIgnoredIfThePolicyStatesSo) {
  bind("p", about_resources("configmaps") + "failurePolicy: Ignore, mutations: [" +
                patched_with("[JSONPatch{op: \"remove\", path: \"/nothing\"}]") + ", " +
                configured("Object{data: {\"added\": \"1\"}}") + "]");
  EXPECT_EQ(created_map()["data"], from_yaml("{k: '1', added: '1'}"));
}

TEST_F(MutatingPoliciesTest, ValidatingPoliciesAndRulesSeeTheResult) {
  bind("p", about_resources("configmaps") + append("x"));
  put(kAdmissionPolicies, "v",
      about_resources("configmaps") + "validations: [{expression: \"object.data.trail == 'x'\"}]");
  put(kAdmissionPolicyBindings, "v", "policyName: v, validationActions: [Deny]");
  validating_.load(server_.state());
  EXPECT_EQ(created_map()["data"]["trail"].str(), "x");
  bind("name", about_resources("secrets") + "mutations: [" +
                   configured("Object{metadata: Object.metadata{labels: {\"not a label\": \"x\"}}}") + "]");
  EXPECT_EQ(respond("POST", "/api/v1/namespaces/default/secrets", "{metadata: {name: s}}").status, 422);
}

TEST_F(MutatingPoliciesTest, APolicyAboutAnotherVersionSeesAndChangesThatVersion) {
  bind("p",
       about_resources("horizontalpodautoscalers", "autoscaling", "v2") + "mutations: [" +
           patched_with("[JSONPatch{op: \"add\", path: \"/spec/metrics\", value: [Object.spec.metrics{type: "
                        "\"Resource\", resource: "
                        "Object.spec.metrics.resource{name: \"cpu\", target: "
                        "Object.spec.metrics.resource.target{type: \"Utilization\", averageUtilization: 42}}}]}]") +
           "]");
  const Value made =
      written("POST", "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
              "{metadata: {name: h}, spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: web, apiVersion: "
              "apps/v1}}}");
  EXPECT_EQ(made["spec"]["targetCPUUtilizationPercentage"], Value{42}) << to_json(made);
}

TEST_F(MutatingPoliciesTest, SubresourcesAreChangedInTheirOwnForm) {
  server_.put(ObjectCreated{
      {"deployments.apps", "default", "web"},
      from_yaml("{metadata: {name: web, namespace: default, generation: 1}, spec: {replicas: 1, selector: "
                "{matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: "
                "[{name: c, image: 'i:1'}]}}}}")});
  bind("p", about_resources("deployments/scale", "apps") + "mutations: [" +
                configured("Object{spec: Object.spec{replicas: object.spec.replicas + 1}}") + "]");
  EXPECT_EQ(written("PATCH", "/apis/apps/v1/namespaces/default/deployments/web/scale", "{spec: {replicas: 5}}",
                    "application/merge-patch+json")["spec"]["replicas"],
            Value{6});
}

TEST_F(MutatingPoliciesTest, TheBodyOfASubresourceHasOtherFieldsThanItsObject) {
  server_.put(
      ObjectCreated{{"pods", "default", "a"},
                    from_yaml("{metadata: {name: a, namespace: default}, spec: {containers: [{name: c, image: i}]}}")});
  bind("p", about_resources("pods/eviction") + "mutations: [" +
                configured("Object{deleteOptions: Object.deleteOptions{gracePeriodSeconds: 7}}") + "]");
  const HttpResponse evicted = respond("POST", "/api/v1/namespaces/default/pods/a/eviction?dryRun=All",
                                       "{apiVersion: policy/v1, kind: Eviction, metadata: {name: a}}");
  EXPECT_EQ(evicted.status, 201) << evicted.body;
}

TEST_F(MutatingPoliciesTest, PoliciesThemselvesAndReviewsAreNotChanged) {
  bind("p", about_resources("'*'", "'*'") + "mutations: [" +
                configured("Object{metadata: Object.metadata{labels: {\"x\": \"y\"}}}") + "]");
  EXPECT_TRUE(written("POST", "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings",
                      "{metadata: {name: other}, spec: {policyName: p}}")["metadata"]["labels"]
                  .is_null());
  const Value review = written("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                               "{spec: {resourceAttributes: {verb: get, resource: pods}}}");
  EXPECT_TRUE(review["metadata"]["labels"].is_null());
  EXPECT_EQ(created_map()["metadata"]["labels"]["x"].str(), "y");
}

TEST_F(MutatingPoliciesTest, PoliciesAreAppliedWhereTheyDelayNoOtherRequests) {
  size_t evaluations = 0;
  server_.server().post_evaluation = [&](std::function<void()> work) {
    ++evaluations;
    server_.server().post_blocking(std::move(work));
  };
  bind("p", about_resources("configmaps") + append("x"));
  EXPECT_EQ(respond("POST", "/api/v1/namespaces/default/secrets", "{metadata: {name: s}}").status, 201);
  EXPECT_EQ(evaluations, 0U);
  EXPECT_EQ(created_map()["data"]["trail"].str(), "x");
  EXPECT_EQ(evaluations, 1U);
}

TEST_F(MutatingPoliciesTest, APolicyCannotMakeItAnotherObject) {
  const auto replaced = [](const std::string& path, const std::string& value) {
    return about_resources("configmaps") + "mutations: [" +
           patched_with("[JSONPatch{op: \"replace\", path: \"" + path + "\", value: \"" + value + "\"}]") + "]";
  };
  for (const auto& [path, value] : std::map<std::string, std::string>{
           {"/metadata/name", "other"}, {"/metadata/namespace", "kube-system"}, {"/kind", "Secret"}}) {
    const std::string name = "p" + value;
    bind(name, replaced(path, value));
    const HttpResponse refused = respond("PUT", std::string{kMaps} + "/a",
                                         "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: '1'}}");
    EXPECT_GE(refused.status, 400) << path << " " << refused.body;
    for (const char* type : {"configmaps", "secrets"}) {
      EXPECT_EQ(server_.state().find({type, "kube-system", "a"}), nullptr) << path;
      EXPECT_EQ(server_.state().find({type, "default", "other"}), nullptr) << path;
    }
  }
}

}  // namespace
}  // namespace shiplog::api
