#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/api/admission/admission.h"

// What is refused of the expressions in admission configurations (ADM-2, ADM-3).

namespace shiplog::api {
namespace {

const std::string kPolicyType = "validatingadmissionpolicies.admissionregistration.k8s.io";
const std::string kMutatingPolicyType = "mutatingadmissionpolicies.admissionregistration.k8s.io";
const std::string kBindingType = "validatingadmissionpolicybindings.admissionregistration.k8s.io";
const std::string kHookType = "validatingwebhookconfigurations.admissionregistration.k8s.io";

Admission admission_of(const std::string& type) {
  Admission admission;
  admission.kinds = &Kinds::compiled();
  admission.kind = Kinds::compiled().find_type(type);
  return admission;
}

/// The fields that are refused, in their order; "" if it is admitted.
std::string refused_fields(const Result<Value>& result) {
  std::string fields;
  if (result) return fields;
  for (const FieldCause& cause : result.error().causes) fields += (fields.empty() ? "" : ",") + cause.field;
  return fields;
}

Result<Value> write_new(const std::string& type, const std::string& body) {
  Admission admission = admission_of(type);
  return admit_create(admission, parse_json(body).value());
}

std::string refused_in_policy(const std::string& spec) {
  return refused_fields(write_new(
      kPolicyType, R"({"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[{"operations":["CREATE"],
      "apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]},)" +
                       spec + "}}"));
}

std::string binding(const std::string& spec) {
  return refused_fields(write_new(kBindingType, R"({"metadata":{"name":"b"},"spec":{)" + spec + "}}"));
}

std::string conditions(const std::string& list) {
  return refused_fields(write_new(kHookType, R"({"metadata":{"name":"w"},"webhooks":[{"name":"a.b.c","clientConfig":
      {"url":"https://x/"},"sideEffects":"None","admissionReviewVersions":["v1"],"matchConditions":)" +
                                                 list + "}]}"));
}

TEST(MatchConditionRules, AreCompiledAndNamed) {
  EXPECT_EQ(conditions(R"~([{"name":"a","expression":"object.a == 1"},{"name":"x.io/b","expression":
      "authorizer.path('/a').check('get').allowed()"}])~"),
            "");
  EXPECT_EQ(conditions(R"([{"name":"a","expression":"nothing"}])"), "webhooks[0].matchConditions[0].expression");
  EXPECT_EQ(conditions(R"([{"name":"a","expression":"1"}])"), "webhooks[0].matchConditions[0].expression");
  EXPECT_EQ(conditions(R"([{"name":"a","expression":"params.a"}])"), "webhooks[0].matchConditions[0].expression");
  EXPECT_EQ(conditions(R"([{"name":"a","expression":"namespaceObject.nothing == 1"}])"),
            "webhooks[0].matchConditions[0].expression");
  EXPECT_EQ(conditions(R"([{"name":"a","expression":" "}])"), "webhooks[0].matchConditions[0].expression");
  EXPECT_EQ(conditions(R"([{"name":"!","expression":"true"}])"), "webhooks[0].matchConditions[0].name");
}

TEST(MatchConditionRules, AreAtMost64) {
  std::string list;
  for (int i = 0; i < 65; ++i) {
    list += (i == 0 ? "" : ",") + (R"({"name":"c)" + std::to_string(i)) + R"(","expression":"true"})";
  }
  EXPECT_EQ(conditions("[" + list + "]"), "webhooks[0].matchConditions");
}

TEST(MatchConditionRules, ThoseThatAreThereAlreadyAreNotCompiledAgain) {
  // As an older build may have accepted it.
  const std::string object =
      R"({"metadata":{"name":"w","uid":"u","resourceVersion":"1"},"webhooks":[{"name":"a.b.c","clientConfig":
      {"url":"https://x/"},"sideEffects":"None","admissionReviewVersions":["v1"],"matchConditions":[{"name":"a",
      "expression":"old"}]}]})";
  const Value old = parse_json(object).value();
  Admission admission = admission_of(kHookType);
  admission.name = "w";
  const auto updated = admit_update(admission, old, old);
  EXPECT_TRUE(updated) << refused_fields(updated);
}

TEST(AdmissionPolicyRules, ExpressionsAreCompiledWithTheirVariables) {
  EXPECT_EQ(
      refused_in_policy(R"("validations":[{"expression":"variables.a + variables.b > 1"}],"variables":[{"name":"a",
      "expression":"1"},{"name":"b","expression":"variables.a + 1"}])"),
      "");
  EXPECT_EQ(
      refused_in_policy(R"("validations":[{"expression":"true"}],"variables":[{"name":"a","expression":"variables.b"},
      {"name":"b","expression":"1"}])"),
      "spec.variables[0].expression");
  EXPECT_EQ(
      refused_in_policy(
          R"("validations":[{"expression":"variables.a == 'text'"}],"variables":[{"name":"a","expression":"1"}])"),
      "spec.validations[0].expression");
  EXPECT_EQ(refused_in_policy(R"("validations":[{"expression":"params.a"}])"), "spec.validations[0].expression");
  EXPECT_EQ(refused_in_policy(
                R"("paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"validations":[{"expression":"params.a == 1"}])"),
            "");
  EXPECT_EQ(refused_in_policy(
                R"("validations":[{"expression":"true"}],"variables":[{"name":"a-b","expression":"1"},{"name":"in",
      "expression":"1"}])"),
            "spec.variables[0].name,spec.variables[1].name");
}

TEST(AdmissionPolicyRules, ReasonsAreThoseOfRefusedRequests) {
  EXPECT_EQ(refused_in_policy(R"("validations":[{"expression":"true","reason":"Forbidden"}])"), "");
  EXPECT_EQ(refused_in_policy(R"("validations":[{"expression":"true","reason":"Unauthorized"}])"),
            "spec.validations[0].reason");
}

TEST(AdmissionPolicyRules, MessagesAndAnnotationsAreTexts) {
  EXPECT_EQ(refused_in_policy(R"("validations":[{"expression":"true","messageExpression":"1"}])"),
            "spec.validations[0].messageExpression");
  EXPECT_EQ(refused_in_policy(R"~("validations":[{"expression":"true","messageExpression":
      "authorizer.path('/a').check('get').reason()"}])~"),
            "spec.validations[0].messageExpression");
  EXPECT_EQ(refused_in_policy(R"("validations":[{"expression":"true","message":"a\nb"}])"),
            "spec.validations[0].message");
  EXPECT_EQ(refused_in_policy(R"("validations":[{"expression":"true","reason":"Other"}])"),
            "spec.validations[0].reason");
  EXPECT_EQ(refused_in_policy(
                R"("auditAnnotations":[{"key":"a","valueExpression":"'x'"},{"key":"b","valueExpression":"null"}])"),
            "");
  EXPECT_EQ(refused_in_policy(
                R"("auditAnnotations":[{"key":"a","valueExpression":"1"},{"key":"a","valueExpression":"'x'"}])"),
            "spec.auditAnnotations[0].valueExpression,spec.auditAnnotations[1].key");
  EXPECT_EQ(refused_in_policy(R"("failurePolicy":"Fail")"), "spec.validations,spec.auditAnnotations");
}

TEST(AdmissionPolicyRules, VariablesAreLimited) {
  std::string list;
  for (int i = 0; i < 129; ++i) {
    list += (i == 0 ? "" : ",") + (R"({"name":"v)" + std::to_string(i)) + R"(","expression":"true"})";
  }
  EXPECT_EQ(refused_in_policy(R"("validations":[{"expression":"true"}],"variables":[)" + list + "]"), "spec.variables");
}

TEST(AdmissionPolicyRules, BindingsNameAPolicyAndWhatHappens) {
  EXPECT_EQ(binding(R"("policyName":"p","validationActions":["Deny","Audit"])"), "");
  EXPECT_EQ(binding(R"("validationActions":[])"), "spec.policyName,spec.validationActions");
  EXPECT_EQ(binding(R"("policyName":"p","validationActions":["Deny","Warn"])"), "spec.validationActions");
  EXPECT_EQ(binding(R"("policyName":"p","validationActions":["Shout"])"), "spec.validationActions[0]");
  EXPECT_EQ(binding(R"("policyName":"p","validationActions":["Deny"],"paramRef":{"name":"a","selector":{},
      "parameterNotFoundAction":"Deny"})"),
            "spec.paramRef.name,spec.paramRef.selector");
  EXPECT_EQ(binding(R"("policyName":"p","validationActions":["Deny"],"paramRef":{"parameterNotFoundAction":"Deny"})"),
            "spec.paramRef");
  EXPECT_EQ(binding(R"("policyName":"p","validationActions":["Deny"],"paramRef":{"name":"a"})"),
            "spec.paramRef.parameterNotFoundAction");
}

TEST(AdmissionPolicyRules, AChainOfVariablesIsLimitedByItsDepth) {
  const auto chain = [](int length, int levels) {
    std::string variables = R"({"name":"v0","expression":"0"})";
    for (int i = 1; i < length; ++i) {
      std::string expression = "variables.v" + std::to_string(i - 1);
      for (int level = 0; level < levels; ++level) expression = "(" + expression + " + 1)";
      variables += R"(,{"name":"v)" + std::to_string(i) + R"(","expression":")" + expression + "\"}";
    }
    return refused_in_policy(R"("variables":[)" + variables +
                             R"(],"validations":[{"expression":"variables.v0 == 0"}])");
  };
  EXPECT_EQ(chain(128, 1), "");
  EXPECT_EQ(chain(9, 100), "");
  EXPECT_EQ(chain(11, 100), "spec.variables[10].expression");
}

/// The causes of a refusal, one a line; "" if it is admitted. `mutations`: a JSON list.
std::string refused_mutations(const std::string& mutations, const std::string& operations = R"("CREATE")",
                              const std::string& more = R"("reinvocationPolicy":"Never",)") {
  const auto written = write_new(
      kMutatingPolicyType, R"({"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[{"operations":[)" +
                               operations + R"(],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]},)" +
                               more + R"("mutations":)" + mutations + "}}");
  std::string causes;
  if (written) return causes;
  for (const FieldCause& cause : written.error().causes) causes += cause.field + ": " + cause.message + "\n";
  return causes;
}

TEST(MutatingPolicyRules, ExpressionsHaveTheTypeOfTheirPatch) {
  EXPECT_EQ(refused_mutations(R"([{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{}"}},
      {"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'remove', path: '/a'}]"}}])"),
            "");
  EXPECT_EQ(refused_mutations(R"([{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"[1]"}},
      {"patchType":"JSONPatch","jsonPatch":{"expression":"Object{}"}}])"),
            "spec.mutations[0].applyConfiguration.expression: Invalid value: \"[1]\": must evaluate to Object but got "
            "list(int)\nspec.mutations[1].jsonPatch.expression: Invalid value: \"Object{}\": must evaluate to "
            "list(JSONPatch) but got Object\n");
}

TEST(MutatingPolicyRules, AMutationHasThePatchOfItsType) {
  EXPECT_EQ(refused_mutations(R"([{"patchType":"JSONPatch","applyConfiguration":{"expression":"Object{}"}}])"),
            "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch\n"
            "spec.mutations[0].applyConfiguration: Invalid value: \"{applyConfiguration}\": must not be specified when "
            "patchType is JSONPatch\n");
  EXPECT_EQ(refused_mutations(R"([{"jsonPatch":{"expression":"[]"}}])"),
            "spec.mutations[0].patchType: Required value\n");
  EXPECT_EQ(refused_mutations(R"([{"patchType":"other"}])"),
            "spec.mutations[0].patchType: Unsupported value: \"other\": supported values: \"ApplyConfiguration\", "
            "\"JSONPatch\"\n");
  EXPECT_EQ(refused_mutations(R"([{"patchType":"JSONPatch","jsonPatch":{"expression":" "}}])"),
            "spec.mutations[0].jsonPatch.expression: Required value: expression is not specified\n");
  EXPECT_EQ(refused_mutations("[]"), "spec.mutations: Required value: mutations must contain at least one item\n");
}

TEST(MutatingPolicyRules, DeletionsCannotBeChanged) {
  const std::string mutations =
      R"([{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{}"}}])";
  EXPECT_EQ(refused_mutations(mutations, R"("CREATE","DELETE")"),
            "spec.matchConstraints.resourceRules[0].operations[1]: Unsupported value: \"DELETE\": supported values: "
            "\"*\", \"CONNECT\", \"CREATE\", \"UPDATE\"\n");
  EXPECT_EQ(refused_mutations(mutations, R"("*")"), "");
}

TEST(MutatingPolicyRules, TheReinvocationPolicyIsRequired) {
  const std::string mutations =
      R"([{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{}"}}])";
  EXPECT_EQ(refused_mutations(mutations, R"("CREATE")", ""), "spec.reinvocationPolicy: Required value\n");
  EXPECT_EQ(refused_mutations(mutations, R"("CREATE")", R"("reinvocationPolicy":"Often",)"),
            "spec.reinvocationPolicy: Unsupported value: \"Often\": supported values: \"IfNeeded\", \"Never\"\n");
}

}  // namespace
}  // namespace shiplog::api
