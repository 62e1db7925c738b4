// ValidatingAdmissionPolicies and their bindings, and match conditions of webhooks (ADM-2, ADM-3).
#include "events/base/json.h"
#include "events/base/yaml.h"
#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

const std::string kGroup = "/apis/admissionregistration.k8s.io/v1/";
const std::string kPolicies = kGroup + "validatingadmissionpolicies";
const std::string kPolicyBindings = kGroup + "validatingadmissionpolicybindings";

Value yaml(const std::string& text) { return parse_yaml(text).value(); }

Value named(const std::string& name, const std::string& spec) {
  return yaml("{metadata: {name: " + name + "}, spec: {" + spec + "}}");
}

/// A policy about ConfigMaps with the label test=NAME, and a binding; they are deleted at the end of their scope.
class BoundPolicyOfTest {
 public:
  BoundPolicyOfTest(const std::string& name, const std::string& spec, const std::string& binding) : name_{name} {
    const Answer policy = api().post(
        kPolicies, named(name, "matchConstraints: {objectSelector: {matchLabels: {test: " + name +
                                   "}}, resourceRules: [{operations: [CREATE, UPDATE], apiGroups: [''], apiVersions: "
                                   "[v1], resources: [configmaps]}]}, " +
                                   spec));
    EXPECT_EQ(policy.status, 201) << policy;
    const Answer bound = api().post(kPolicyBindings, named(name, "policyName: " + name + ", " + binding));
    EXPECT_EQ(bound.status, 201) << bound;
  }
  ~BoundPolicyOfTest() {
    EXPECT_EQ(api().remove(kPolicyBindings + "/" + name_).status, 200);
    EXPECT_EQ(api().remove(kPolicies + "/" + name_).status, 200);
  }
  BoundPolicyOfTest(const BoundPolicyOfTest&) = delete;
  BoundPolicyOfTest& operator=(const BoundPolicyOfTest&) = delete;

 private:
  std::string name_;
};

Answer create(const std::string& name, const std::string& policy, const std::string& data = "{}") {
  return api().post(kConfigMaps, config_map(name, data, R"({"test":")" + policy + "\"}"));
}

TEST(AdmissionPolicies, DenyWithTheMessageOfKubernetes) {
  const BoundPolicyOfTest bound{"deny-size",
                                "validations: [{expression: 'size(object.data) <= 1', messageExpression: "
                                "'\"has \" + string(size(object.data))'}]",
                                "validationActions: [Deny]"};
  const Answer refused = create("sized", "deny-size", R"({"a":"1","b":"2"})");
  expect_failure(
      refused, 422, "Invalid",
      "configmaps \"sized\" is forbidden: ValidatingAdmissionPolicy 'deny-size' with binding 'deny-size' denied "
      "request: has 2");
  EXPECT_EQ(api().get(kConfigMaps + "/sized").status, 404);
  EXPECT_EQ(create("sized", "deny-size", R"({"a":"1"})").status, 201);
  const Answer patched = api().patch(kConfigMaps + "/sized", "merge", json(R"({"data":{"b":"2"}})"));
  expect_failure(patched, 422, "Invalid", "denied request: has 2");
  EXPECT_EQ(api().remove(kConfigMaps + "/sized").status, 200);
}

TEST(AdmissionPolicies, ReasonsDecideTheStatus) {
  const BoundPolicyOfTest bound{"deny-reason",
                                "validations: [{expression: 'false', message: never, reason: Forbidden}]",
                                "validationActions: [Deny]"};
  expect_failure(create("reasoned", "deny-reason"), 403, "Forbidden", "denied request: never");
}

TEST(AdmissionPolicies, WarnAndAllow) {
  const BoundPolicyOfTest bound{"warns", "validations: [{expression: 'false', message: look out}]",
                                "validationActions: [Warn, Audit]"};
  const Answer made = create("warned", "warns");
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_NE(made.headers.get("Warning").find(
                "Validation failed for ValidatingAdmissionPolicy 'warns' with binding 'warns': look out"),
            std::string::npos);
  EXPECT_EQ(api().remove(kConfigMaps + "/warned").status, 200);
}

TEST(AdmissionPolicies, ReadParameters) {
  ASSERT_EQ(api().post(kConfigMaps, config_map("limits", R"({"most":"1"})")).status, 201);
  const std::string kind =
      "paramKind: {apiVersion: v1, kind: ConfigMap}, validations: [{expression: 'size(object.data) <= "
      "int(params.data.most)', message: too many}]";
  {
    const BoundPolicyOfTest bound{"params", kind,
                                  "validationActions: [Deny], paramRef: {name: limits, parameterNotFoundAction: Deny}"};
    EXPECT_EQ(create("few", "params", R"({"a":"1"})").status, 201);
    expect_failure(create("many", "params", R"({"a":"1","b":"2"})"), 422, "Invalid", "denied request: too many");
    EXPECT_EQ(api().remove(kConfigMaps + "/limits").status, 200);
    expect_failure(create("none", "params", R"({"a":"1"})"), 422, "Invalid",
                   "failed to configure binding: no params found");
  }
  EXPECT_EQ(api().remove(kConfigMaps + "/few").status, 200);
}

TEST(AdmissionPolicies, AskWhatTheUserMayDo) {
  const BoundPolicyOfTest bound{
      "asks",
      "validations: [{expression: "
      "'authorizer.group(\"\").resource(\"secrets\").namespace(\"kube-system\").check(\"delete\").allowed()', "
      "message: ask an administrator}]",
      "validationActions: [Deny]"};
  ASSERT_EQ(api()
                .post("/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
                      json(R"({"metadata":{"name":"asks"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
                         "kind":"ClusterRole","name":"admin"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io",
                         "kind":"User","name":"namespace-admin"}]})"))
                .status,
            201);
  // An administrator of a namespace has no right elsewhere, whatever the policy asks.
  const Answer refused = api().call("POST", kConfigMaps, to_json(config_map("asked", "{}", R"({"test":"asks"})")),
                                    {{"Impersonate-User", "namespace-admin"}});
  expect_failure(refused, 422, "Invalid", "ask an administrator");
  EXPECT_EQ(create("asked", "asks").status, 201);
  EXPECT_EQ(api().remove(kConfigMaps + "/asked").status, 200);
}

TEST(AdmissionPolicies, AreWrittenByThoseWhoMayReadTheirParameters) {
  ASSERT_EQ(api()
                .post("/apis/rbac.authorization.k8s.io/v1/clusterroles",
                      json(R"({"metadata":{"name":"policy-author"},"rules":[{"verbs":["*"],
                         "apiGroups":["admissionregistration.k8s.io"],"resources":["*"]}]})"))
                .status,
            201);
  ASSERT_EQ(api()
                .post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
                      json(R"({"metadata":{"name":"policy-author"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
                         "kind":"ClusterRole","name":"policy-author"},"subjects":[{"apiGroup":
                         "rbac.authorization.k8s.io","kind":"User","name":"author"}]})"))
                .status,
            201);
  const std::string rules =
      "matchConstraints: {resourceRules: [{operations: [CREATE], apiGroups: [''], apiVersions: [v1], "
      "resources: [configmaps]}]}, ";
  const Value reads =
      named("reads-secrets", rules +
                                 "paramKind: {apiVersion: v1, kind: Secret}, validations: [{expression: "
                                 "'false', messageExpression: 'string(params.data)'}]");
  expect_failure(api().call("POST", kPolicies, to_json(reads), {{"Impersonate-User", "author"}}), 422, "Invalid",
                 "spec.paramKind: Forbidden: user author must have \"get\" permission on all objects");
  EXPECT_EQ(api()
                .call("POST", kPolicies, to_json(named("reads-nothing", rules + "validations: [{expression: 'true'}]")),
                      {{"Impersonate-User", "author"}})
                .status,
            201);
  const auto bind = [&](const std::string& name, const std::string& policy, const std::string& reference) {
    return api().call("POST", kPolicyBindings,
                      to_json(named(name, "policyName: " + policy + ", validationActions: [Warn], paramRef: {" +
                                              reference + ", parameterNotFoundAction: Allow}")),
                      {{"Impersonate-User", "author"}});
  };
  const std::string refused =
      "spec.paramRef: Forbidden: user author does not have \"get\" permission on the object referenced by paramRef";
  const std::string limits = "name: author-limits, namespace: default";
  expect_failure(bind("of-later", "not-there-yet", limits), 422, "Invalid", refused);
  expect_failure(bind("of-nothing", "reads-nothing", limits), 422, "Invalid", refused);
  ASSERT_EQ(api()
                .post(kPolicies, named("reads-maps", rules + "paramKind: {apiVersion: v1, kind: ConfigMap}, "
                                                             "validations: [{expression: 'true'}]"))
                .status,
            201);
  expect_failure(bind("of-maps", "reads-maps", limits), 422, "Invalid", refused);
  const std::string in_default = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/";
  ASSERT_EQ(api()
                .post(in_default + "roles",
                      json(R"({"metadata":{"name":"author-limits"},"rules":[{"verbs":["get"],"apiGroups":[""],
                         "resources":["configmaps"],"resourceNames":["author-limits"]}]})"))
                .status,
            201);
  ASSERT_EQ(api()
                .post(in_default + "rolebindings",
                      json(R"({"metadata":{"name":"author-limits"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
                         "kind":"Role","name":"author-limits"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io",
                         "kind":"User","name":"author"}]})"))
                .status,
            201);
  EXPECT_EQ(bind("of-maps", "reads-maps", limits).status, 201);
  expect_failure(bind("of-others", "reads-maps", "name: others, namespace: default"), 422, "Invalid", refused);
  expect_failure(bind("of-selected", "reads-maps", "selector: {}, namespace: default"), 422, "Invalid", refused);
  for (const char* policy : {"reads-maps", "reads-nothing"}) {
    EXPECT_EQ(api().remove(kPolicies + "/" + policy).status, 200);
  }
  EXPECT_EQ(api().remove(kPolicyBindings + "/of-maps").status, 200);
}

TEST(AdmissionPolicies, WarnAboutDeletionsToo) {
  const Answer made = create("deleted", "warns-of-deletion");
  ASSERT_EQ(made.status, 201) << made;
  ASSERT_EQ(
      api()
          .post(kPolicies, named("warns-of-deletion",
                                 "matchConstraints: {objectSelector: {matchLabels: {test: warns-of-deletion}}, "
                                 "resourceRules: [{operations: [DELETE], apiGroups: [''], apiVersions: [v1], "
                                 "resources: [configmaps]}]}, validations: [{expression: 'false', message: gone}]"))
          .status,
      201);
  ASSERT_EQ(
      api()
          .post(kPolicyBindings, named("warns-of-deletion", "policyName: warns-of-deletion, validationActions: [Warn]"))
          .status,
      201);
  const Answer deleted = api().remove(kConfigMaps + "/deleted");
  EXPECT_EQ(deleted.status, 200) << deleted;
  EXPECT_NE(deleted.headers.get("Warning").find("with binding 'warns-of-deletion': gone"), std::string::npos);
  EXPECT_EQ(api().remove(kPolicyBindings + "/warns-of-deletion").status, 200);
  EXPECT_EQ(api().remove(kPolicies + "/warns-of-deletion").status, 200);
}

TEST(AdmissionPolicies, WhatDoesNotCompileIsRefused) {
  const std::string rules =
      "matchConstraints: {resourceRules: [{operations: [CREATE], apiGroups: [''], apiVersions: [v1], "
      "resources: [configmaps]}]}, ";
  const auto refused = [&](const std::string& spec, const std::string& text) {
    expect_failure(api().post(kPolicies, named("wrong", spec)), 422, "Invalid", text);
  };
  refused(
      rules + "validations: [{expression: 'nothing'}]",
      "spec.validations[0].expression: Invalid value: \"nothing\": compilation failed: ERROR: <input>:1:1: undeclared "
      "reference to 'nothing'");
  refused(rules + "validations: [{expression: '1'}]", "must evaluate to bool but got int");
  refused(rules + "variables: [{name: a-b, expression: '1'}], validations: [{expression: 'true'}]",
          "spec.variables[0].name: Invalid value: \"a-b\": name is not a valid CEL identifier");
  refused(rules, "validations or auditAnnotations must contain at least one item");
  refused("validations: [{expression: 'true'}]", "spec.matchConstraints: Required value");
  expect_failure(api().post(kPolicyBindings, named("wrong", "policyName: a, validationActions: [Deny, Warn]")), 422,
                 "Invalid", "must not contain both Deny and Warn");
}

TEST(MatchConditions, DecideWhetherAWebhookIsCalled) {
  // Nothing listens there: a call fails.
  const auto hook = [](const std::string& name, const std::string& conditions, const std::string& policy) {
    const Answer made =
        api().post(kGroup + "validatingwebhookconfigurations", json(R"({"metadata":{"name":")" + name +
                                                                    R"("},"webhooks":[{"name":"a.b.c","clientConfig":
             {"url":"https://127.0.0.1:1/"},"failurePolicy":")" + policy +
                                                                    R"(","sideEffects":"None",
             "admissionReviewVersions":["v1"],"objectSelector":{"matchLabels":{"test":")" +
                                                                    name + R"("}},"rules":
             [{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}],
             "matchConditions":)" + conditions + "}]}"));
    EXPECT_EQ(made.status, 201) << made;
  };
  hook("cond-a", R"([{"name":"a","expression":"has(object.data) && 'call' in object.data"}])", "Fail");
  EXPECT_EQ(create("cond-a", "cond-a", R"({"call":"1"})").status, 500);
  EXPECT_EQ(create("cond-a", "cond-a", R"({"other":"1"})").status, 201);
  EXPECT_EQ(api().remove(kGroup + "validatingwebhookconfigurations/cond-a").status, 200);
  EXPECT_EQ(api().remove(kConfigMaps + "/cond-a").status, 200);
  hook("cond-b", R"([{"name":"a","expression":"request.userInfo.username == 'somebody'"}])", "Fail");
  EXPECT_EQ(create("cond-b", "cond-b").status, 201);
  EXPECT_EQ(api().remove(kGroup + "validatingwebhookconfigurations/cond-b").status, 200);
  EXPECT_EQ(api().remove(kConfigMaps + "/cond-b").status, 200);
  hook("cond-c", R"([{"name":"a","expression":"object.spec.none == 1"}])", "Fail");
  expect_failure(
      create("cond-c", "cond-c"), 403, "Forbidden",
      "configmaps \"cond-c\" is forbidden: expression 'object.spec.none == 1' resulted in error: no such key: spec");
  EXPECT_EQ(api().remove(kGroup + "validatingwebhookconfigurations/cond-c").status, 200);
  hook("cond-d", R"([{"name":"a","expression":"object.spec.none == 1"}])", "Ignore");
  EXPECT_EQ(create("cond-d", "cond-d").status, 201);
  EXPECT_EQ(api().remove(kGroup + "validatingwebhookconfigurations/cond-d").status, 200);
  EXPECT_EQ(api().remove(kConfigMaps + "/cond-d").status, 200);
}

}  // namespace
}  // namespace shiplog::e2e
