#include "services/api/admission_policies/policy_evaluation.h"

#include <algorithm>
#include <utility>

namespace shiplog::api {

using cel::CelValue;

std::vector<CelValue> PolicyVariables::keys() const {
  std::vector<CelValue> keys;
  for (const PolicyExpressions::Variable& each : policy_->variables) keys.push_back(CelValue::string(each.name));
  return keys;
}

std::optional<CelValue> PolicyVariables::find(const CelValue& key) const {
  return key.is(CelValue::Kind::kString) ? field(key.as_string()) : std::nullopt;
}

std::optional<CelValue> PolicyVariables::field(std::string_view name) const {
  const auto found = std::ranges::find(policy_->variables, name, &PolicyExpressions::Variable::name);
  if (found == policy_->variables.end()) return std::nullopt;
  const auto [known, added] = known_.try_emplace(found->name);
  // An expression sees the variables before it only, so this does not come back to itself.
  if (added) {
    CelValue value = evaluated(*found);
    known_[found->name] = std::move(value);
  }
  return known_[found->name];
}

CelValue PolicyVariables::evaluated(const PolicyExpressions::Variable& variable) const {
  const std::string what = "composited variable \"" + variable.name + "\" fails to ";
  if (!variable.refusal.empty()) return CelValue::error(what + "compile: " + variable.refusal);
  if (const auto& program = variable.expression.program(); !program) {
    return CelValue::error(what + "compile: " + program.error().message);
  }
  auto value = evaluate_expression(variable.expression, *values_, *budget_);
  if (value) return std::move(value).value();
  return CelValue::error(what + "evaluate: " + value.error().message);
}

PolicyEvaluation::PolicyEvaluation(const PolicyExpressions& expressions, const ExpressionInput& input)
    : variables{std::make_shared<PolicyVariables>(expressions)},
      values{expression_values(expressions.scope, input, CelValue::map(variables))},
      message_values{expression_values(expressions.message_scope, input, CelValue::map(variables))} {
  variables->see(&values);
}

}  // namespace shiplog::api
