#include "services/api/expressions/admission_expression.h"

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog::api {
namespace {

using TypeKind = cel::CelType::Kind;

Value json(std::string_view text) { return parse_json(text).value(); }

/// Permits "get" of pods in the namespace "own".
class OwnNamespace final : public cel::CelAuthorizer {
 public:
  cel::CelAccessAnswer decide(const cel::CelAccessQuestion& question) const override {
    const bool own = question.service_account.empty() && question.verb == "get" && question.resource == "pods" &&
                     question.group.empty() && question.ns == "own";
    return {own, own ? "it is yours" : "", ""};
  }
};

ExpressionInput sample() {
  ExpressionInput input;
  input.object = json(R"({"metadata":{"name":"web","labels":{"app":"a"}},"spec":{"replicas":3}})");
  input.request = json(R"({"operation":"CREATE","namespace":"own","userInfo":{"username":"jane","groups":["dev"]},
                           "kind":{"group":"apps","version":"v1","kind":"Deployment"},"dryRun":false})");
  input.authorizer = std::make_shared<OwnNamespace>();
  input.resource.group = "apps";
  input.resource.resource = "deployments";
  input.resource.ns = "own";
  input.resource.name = "web";
  return input;
}

std::string conditions_result(const std::vector<std::string>& expressions) {
  Value conditions = Value::array();
  for (const std::string& each : expressions)
    conditions.push_back(Value::object({{"name", "a"}, {"expression", each}}));
  std::string error;
  CostBudget budget{kMatchConditionsCost};
  const auto result = fulfils(match_conditions_of(conditions, false), sample(), false, budget, error);
  return result ? *result ? "true" : "false" : error;
}

TEST(AdmissionExpression, SeesTheObjectAndTheRequest) {
  EXPECT_EQ(conditions_result({"object.spec.replicas == 3 && oldObject == null"}), "true");
  EXPECT_EQ(conditions_result({"request.operation == 'DELETE'"}), "false");
  EXPECT_EQ(conditions_result({"'dev' in request.userInfo.groups"}), "true");
  EXPECT_EQ(conditions_result({"has(request.subResource)"}), "false");
  EXPECT_EQ(conditions_result({}), "true");
}

TEST(AdmissionExpression, FieldsOfTheRequestHaveTheirOwnNames) {
  EXPECT_EQ(conditions_result({"request.namespace == 'own'"}), "true");
  EXPECT_EQ(conditions_result({"has(request.namespace)"}), "true");
  EXPECT_EQ(conditions_result({"request.__namespace__ == 'own'"}), "true");  // of policies that are stored so
}

TEST(AdmissionExpression, AnObjectThatIsMissingHasNoFields) {
  EXPECT_EQ(conditions_result({"!has(oldObject.metadata)"}), "true");
  EXPECT_EQ(conditions_result({"!oldObject.?metadata.hasValue()"}), "true");
  EXPECT_EQ(conditions_result({"!has(object.metadata.name.first)"}), "true");
  EXPECT_EQ(conditions_result({"has(namespaceObject.metadata)"}), "false");
  EXPECT_EQ(conditions_result({"oldObject.metadata.name == 'a'"}),
            "expression 'oldObject.metadata.name == 'a'' resulted in error: no such key: metadata");
}

TEST(AdmissionExpression, AsksWhatTheUserOfTheRequestMayDo) {
  const auto ask = [](const std::string& check) { return conditions_result({check}); };
  EXPECT_EQ(ask("authorizer.group('').resource('pods').namespace('own').check('get').allowed()"), "true");
  EXPECT_EQ(ask("authorizer.group('').resource('pods').namespace('other').check('get').allowed()"), "false");
  EXPECT_EQ(ask("authorizer.requestResource.check('get').allowed()"), "false");
  EXPECT_EQ(
      ask("authorizer.serviceAccount('own', 'a').group('').resource('pods').namespace('own').check('get').allowed()"),
      "false");
  EXPECT_EQ(ask("authorizer.group('').resource('pods').namespace('own').check('get').reason() == 'it is yours'"),
            "true");
}

TEST(AdmissionExpression, AFalseConditionCountsMoreThanOneThatFails) {
  EXPECT_EQ(conditions_result({"object.spec.none == 1", "false"}), "false");
  EXPECT_EQ(conditions_result({"true", "object.spec.none == 1"}),
            "expression 'object.spec.none == 1' resulted in error: no such key: none");
  EXPECT_EQ(conditions_result({"object.none == 1", "object.none == 1"}),
            "expression 'object.none == 1' resulted in error: no such key: none");
}

TEST(AdmissionExpression, ExpressionsThatCostTooMuchFail) {
  const std::string nested =
      "[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, "
      "[1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, "
      "[1,2,3,4,5,6,7,8,9,10].all(g, true)))))))";
  const std::string error = conditions_result({nested});
  EXPECT_NE(error.find("cost limit exceeded"), std::string::npos) << error;
}

TEST(AdmissionExpression, IsRefusedInKubernetesWords) {
  const auto error = [](std::string_view text, const ExpressionScope& scope, ResultTypes wanted) {
    const auto program = compile_expression(text, scope, wanted);
    return program ? std::string{} : program.error().message;
  };
  EXPECT_EQ(error("1 + 1", {}, {TypeKind::kBool}), "must evaluate to bool but got int");
  EXPECT_EQ(error("1 + 1", {}, {TypeKind::kString, TypeKind::kNull}),
            "must evaluate to one of [string null] but got int");
  EXPECT_NE(error("nothing", {}, {TypeKind::kBool})
                .find("compilation failed: ERROR: <input>:1:1: undeclared reference to 'nothing'"),
            std::string::npos);
  EXPECT_NE(error("params == null", {}, {TypeKind::kBool}).find("undeclared reference to 'params'"), std::string::npos);
  EXPECT_EQ(error("params == null", {.params = true}, {TypeKind::kBool}), "");
  EXPECT_NE(error("authorizer.path('/a').check('get').allowed()", {.authorizer = false}, {TypeKind::kBool}), "");
  EXPECT_NE(error("request.nothing == ''", {}, {TypeKind::kBool}).find("undefined field 'nothing'"), std::string::npos);
}

}  // namespace
}  // namespace shiplog::api
