#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/api/admission_policies/admission_policy.h"
#include "services/cel/cel_value.h"

namespace shiplog::api {

/// The value of `variables`: each one is evaluated when it is first read, at the cost of the policy.
class PolicyVariables final : public cel::CelMap {
 public:
  explicit PolicyVariables(const PolicyExpressions& policy) : policy_{&policy} {}
  void charge(CostBudget& budget) { budget_ = &budget; }
  /// What the expressions of the variables see: has this map itself, too, so that it is set afterwards. Outlives this.
  void see(const std::vector<cel::CelValue>* values) { values_ = values; }

  size_t size() const override { return policy_->variables.size(); }
  std::vector<cel::CelValue> keys() const override;
  std::optional<cel::CelValue> find(const cel::CelValue& key) const override;
  std::optional<cel::CelValue> field(std::string_view name) const override;

 private:
  cel::CelValue evaluated(const PolicyExpressions::Variable& variable) const;

  const PolicyExpressions* policy_;
  CostBudget* budget_ = nullptr;
  const std::vector<cel::CelValue>* values_ = nullptr;
  mutable std::map<std::string, cel::CelValue> known_;
};

/// What evaluates the expressions of one policy about one request.
struct PolicyEvaluation {
  PolicyEvaluation(const PolicyExpressions& expressions, const ExpressionInput& input);
  PolicyEvaluation(const PolicyEvaluation&) = delete;
  PolicyEvaluation& operator=(const PolicyEvaluation&) = delete;

  /// What is evaluated from now on costs this budget.
  void charge(CostBudget& to) {
    budget = &to;
    variables->charge(to);
  }
  /// What is evaluated from now on sees another object. Variables that have been read keep their values.
  void see(const PolicyExpressions& expressions, const ExpressionInput& input) {
    values = expression_values(expressions.scope, input, cel::CelValue::map(variables));
  }

  CostBudget* budget = nullptr;
  std::shared_ptr<PolicyVariables> variables;
  std::vector<cel::CelValue> values, message_values;
};

}  // namespace shiplog::api
