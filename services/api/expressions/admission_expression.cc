#include "services/api/expressions/admission_expression.h"

#include <algorithm>
#include <set>

#include "services/cel/cel_json.h"
#include "services/cel/cel_libraries.h"
#include "services/cel/patch_object.h"

namespace shiplog::api {
namespace {

using cel::CelField;
using cel::CelObjectType;
using cel::CelType;
using cel::CelValue;
using TypeKind = CelType::Kind;

using Fields = std::vector<std::pair<const char*, CelField>>;

CelField plain(CelType type) { return {.type = std::move(type)}; }

CelField list_of(CelField item) {
  CelField field{.type = CelType::list(item.type)};
  field.item = std::make_shared<const CelField>(std::move(item));
  return field;
}

CelField map_of(CelField item) {
  CelField field{.type = CelType::map(TypeKind::kString, item.type)};
  field.item = std::make_shared<const CelField>(std::move(item));
  return field;
}

CelField object_of(const char* name, const Fields& fields) {
  CelObjectType type;
  type.name = name;
  for (const auto& [field, of] : fields) type.fields.emplace(field, of);
  return plain(CelType::object(std::make_shared<const CelObjectType>(std::move(type))));
}

// Source: k8s.io/apiserver/pkg/admission/plugin/cel/compile.go.
const CelField& request_field() {
  static const CelField kField = [] {
    const CelField text = plain(TypeKind::kString);
    const CelField kind =
        object_of("kubernetes.GroupVersionKind", {{"group", text}, {"version", text}, {"kind", text}});
    const CelField resource =
        object_of("kubernetes.GroupVersionResource", {{"group", text}, {"version", text}, {"resource", text}});
    const CelField user =
        object_of("kubernetes.UserInfo",
                  {{"username", text}, {"uid", text}, {"groups", list_of(text)}, {"extra", map_of(list_of(text))}});
    return object_of("kubernetes.AdmissionRequest", {{"kind", kind},
                                                     {"resource", resource},
                                                     {"subResource", text},
                                                     {"requestKind", kind},
                                                     {"requestResource", resource},
                                                     {"requestSubResource", text},
                                                     {"name", text},
                                                     {"namespace", text},
                                                     {"operation", text},
                                                     {"userInfo", user},
                                                     {"dryRun", plain(TypeKind::kBool)},
                                                     {"options", plain(TypeKind::kDyn)}});
  }();
  return kField;
}

const CelField& namespace_field() {
  static const CelField kField = [] {
    const CelField text = plain(TypeKind::kString);
    const CelField time = plain(TypeKind::kTimestamp);
    const CelField number = plain(TypeKind::kInt);
    const CelField metadata = object_of("kubernetes.NamespaceMetadata", {{"name", text},
                                                                         {"generateName", text},
                                                                         {"namespace", text},
                                                                         {"labels", map_of(text)},
                                                                         {"annotations", map_of(text)},
                                                                         {"UID", text},
                                                                         {"creationTimestamp", time},
                                                                         {"deletionGracePeriodSeconds", number},
                                                                         {"deletionTimestamp", time},
                                                                         {"generation", number},
                                                                         {"resourceVersion", text},
                                                                         {"finalizers", list_of(text)}});
    const CelField condition = object_of(
        "kubernetes.NamespaceCondition",
        {{"status", text}, {"type", text}, {"lastTransitionTime", time}, {"message", text}, {"reason", text}});
    return object_of(
        "kubernetes.Namespace",
        {{"metadata", metadata},
         {"spec", object_of("kubernetes.NamespaceSpec", {{"finalizers", list_of(text)}})},
         {"status", object_of("kubernetes.NamespaceStatus", {{"conditions", list_of(condition)}, {"phase", text}})}});
  }();
  return kField;
}

/// The variables of a scope; expression_values() has the same order.
cel::CelEnvironment environment_of(const ExpressionScope& scope) {
  cel::CelEnvironment environment{scope.patches ? &cel::mutation_functions() : &cel::kubernetes_functions(),
                                  {{"object", TypeKind::kDyn},
                                   {"oldObject", TypeKind::kDyn},
                                   {"request", request_field().type},
                                   {"namespaceObject", namespace_field().type}},
                                  scope.patches};
  if (scope.params) environment.variables.push_back({"params", TypeKind::kDyn});
  if (scope.authorizer) {
    environment.variables.push_back({"authorizer", cel::authorizer_type()});
    environment.variables.push_back({"authorizer.requestResource", cel::resource_check_type()});
  }
  if (scope.variables != nullptr) {
    CelObjectType type;
    type.name = "kubernetes.variables";
    for (const cel::CelVariable& each : *scope.variables) type.fields.emplace(each.name, plain(each.type));
    environment.variables.push_back({"variables", CelType::object(std::make_shared<const CelObjectType>(type))});
  }
  return environment;
}

std::string texts_of(const std::vector<CelType>& types) {
  std::string texts;
  for (const CelType& type : types) texts += (texts.empty() ? "" : " ") + type.text();
  return types.size() == 1 ? texts : "one of [" + texts + "]";
}

Result<cel::CelProgram> compile(std::string_view text, const ExpressionScope& scope,
                                const std::vector<CelType>& wanted) {
  auto program = cel::CelProgram::compile(text, environment_of(scope));
  if (!program) return Error{ErrorCode::kInvalid, "compilation failed: " + program.error().message};
  const CelType& type = program.value().type();
  // By their texts: each expression has types of patches of its own.
  const auto same = [text = type.text()](const CelType& each) { return each.text() == text; };
  const bool fits = wanted.empty() || std::ranges::any_of(wanted, same);
  if (!fits) {
    return Error{ErrorCode::kInvalid, "must evaluate to " + texts_of(wanted) + " but got " + type.text()};
  }
  return program;
}

}  // namespace

CelType configuration_result() { return *cel::patch_type(std::string{cel::kObjectTypeName}); }

CelType json_patch_result() { return CelType::list(*cel::patch_type(std::string{cel::kJsonPatchTypeName})); }

Result<cel::CelProgram> compile_expression(std::string_view text, const ExpressionScope& scope, ResultTypes wanted) {
  return compile(text, scope, std::vector(wanted));
}

std::vector<CelValue> expression_values(const ExpressionScope& scope, const ExpressionInput& input,
                                        const CelValue& variables) {
  std::vector<CelValue> values = {cel::from_json(input.object), cel::from_json(input.old_object),
                                  cel::from_json(input.request, request_field()),
                                  input.ns.is_null() ? CelValue::null() : cel::from_json(input.ns, namespace_field())};
  if (scope.params) values.push_back(cel::from_json(input.params));
  if (scope.authorizer) {
    values.push_back(cel::authorizer_value(input.authorizer));
    values.push_back(cel::request_resource_value(input.authorizer, input.resource));
  }
  if (scope.variables != nullptr) values.push_back(variables);
  return values;
}

const Result<cel::CelProgram>& LazyExpression::program() const {
  std::call_once(shared_->once,
                 [&] { shared_->program.emplace(compile(shared_->text, shared_->scope, shared_->wanted)); });
  return *shared_->program;
}

Result<CelValue> evaluate_expression(const LazyExpression& expression, const std::vector<CelValue>& values,
                                     CostBudget& budget) {
  const auto& program = expression.program();
  if (!program) return Error{ErrorCode::kInvalid, "compilation error: " + program.error().message};
  cel::CelMeter meter{std::min(kExpressionCost, budget.left)};
  CelValue value = program.value().evaluate(values, meter);
  // A variable of a policy charges the budget itself while it is evaluated.
  budget.exceeded = budget.exceeded || meter.spent() > budget.left;
  budget.left -= std::min(budget.left, meter.spent());
  if (budget.exceeded) {
    budget.left = 0;
    return Error{ErrorCode::kInvalid,
                 "validation failed due to running out of cost budget, no further validation rules will be run"};
  }
  if (value.is_error()) {
    return Error{ErrorCode::kInvalid,
                 "expression '" + expression.text() + "' resulted in error: " + value.error_message()};
  }
  return value;
}

std::vector<MatchCondition> match_conditions_of(const Value& list, bool params) {
  std::vector<MatchCondition> conditions;
  for (const Value& item : list.items()) {
    conditions.push_back({item["name"].str(), LazyExpression{item["expression"].str(),
                                                             ExpressionScope{.params = params, .authorizer = true},
                                                             {TypeKind::kBool}}});
  }
  return conditions;
}

std::optional<bool> fulfils(const std::vector<MatchCondition>& conditions, const ExpressionInput& input, bool params,
                            CostBudget& budget, std::string& error) {
  if (conditions.empty()) return true;
  const std::vector<CelValue> values = expression_values(ExpressionScope{.params = params, .authorizer = true}, input);
  std::set<std::string> errors_seen;
  std::vector<std::string> errors;
  for (const MatchCondition& condition : conditions) {
    const auto value = evaluate_expression(condition.expression, values, budget);
    if (budget.exceeded) {
      error = value.error().message;
      return std::nullopt;
    }
    if (!value) {
      if (errors_seen.insert(value.error().message).second) errors.push_back(value.error().message);
    } else if (!value.value().is(CelValue::Kind::kBool) || !value.value().as_bool()) {
      return false;
    }
  }
  if (errors.empty()) return true;
  // As apimachinery prints several errors, each once.
  for (const std::string& each : errors) error += (error.empty() ? "" : ", ") + each;
  if (errors.size() > 1) error = "[" + error + "]";
  return std::nullopt;
}

}  // namespace shiplog::api
