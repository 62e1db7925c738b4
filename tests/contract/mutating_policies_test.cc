// MutatingAdmissionPolicies and their bindings, and what they and mutating webhooks see of each other (ADM-4).
#include "events/base/json.h"
#include "events/base/yaml.h"
#include "tests/contract/contract.h"
#include "tests/contract/webhook_server.h"

namespace shiplog::e2e {
namespace {

const std::string kMutating = kConfigurations + "mutatingadmissionpolicies";
const std::string kMutatingBindings = kConfigurations + "mutatingadmissionpolicybindings";

Value named_spec(const std::string& name, const std::string& spec) {
  return parse_yaml("{metadata: {name: " + name + "}, spec: {" + spec + "}}").value();
}

/// matchConstraints about ConfigMaps with the label test=NAME.
std::string about_test(const std::string& name) {
  return "reinvocationPolicy: IfNeeded, matchConstraints: {objectSelector: {matchLabels: {test: " + name +
         "}}, resourceRules: [{operations: [CREATE, UPDATE], apiGroups: [''], apiVersions: [v1], resources: "
         "[configmaps]}]}, ";
}

/// A policy and a binding; they are deleted at the end of their scope.
class MutatingPolicyOfTest {
 public:
  MutatingPolicyOfTest(const std::string& name, const std::string& spec, const std::string& binding = "")
      : name_{name} {
    const Answer policy = api().post(kMutating, named_spec(name, about_test(name) + spec));
    EXPECT_EQ(policy.status, 201) << policy;
    const Answer bound = api().post(kMutatingBindings,
                                    named_spec(name, "policyName: " + name + (binding.empty() ? "" : ", " + binding)));
    EXPECT_EQ(bound.status, 201) << bound;
  }
  ~MutatingPolicyOfTest() {
    EXPECT_EQ(api().remove(kMutatingBindings + "/" + name_).status, 200);
    EXPECT_EQ(api().remove(kMutating + "/" + name_).status, 200);
  }
  MutatingPolicyOfTest(const MutatingPolicyOfTest&) = delete;
  MutatingPolicyOfTest& operator=(const MutatingPolicyOfTest&) = delete;

 private:
  std::string name_;
};

/// Mutations that append the text to data.trail.
std::string appending(const std::string& text) {
  return "mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: 'Object{data: {\"trail\": "
         "object.?data.?trail.orValue(\"\") + \"" +
         text + "\"}}'}}]";
}

TEST(MutatingPolicies, ChangeObjectsWithApplyConfigurationsAndJsonPatches) {
  const MutatingPolicyOfTest bound{
      "changes",
      "mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: 'Object{metadata: "
      "Object.metadata{annotations: {\"by\": request.userInfo.username}}}'}}, {patchType: JSONPatch, jsonPatch: "
      "{expression: '[JSONPatch{op: \"add\", path: \"/metadata/annotations/\" + jsonpatch.escapeKey(\"a/b\"), value: "
      "string(size(object.metadata.annotations))}]'}}]"};
  const Answer made = api().post(kConfigMaps, labelled("changed", "changes"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["metadata"]["annotations"], json(R"({"by":"kubernetes-admin","a/b":"1"})"));
  EXPECT_EQ(api().remove(kConfigMaps + "/changed").status, 200);
}

TEST(MutatingPolicies, RunBeforeMutatingWebhooksAndAgainAfterThoseChangedTheObject) {
  const MutatingPolicyOfTest bound{"both", appending("p")};
  const WebhookConfiguration hook{true, "both", "/both",
                                  R"({"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],
      "resources":["configmaps"]}]})"};
  webhook_server().set_answer("/both", [](const Value& request) {
    const std::string trail = request["object"]["data"]["trail"].str();
    return patched_by(R"([{"op":"replace","path":"/data/trail","value":")" + trail + R"(w"}])");
  });
  const Answer made = api().post(kConfigMaps, labelled("both", "both"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["data"]["trail"].str(), "pwp");
  ASSERT_EQ(webhook_server().asked("/both").size(), 1U);
  EXPECT_EQ(webhook_server().asked("/both")[0]["object"]["data"]["trail"].str(), "p");
  EXPECT_EQ(api().remove(kConfigMaps + "/both").status, 200);
}

TEST(MutatingPolicies, ADenialKeepsWebhooksFromBeingCalled) {
  const MutatingPolicyOfTest bound{
      "denied",
      "mutations: [{patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{op: \"remove\", path: \"/a\"}]'}}]"};
  const WebhookConfiguration hook{true, "denied", "/denied-by-policy"};
  expect_failure(api().post(kConfigMaps, labelled("denied", "denied")), 403, "Invalid",
                 "policy 'denied' with binding 'denied' denied request: JSON Patch: ");
  EXPECT_TRUE(webhook_server().asked("/denied-by-policy").empty());
}

TEST(MutatingPolicies, AreWrittenByThoseWhoMayReadTheirParameters) {
  const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1/";
  ASSERT_EQ(api()
                .post(kRbac + "clusterroles", json(R"({"metadata":{"name":"mutating-author"},"rules":[{"verbs":["*"],
                         "apiGroups":["admissionregistration.k8s.io"],"resources":["*"]}]})"))
                .status,
            201);
  ASSERT_EQ(api()
                .post(kRbac + "clusterrolebindings",
                      json(R"({"metadata":{"name":"mutating-author"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
                         "kind":"ClusterRole","name":"mutating-author"},"subjects":[{"apiGroup":
                         "rbac.authorization.k8s.io","kind":"User","name":"mutating-author"}]})"))
                .status,
            201);
  const auto as_author = [](const std::string& target, const Value& body) {
    return api().call("POST", target, to_json(body), {{"Impersonate-User", "mutating-author"}});
  };
  const std::string reads_secrets = "paramKind: {apiVersion: v1, kind: Secret}, ";
  expect_failure(as_author(kMutating, named_spec("steals", about_test("steals") + reads_secrets + appending("x"))), 422,
                 "Invalid",
                 "spec.paramKind: Forbidden: user mutating-author must have \"get\" permission on all objects");
  ASSERT_EQ(api().post(kMutating, named_spec("reads", about_test("reads") + reads_secrets + appending("x"))).status,
            201);
  expect_failure(as_author(kMutatingBindings, named_spec("reads",
                                                         "policyName: reads, paramRef: {name: token, namespace: "
                                                         "kube-system, parameterNotFoundAction: Allow}")),
                 422, "Invalid", "spec.paramRef: Forbidden: user mutating-author does not have \"get\" permission");
  EXPECT_EQ(as_author(kMutating, named_spec("harmless", about_test("harmless") + appending("x"))).status, 201);
  for (const char* name : {"reads", "harmless"}) EXPECT_EQ(api().remove(kMutating + "/" + name).status, 200);
}

TEST(MutatingPolicies, AreShownInATable) {
  const MutatingPolicyOfTest bound{"shown", appending("x")};
  const Answer table =
      api().call("GET", kMutating + "/shown", "", {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  ASSERT_EQ(table.status, 200) << table;
  EXPECT_EQ(table.json["columnDefinitions"][1]["name"].str(), "Mutations");
  EXPECT_EQ(table.json["rows"][0]["cells"][1], Value{1});
  EXPECT_EQ(table.json["rows"][0]["cells"][2].str(), "<unset>");
}

}  // namespace
}  // namespace shiplog::e2e
