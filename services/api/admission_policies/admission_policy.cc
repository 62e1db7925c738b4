#include "services/api/admission_policies/admission_policy.h"

#include <algorithm>

#include "services/api/admission_policies/policy_evaluation.h"
#include "services/api/expressions/variable_depth.h"

namespace shiplog::api {
namespace {

using cel::CelValue;
using TypeKind = cel::CelType::Kind;

constexpr size_t kLongestMessage = 5 * 1024;
constexpr size_t kLongestAnnotation = 10 * 1024;

AdmissionWebhook rules_and_selectors(const Value& match, const char* list) {
  AdmissionWebhook matcher;
  matcher.equivalent = match["matchPolicy"].as_string("Equivalent") != "Exact";
  for (const Value& rule : match[list].items()) matcher.rules.push_back(rule_of(rule));
  matcher.namespaces = label_selector_from(match["namespaceSelector"]);
  matcher.objects = label_selector_from(match["objectSelector"]);
  matcher.any_namespace = matcher.namespaces.valid && matcher.namespaces.requirements.empty();
  return matcher;
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const size_t from = text.find_first_not_of(kSpace);
  if (from == std::string_view::npos) return {};
  return std::string{text.substr(from, text.find_last_not_of(kSpace) - from + 1)};
}

/// A text of one line that is not too long; else empty.
std::string message_by_expression(const LazyExpression& expression, PolicyEvaluation& evaluation) {
  const auto value = evaluate_expression(expression, evaluation.message_values, *evaluation.budget);
  if (!value || !value.value().is(CelValue::Kind::kString)) return {};
  std::string message = trimmed(value.value().as_string());
  return message.size() > kLongestMessage || message.find('\n') != std::string::npos ? std::string{} : message;
}

std::string message_of(const PolicyExpressions::Validation& validation, PolicyEvaluation& evaluation) {
  std::string message;
  if (validation.message_expression) message = message_by_expression(*validation.message_expression, evaluation);
  if (message.empty()) message = trimmed(validation.message);
  if (message.empty()) message = "failed expression: " + trimmed(validation.expression.text());
  return message;
}

/// At most so many bytes, in whole characters of UTF-8.
void shorten(std::string& text, size_t most) {
  if (text.size() <= most) return;
  const auto continues = [&](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U; };
  while (most > 0 && continues(most)) --most;
  text.resize(most);
}

void annotate(const AdmissionPolicy& policy, PolicyEvaluation& evaluation, PolicyVerdict& verdict) {
  for (const auto& [key, expression] : policy.expressions().annotations) {
    const auto value = evaluate_expression(expression, evaluation.message_values, *evaluation.budget);
    if (!value) {
      if (policy.fails_closed) verdict.annotation_errors.push_back(value.error().message);
      if (evaluation.budget->exceeded) return;
    } else if (value.value().is(CelValue::Kind::kString)) {
      std::string text = trimmed(value.value().as_string());
      shorten(text, kLongestAnnotation);
      if (!text.empty()) verdict.annotations.emplace_back(key, std::move(text));
    }
  }
}

}  // namespace

AdmissionPolicyMatch policy_match_of(const Value& match_resources) {
  AdmissionPolicyMatch match{rules_and_selectors(match_resources, "resourceRules"),
                             rules_and_selectors(match_resources, "excludeResourceRules"),
                             {}};
  // A binding without rules is about all that its policy is about.
  if (match.included.rules.empty()) match.included.rules.push_back({{"*"}, {"*"}, {"*"}, {"*/*"}, "*"});
  match.outline = match.included;
  for (AdmissionWebhook::Rule& rule : match.outline.rules) rule.names.clear();
  return match;
}

const Kind* policy_kind_for(const AdmissionPolicyMatch& match, const AdmissionRequest& request) {
  if (!match.excluded.rules.empty() && matched_kind(match.excluded, request) != nullptr) return nullptr;
  return is_selected(match.included, request) ? matched_kind(match.included, request) : nullptr;
}

AdmissionPolicy::AdmissionPolicy(const Value& object)
    : name{object["metadata"]["name"].str()},
      fails_closed{object["spec"]["failurePolicy"].as_string("Fail") != "Ignore"},
      reinvoked{object["spec"]["reinvocationPolicy"].as_string() == "IfNeeded"},
      match{policy_match_of(object["spec"]["matchConstraints"])},
      param_version{object["spec"]["paramKind"]["apiVersion"].str()},
      param_kind{object["spec"]["paramKind"]["kind"].str()},
      conditions{match_conditions_of(object["spec"]["matchConditions"], !object["spec"]["paramKind"].is_null())},
      spec_{object["spec"]} {}

const PolicyExpressions& AdmissionPolicy::expressions() const {
  std::call_once(once_, [&] {
    ExpressionScope scope{.params = has_params(), .authorizer = true};
    std::vector<cel::CelVariable> known;
    VariableDepths depths;
    for (const Value& variable : spec_["variables"].items()) {
      scope.variables = std::make_shared<const std::vector<cel::CelVariable>>(known);
      PolicyExpressions::Variable made{variable["name"].str(), LazyExpression{variable["expression"].str(), scope, {}}};
      cel::CelType type{TypeKind::kDyn};
      // Refused when it is written; an older build may have stored it.
      if (const auto added = depths.add(made.name, made.expression.text()); !added) {
        made.refusal = added.error().message;
      } else if (const auto& program = made.expression.program(); program) {
        type = program.value().type();
      }
      known.push_back({made.name, std::move(type)});
      expressions_.variables.push_back(std::move(made));
    }
    scope.variables = std::make_shared<const std::vector<cel::CelVariable>>(known);
    ExpressionScope message_scope = scope;
    message_scope.authorizer = false;
    for (const Value& from : spec_["validations"].items()) {
      PolicyExpressions::Validation validation{LazyExpression{from["expression"].str(), scope, {TypeKind::kBool}},
                                               {},
                                               from["message"].str(),
                                               from["reason"].str()};
      if (!from["messageExpression"].is_empty()) {
        validation.message_expression.emplace(from["messageExpression"].str(), message_scope,
                                              ResultTypes{TypeKind::kString});
      }
      expressions_.validations.push_back(std::move(validation));
    }
    for (const Value& from : spec_["auditAnnotations"].items()) {
      expressions_.annotations.emplace_back(
          from["key"].str(),
          LazyExpression{from["valueExpression"].str(), message_scope, {TypeKind::kString, TypeKind::kNull}});
    }
    ExpressionScope mutation_scope = scope;
    mutation_scope.patches = true;
    for (const Value& from : spec_["mutations"].items()) {
      const bool json_patch = from["patchType"].as_string() == "JSONPatch";
      const Value& expression = from[json_patch ? "jsonPatch" : "applyConfiguration"]["expression"];
      const cel::CelType wanted = json_patch ? json_patch_result() : configuration_result();
      expressions_.mutations.push_back({json_patch, LazyExpression{expression.str(), mutation_scope, {wanted}}});
    }
    expressions_.scope = std::move(scope);
    expressions_.message_scope = std::move(message_scope);
  });
  return expressions_;
}

AdmissionPolicyBinding policy_binding_of(const Value& object) {
  const Value& spec = object["spec"];
  AdmissionPolicyBinding binding;
  binding.name = object["metadata"]["name"].str();
  binding.policy = spec["policyName"].str();
  if (!spec["matchResources"].is_null()) binding.match = policy_match_of(spec["matchResources"]);
  binding.param_ref = spec["paramRef"];
  binding.actions = spec["validationActions"];
  for (const Value& action : binding.actions.items()) {
    binding.denies = binding.denies || action.as_string() == "Deny";
    binding.warns = binding.warns || action.as_string() == "Warn";
    binding.audits = binding.audits || action.as_string() == "Audit";
  }
  return binding;
}

PolicyVerdict evaluate_policy(const AdmissionPolicy& policy, const ExpressionInput& input, PolicyBudget& budget) {
  PolicyVerdict verdict;
  const bool shared = budget.params++ > 0;
  const auto fail = [&](size_t index, std::string why) {
    if (policy.fails_closed) verdict.failures.push_back({index, std::move(why), ""});
  };
  const auto exceed = [&](size_t index, const std::string& why) {
    if (!shared) return fail(index, why);
    verdict.failures.push_back({index, "the parameters of the binding cost too much together: " + why, ""});
  };
  std::string error;
  const auto fulfilled = fulfils(policy.conditions, input, policy.has_params(), budget.conditions, error);
  if (fulfilled == false) return verdict;
  if (!fulfilled) {
    budget.conditions.exceeded ? exceed(0, error) : fail(0, error);
    return verdict;
  }
  PolicyEvaluation evaluation{policy.expressions(), input};
  evaluation.charge(budget.validations);
  const auto& validations = policy.expressions().validations;
  for (size_t i = 0; i < validations.size(); ++i) {
    const auto value = evaluate_expression(validations[i].expression, evaluation.values, *evaluation.budget);
    if (evaluation.budget->exceeded) {
      verdict.failures.clear();
      exceed(i, value.error().message);
      return verdict;
    }
    if (!value) {
      fail(i, value.error().message);
    } else if (!value.value().is(CelValue::Kind::kBool) || !value.value().as_bool()) {
      std::string message = message_of(validations[i], evaluation);
      if (evaluation.budget->exceeded) {
        exceed(i, "failed messageExpression: validation failed due to running out of cost budget");
        return verdict;
      }
      verdict.failures.push_back({i, std::move(message), validations[i].reason});
    }
  }
  evaluation.charge(budget.annotations);
  annotate(policy, evaluation, verdict);
  if (budget.annotations.exceeded && shared) exceed(0, "audit annotations ran out of cost budget");
  return verdict;
}

}  // namespace shiplog::api
