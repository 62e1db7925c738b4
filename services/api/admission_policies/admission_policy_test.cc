#include "services/api/admission_policies/admission_policy.h"

#include <thread>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "events/base/yaml.h"

namespace shiplog::api {
namespace {

Value yaml(std::string_view text) { return parse_yaml(text).value(); }

/// Permits nothing.
class NoRights final : public cel::CelAuthorizer {
 public:
  cel::CelAccessAnswer decide(const cel::CelAccessQuestion&) const override { return {}; }
};

ExpressionInput request_of(std::string_view object, std::string_view params = {}) {
  ExpressionInput input;
  input.object = yaml(object);
  input.request = yaml("{operation: CREATE, namespace: default, userInfo: {username: jane}, dryRun: false}");
  input.ns = yaml("{metadata: {name: default, labels: {tier: gold}}}");
  if (!params.empty()) input.params = yaml(params);
  input.authorizer = std::make_shared<NoRights>();
  return input;
}

AdmissionPolicy policy_of(const std::string& spec) {
  return AdmissionPolicy{yaml("{metadata: {name: p}, spec: {" + spec + "}}")};
}

/// What is wrong with a Deployment of five replicas, one failure a line.
std::string failures(const std::string& spec, std::string_view params = {}) {
  PolicyBudget budget;
  const PolicyVerdict verdict =
      evaluate_policy(policy_of(spec), request_of("{metadata: {name: web}, spec: {replicas: 5}}", params), budget);
  std::string lines;
  for (const auto& failure : verdict.failures) {
    lines += std::to_string(failure.index) + " " + failure.message +
             (failure.reason.empty() ? "" : " " + failure.reason) + "\n";
  }
  for (const std::string& error : verdict.annotation_errors) lines += "annotation: " + error + "\n";
  for (const auto& [key, value] : verdict.annotations) lines += key + "=" + value + "\n";
  return lines;
}

TEST(AdmissionPolicy, AValidationThatIsFalseFailsWithItsMessage) {
  EXPECT_EQ(failures("validations: [{expression: 'object.spec.replicas <= 5'}]"), "");
  EXPECT_EQ(failures("validations: [{expression: 'object.spec.replicas <= 4'}]"),
            "0 failed expression: object.spec.replicas <= 4\n");
  EXPECT_EQ(
      failures("validations: [{expression: 'true'}, {expression: 'false', message: ' too many ', reason: Forbidden}]"),
      "1 too many Forbidden\n");
  EXPECT_EQ(
      failures(R"(validations: [{expression: 'false', messageExpression: '"has " + string(object.spec.replicas)'}])"),
      "0 has 5\n");
  // A message that cannot be made, or has lines, is not used.
  EXPECT_EQ(failures(R"(validations: [{expression: 'false', messageExpression: 'object.none', message: m}])"), "0 m\n");
  EXPECT_EQ(failures(R"(validations: [{expression: 'false', messageExpression: '"a\nb"', message: m}])"), "0 m\n");
}

TEST(AdmissionPolicy, FailurePolicyDecidesAboutErrors) {
  EXPECT_EQ(failures("validations: [{expression: 'object.spec.none > 1'}]"),
            "0 expression 'object.spec.none > 1' resulted in error: no such key: none\n");
  EXPECT_EQ(failures("failurePolicy: Ignore, validations: [{expression: 'object.spec.none > 1'}]"), "");
  // What is false is denied all the same.
  EXPECT_EQ(
      failures("failurePolicy: Ignore, validations: [{expression: 'object.spec.none > 1'}, {expression: 'false'}]"),
      "1 failed expression: false\n");
}

TEST(AdmissionPolicy, MatchConditionsDecideWhetherItApplies) {
  const std::string never = "validations: [{expression: 'false', message: m}]";
  EXPECT_EQ(failures("matchConditions: [{name: a, expression: 'request.userInfo.username == \"jane\"'}], " + never),
            "0 m\n");
  EXPECT_EQ(failures("matchConditions: [{name: a, expression: 'request.userInfo.username == \"bob\"'}], " + never), "");
  EXPECT_EQ(failures("matchConditions: [{name: a, expression: 'object.none == 1'}], " + never),
            "0 expression 'object.none == 1' resulted in error: no such key: none\n");
  EXPECT_EQ(failures("failurePolicy: Ignore, matchConditions: [{name: a, expression: 'object.none == 1'}], " + never),
            "");
}

TEST(AdmissionPolicy, ReadsParametersAndTheNamespace) {
  const std::string limited =
      "paramKind: {apiVersion: v1, kind: ConfigMap}, validations: [{expression: "
      "'object.spec.replicas <= int(params.data.most)'}]";
  EXPECT_EQ(failures(limited, "{data: {most: '5'}}"), "");
  EXPECT_EQ(failures(limited, "{data: {most: '4'}}"),
            "0 failed expression: object.spec.replicas <= int(params.data.most)\n");
  EXPECT_EQ(failures("validations: [{expression: 'namespaceObject.metadata.labels.tier == \"gold\"'}]"), "");
  EXPECT_EQ(failures("paramKind: {apiVersion: v1, kind: ConfigMap}, validations: [{expression: 'params == null'}]"),
            "");
}

TEST(AdmissionPolicy, VariablesReadThoseBeforeThem) {
  EXPECT_EQ(
      failures(
          "variables: [{name: count, expression: 'object.spec.replicas'}, {name: twice, expression: 'variables.count * "
          "2'}], validations: [{expression: 'variables.twice == 10'}, {expression: 'variables.count == 4', "
          "messageExpression: '\"n is \" + string(variables.count)'}]"),
      "1 n is 5\n");
  EXPECT_EQ(failures("variables: [{name: bad, expression: 'object.none'}], validations: [{expression: 'true'}, "
                     "{expression: 'variables.bad == 1'}]"),
            "1 expression 'variables.bad == 1' resulted in error: composited variable \"bad\" fails to evaluate: "
            "expression 'object.none' resulted in error: no such key: none\n");
}

TEST(AdmissionPolicy, AuditAnnotationsAreTextsOrNothing) {
  EXPECT_EQ(failures("auditAnnotations: [{key: a, valueExpression: '\" n=\" + string(object.spec.replicas)'}, {key: b, "
                     "valueExpression: 'null'}]"),
            "a=n=5\n");
  EXPECT_EQ(failures("auditAnnotations: [{key: a, valueExpression: 'string(object.none)'}]"),
            "annotation: expression 'string(object.none)' resulted in error: no such key: none\n");
  EXPECT_EQ(failures("failurePolicy: Ignore, auditAnnotations: [{key: a, valueExpression: 'string(object.none)'}]"),
            "");
}

TEST(AdmissionPolicy, AuthorizerKnowsTheUserOfTheRequestOnly) {
  EXPECT_EQ(failures("validations: [{expression: 'authorizer.group(\"\").resource(\"pods\").check(\"get\").allowed()', "
                     "message: not you}]"),
            "0 not you\n");
}

TEST(AdmissionPolicy, WhatCostsTooMuchEndsTheEvaluation) {
  // Each variable costs nearly what one expression may; a dozen of them are more than a binding may.
  std::string variables;
  std::string uses = "true";
  for (int i = 0; i < 14; ++i) {
    const std::string name = "v" + std::to_string(i);
    variables +=
        (i == 0 ? "" : ", ") + ("{name: " + name) + ", expression: 'lists.range(690).distinct().size() == 690'}";
    uses += " && variables." + name;
  }
  const std::string result = failures("variables: [" + variables + "], validations: [{expression: '" + uses + "'}]");
  EXPECT_NE(result.find("cost"), std::string::npos) << result;
}

// Users who may write parameters cannot multiply the cost of other users' requests.
TEST(AdmissionPolicy, TheParametersOfABindingShareItsBudgets) {
  const std::string costly = "'lists.range(690).distinct().size() == 690'";
  for (const std::string& spec : {"validations: [{expression: " + costly + "}]",
                                  "matchConditions: [{name: c, expression: " + costly + "}], validations: []",
                                  std::string{"validations: [], auditAnnotations: [{key: k, valueExpression: \""
                                              "lists.range(690).distinct().size() == 690 ? 'a' : 'b'\"}]"}}) {
    const AdmissionPolicy policy = policy_of(spec);
    PolicyBudget budget;
    const auto evaluated = [&] { return evaluate_policy(policy, request_of("{metadata: {name: web}}"), budget); };
    const PolicyVerdict first = evaluated();
    EXPECT_TRUE(first.failures.empty() && first.annotation_errors.empty()) << spec;
    PolicyVerdict last;
    for (int param = 0; param < 50; ++param) last = evaluated();
    std::string why = last.failures.empty() ? "" : last.failures[0].message;
    for (const std::string& error : last.annotation_errors) why += error;
    EXPECT_NE(why.find("cost budget"), std::string::npos) << spec << ": " << why;
  }
}

TEST(AdmissionPolicy, WhatOtherParametersLeaveNoBudgetForFailsWhateverFailurePolicyStates) {
  const std::string costly = "'lists.range(690).distinct().size() == 690'";
  for (const std::string& spec : {"validations: [{expression: " + costly + "}]",
                                  "matchConditions: [{name: c, expression: " + costly + "}], validations: []"}) {
    const AdmissionPolicy policy = policy_of("failurePolicy: Ignore, " + spec);
    PolicyBudget budget;
    PolicyVerdict verdict;
    for (int param = 0; param < 50 && verdict.failures.empty(); ++param) {
      verdict = evaluate_policy(policy, request_of("{metadata: {name: web}}"), budget);
    }
    ASSERT_EQ(verdict.failures.size(), 1U) << spec;
    EXPECT_EQ(verdict.failures[0].message.find("the parameters of the binding cost too much together"), 0U);
  }
}

TEST(AdmissionPolicy, AParameterThatCostsTooMuchByItselfFailsByFailurePolicy) {
  std::string uses = "true";
  for (int i = 0; i < 14; ++i) uses += " && variables.v" + std::to_string(i);
  std::string variables;
  for (int i = 0; i < 14; ++i) {
    variables += "{name: v" + std::to_string(i) + ", expression: 'lists.range(690).distinct().size() == 690'}, ";
  }
  EXPECT_EQ(
      failures("failurePolicy: Ignore, variables: [" + variables + "], validations: [{expression: '" + uses + "'}]"),
      "");
}

// Each variable is evaluated inside the one that reads it; an older build accepted any chain of them.
TEST(AdmissionPolicy, AStoredChainOfVariablesThatIsTooDeepFailsInsteadOfOverflowingTheStack) {
  std::string variables = "{name: v0, expression: '0'}";
  for (int i = 1; i < 128; ++i) {
    std::string expression = "variables.v" + std::to_string(i - 1);
    for (int level = 0; level < 120; ++level) expression = "[0].map(x, " + expression + ")[0]";
    variables += ", {name: v" + std::to_string(i) + ", expression: '" + expression + "'}";
  }
  const std::string spec = "variables: [" + variables + "], validations: [{expression: 'variables.v127 == 0'}]";
  std::string result;
  std::string ignored;
  std::thread{[&] {  // with the stack of a worker
    result = failures(spec);
    ignored = failures("failurePolicy: Ignore, " + spec);
  }}
      .join();
  EXPECT_NE(result.find("nested more than 1000 levels deep"), std::string::npos) << result;
  EXPECT_EQ(ignored, "");
}

TEST(AdmissionPolicy, AnAnnotationIsCutAtACharacter) {
  const auto length_of = [](const std::string& character) {
    std::string text;
    for (int i = 0; i < 6000; ++i) text += character;
    const std::string line = failures("auditAnnotations: [{key: a, valueExpression: '\"" + text + "\"'}]");
    EXPECT_TRUE(is_utf8(line)) << character;
    return line.size() - std::string_view{"a=\n"}.size();
  };
  EXPECT_EQ(length_of("xy"), 10240U);
  EXPECT_EQ(length_of("\u20ac"), 10239U);
}

TEST(AdmissionPolicy, BindingsWithoutRulesAreAboutAllOfTheirPolicy) {
  AdmissionRequest request;
  request.kinds = &Kinds::compiled();
  request.kind = Kinds::compiled().find_kind("apps/v1", "Deployment");
  request.operation = "CREATE";
  request.name = "web";
  const auto is_about = [&](const char* match, const char* subresource) {
    request.subresource = subresource;
    const AdmissionPolicyMatch read = policy_match_of(yaml(match));
    if (matched_kind(read.excluded, request) != nullptr) return false;
    return matched_kind(read.included, request) != nullptr;
  };
  EXPECT_TRUE(is_about("{}", ""));
  EXPECT_TRUE(is_about("{}", "status"));
  const char* deployments =
      "{resourceRules: [{operations: [CREATE], apiGroups: [apps], apiVersions: [v1], resources: [deployments]}]}";
  EXPECT_TRUE(is_about(deployments, ""));
  EXPECT_FALSE(is_about(deployments, "status"));
  EXPECT_FALSE(
      is_about("{excludeResourceRules: [{operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: "
               "[deployments], resourceNames: [web]}]}",
               ""));
  EXPECT_TRUE(
      is_about("{excludeResourceRules: [{operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: "
               "[deployments], resourceNames: [other]}]}",
               ""));
}

TEST(AdmissionPolicy, BindingsSayWhatHappens) {
  const AdmissionPolicyBinding binding = policy_binding_of(
      yaml("{metadata: {name: b}, spec: {policyName: p, validationActions: [Warn, Audit], paramRef: {name: x}}}"));
  EXPECT_EQ(binding.policy, "p");
  EXPECT_TRUE(binding.warns && binding.audits && !binding.denies);
  EXPECT_FALSE(binding.match.has_value());
  EXPECT_EQ(binding.param_ref["name"].as_string(), "x");
}

}  // namespace
}  // namespace shiplog::api
