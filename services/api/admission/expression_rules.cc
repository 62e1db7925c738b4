#include <set>

#include "services/api/admission/field_checks.h"
#include "services/api/admission/rules.h"
#include "services/api/expressions/admission_expression.h"

// The CEL expressions of admission configurations. Source: pkg/apis/admissionregistration/validation of Kubernetes.

namespace shiplog::api {
namespace {

/// The conditions that are there already stay, whatever a newer build thinks of them.
bool was_there(const Value& condition, const Value& old) {
  for (const Value& each : old.items()) {
    if (each == condition) return true;
  }
  return false;
}

}  // namespace

void check_match_conditions(const Value& conditions, const Value& old, const std::string& field, bool params,
                            Causes& causes) {
  if (conditions.size() > kMostMatchConditions) {
    return causes.too_many(field, conditions.size(), kMostMatchConditions);
  }
  std::set<std::string> names;
  for (size_t i = 0; i < conditions.size(); ++i) {
    const Value& condition = conditions[i];
    const std::string here = at(field, i);
    const std::string_view expression = condition["expression"].as_string();
    if (is_blank(expression)) {
      causes.required(here + ".expression");
    } else if (!was_there(condition, old)) {
      const auto program = compile_expression(expression, ExpressionScope{.params = params, .authorizer = true},
                                              {cel::CelType::Kind::kBool});
      if (!program) causes.invalid(here + ".expression", condition["expression"], program.error().message);
    }
    const std::string name = condition["name"].str();
    if (name.empty()) {
      causes.required(here + ".name");
    } else if (const auto problem = qualified_name_problem(name)) {
      causes.invalid(here + ".name", condition["name"], *problem);
    } else if (!names.insert(name).second) {
      causes.duplicate(here + ".name", condition["name"]);
    }
  }
}

}  // namespace shiplog::api
