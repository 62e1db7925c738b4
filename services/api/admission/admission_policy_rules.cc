#include <algorithm>
#include <set>

#include "services/api/admission/field_checks.h"
#include "services/api/admission/rules.h"
#include "services/api/expressions/admission_expression.h"
#include "services/api/expressions/variable_depth.h"

// ValidatingAdmissionPolicies, MutatingAdmissionPolicies and their bindings. Source:
// pkg/apis/admissionregistration/validation of Kubernetes.

namespace shiplog::api {
namespace {

using TypeKind = cel::CelType::Kind;
using Variables = std::vector<cel::CelVariable>;

constexpr size_t kMostAuditAnnotations = 20;
constexpr size_t kMostVariables = 128;
constexpr size_t kLongestAnnotationExpression = 5 * 1024;

bool is_identifier(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  static const std::set<std::string_view> kReserved = {
      "as",  "break", "const",     "continue", "else",    "false",  "for",  "function", "if",   "import", "in",
      "let", "loop",  "namespace", "null",     "package", "return", "true", "var",      "void", "while"};
  return !text.empty() && letter(text[0]) && !kReserved.contains(text) &&
         std::ranges::all_of(text, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

/// Whether the expressions of the policy stand in `old` as they are: those are not compiled again, so that an update
/// of something else is not refused for what an older build accepted.
bool same_expressions(const Value& spec, const Value& old) {
  for (const char* part : {"variables", "validations", "auditAnnotations", "mutations"}) {
    if (spec[part] != old[part]) return false;
  }
  return spec["paramKind"].is_null() == old["paramKind"].is_null();
}

/// What `before` has too is not checked again: earlier builds accepted more.
void check_match_resources(const Value& match, const Value& before, const std::string& field, bool needs_rules,
                           Causes& causes) {
  if (match == before) return;
  check_one_of(match["matchPolicy"], field + ".matchPolicy", {"Equivalent", "Exact"}, causes);
  check_selector(match["namespaceSelector"], field + ".namespaceSelector", causes);
  check_selector(match["objectSelector"], field + ".objectSelector", causes);
  if (needs_rules && match["resourceRules"].size() == 0) causes.required(field + ".resourceRules");
  for (const char* list : {"resourceRules", "excludeResourceRules"}) {
    for (size_t i = 0; i < match[list].size(); ++i) {
      const std::string here = at(field + "." + list, i);
      check_hook_rule(match[list][i], here, causes);
      std::set<std::string> names;
      const Value& given = match[list][i]["resourceNames"];
      for (size_t j = 0; j < given.size(); ++j) {
        const std::string name = given[j].str();
        if (const auto problem = path_segment_problem(name)) {
          causes.invalid(at(here + ".resourceNames", j), given[j], *problem);
        } else if (!names.insert(name).second) {
          causes.duplicate(at(here + ".resourceNames", j), given[j]);
        }
      }
    }
  }
}

void check_param_kind(const Value& kind, Causes& causes) {
  if (kind.is_null()) return;
  const std::string version = kind["apiVersion"].str();
  if (version.empty()) {
    causes.required("spec.paramKind.apiVersion");
  } else if (std::ranges::count(version, '/') > 1 || version.starts_with('/') || version.ends_with('/')) {
    causes.invalid("spec.paramKind.apiVersion", kind["apiVersion"], "unexpected GroupVersion string: " + version);
  }
  check_filled(kind["kind"], "spec.paramKind.kind", causes);
}

/// The type of a variable; dyn if its expression is refused.
cel::CelType type_of_variable(const Value& expression, const ExpressionScope& scope, const std::string& field,
                              Causes& causes) {
  const auto program = compile_expression(expression.as_string(), scope, {});
  if (program) return program.value().type();
  causes.invalid(field, expression, program.error().message);
  return TypeKind::kDyn;
}

/// The variables, with their types: what is after them may use them.
std::shared_ptr<const Variables> check_variables(const Value& list, bool params, Causes& causes) {
  auto known = std::make_shared<Variables>();
  if (list.size() > kMostVariables) {
    causes.too_many("spec.variables", list.size(), kMostVariables);
    return known;
  }
  VariableDepths depths;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string here = at("spec.variables", i);
    const std::string name = list[i]["name"].str();
    const bool taken = std::ranges::any_of(*known, [&](const cel::CelVariable& each) { return each.name == name; });
    if (name.empty()) {
      causes.required(here + ".name");
    } else if (!is_identifier(name)) {
      causes.invalid(here + ".name", list[i]["name"], "name is not a valid CEL identifier");
    } else if (taken) {
      causes.duplicate(here + ".name", list[i]["name"]);
    }
    const Value& expression = list[i]["expression"];
    if (is_blank(expression.as_string())) {
      causes.required(here + ".expression");
      continue;
    }
    cel::CelType type{TypeKind::kDyn};
    if (const auto added = depths.add(name, expression.as_string()); !added) {
      causes.invalid(here + ".expression", expression, added.error().message);
    } else {
      const ExpressionScope scope{
          .params = params, .authorizer = true, .variables = std::make_shared<const Variables>(*known)};
      type = type_of_variable(expression, scope, here + ".expression", causes);
    }
    if (!name.empty() && !taken) known->push_back({name, std::move(type)});
  }
  return known;
}

void check_validations(const Value& list, const ExpressionScope& scope, Causes& causes) {
  for (size_t i = 0; i < list.size(); ++i) {
    const Value& validation = list[i];
    const std::string here = at("spec.validations", i);
    if (is_blank(validation["expression"].as_string())) {
      causes.required(here + ".expression", "expression is not specified");
    } else if (const auto program = compile_expression(validation["expression"].as_string(), scope, {TypeKind::kBool});
               !program) {
      causes.invalid(here + ".expression", validation["expression"], program.error().message);
    }
    const std::string_view by_expression = validation["messageExpression"].as_string();
    if (!by_expression.empty() && is_blank(by_expression)) {
      causes.invalid(here + ".messageExpression", validation["messageExpression"], "must be non-empty if specified");
    } else if (!by_expression.empty()) {
      // Messages may not depend on who is permitted what.
      ExpressionScope message_scope = scope;
      message_scope.authorizer = false;
      const auto program = compile_expression(by_expression, message_scope, {TypeKind::kString});
      if (!program) {
        causes.invalid(here + ".messageExpression", validation["messageExpression"], program.error().message);
      }
    }
    const Value& message = validation["message"];
    if (!message.is_empty() && is_blank(message.as_string())) {
      causes.invalid(here + ".message", message, "message must be non-empty if specified");
    } else if (message.as_string().find_first_of("\r\n") != std::string_view::npos) {
      causes.invalid(here + ".message", message, "message must not contain line breaks");
    } else if (message.is_empty() && by_expression.empty() &&
               validation["expression"].as_string().find('\n') != std::string_view::npos) {
      causes.required(here + ".message", "message must be specified if expression contains line breaks");
    }
    if (!validation["reason"].is_null()) {
      check_one_of(validation["reason"], here + ".reason", {"Forbidden", "Invalid", "RequestEntityTooLarge"}, causes);
    }
  }
}

void check_annotations(const Value& list, const std::string& policy, const ExpressionScope& scope, Causes& causes) {
  if (list.size() > kMostAuditAnnotations) {
    return causes.invalid("spec.auditAnnotations", list,
                          "must not have more than " + std::to_string(kMostAuditAnnotations) + " auditAnnotations");
  }
  std::set<std::string> keys;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string here = at("spec.auditAnnotations", i);
    const std::string key = list[i]["key"].str();
    if (key.empty()) {
      causes.required(here + ".key");
    } else if (const auto problem = qualified_name_problem(policy.empty() ? key : policy + "/" + key)) {
      causes.invalid(here + ".key", list[i]["key"], *problem);
    } else if (!keys.insert(key).second) {
      causes.duplicate(here + ".key", list[i]["key"]);
    }
    const Value& expression = list[i]["valueExpression"];
    if (is_blank(expression.as_string())) {
      causes.required(here + ".valueExpression", "valueExpression is not specified");
    } else if (expression.as_string().size() > kLongestAnnotationExpression) {
      causes.too_long(here + ".valueExpression", kLongestAnnotationExpression);
    } else {
      ExpressionScope without_authorizer = scope;
      without_authorizer.authorizer = false;
      const auto program =
          compile_expression(expression.as_string(), without_authorizer, {TypeKind::kString, TypeKind::kNull});
      if (!program) causes.invalid(here + ".valueExpression", expression, program.error().message);
    }
  }
}

/// What policies of both kinds have.
void check_policy_spec(const Value& spec, const Value& old, Causes& causes) {
  check_one_of(spec["failurePolicy"], "spec.failurePolicy", {"Fail", "Ignore"}, causes);
  check_param_kind(spec["paramKind"], causes);
  if (spec["matchConstraints"].is_null()) {
    causes.required("spec.matchConstraints");
  } else {
    check_match_resources(spec["matchConstraints"], old["matchConstraints"], "spec.matchConstraints", true, causes);
  }
  const bool params = !spec["paramKind"].is_null();
  check_match_conditions(spec["matchConditions"], old["matchConditions"], "spec.matchConditions", params, causes);
}

void check_validating_policy(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  const Value& old = write.old == nullptr ? Value{} : (*write.old)["spec"];
  if (spec["validations"].size() == 0 && spec["auditAnnotations"].size() == 0) {
    for (const char* list : {"spec.validations", "spec.auditAnnotations"}) {
      causes.required(list, "validations or auditAnnotations must contain at least one item");
    }
  }
  check_policy_spec(spec, old, causes);
  if (write.old != nullptr && same_expressions(spec, old)) return;
  const bool params = !spec["paramKind"].is_null();
  ExpressionScope scope{.params = params, .authorizer = true};
  scope.variables = check_variables(spec["variables"], params, causes);
  check_validations(spec["validations"], scope, causes);
  check_annotations(spec["auditAnnotations"], object["metadata"]["name"].str(), scope, causes);
}

void check_mutation(const Value& mutation, const std::string& field, const ExpressionScope& scope, Causes& causes) {
  const Value& type = mutation["patchType"];
  if (type.is_empty()) return causes.required(field + ".patchType");
  check_one_of(type, field + ".patchType", {"ApplyConfiguration", "JSONPatch"}, causes);
  struct Patch {
    const char* type;
    const char* member;
    cel::CelType result;
  };
  static const Patch kPatches[] = {{"JSONPatch", "jsonPatch", json_patch_result()},
                                   {"ApplyConfiguration", "applyConfiguration", configuration_result()}};
  for (const Patch& patch : kPatches) {
    const Value& given = mutation[patch.member];
    const std::string here = field + "." + patch.member;
    if (type.as_string() != patch.type) {
      if (given.is_null() || (type.as_string() != "JSONPatch" && type.as_string() != "ApplyConfiguration")) continue;
      causes.invalid(here, std::string{"{"} + patch.member + "}",
                     "must not be specified when patchType is " + type.str());
    } else if (given.is_null()) {
      causes.required(here, "must be specified when patchType is " + type.str());
    } else if (is_blank(given["expression"].as_string())) {
      causes.required(here + ".expression", "expression is not specified");
    } else if (const auto program = compile_expression(given["expression"].as_string(), scope, {patch.result});
               !program) {
      causes.invalid(here + ".expression", given["expression"], program.error().message);
    }
  }
}

/// There is nothing that a mutation could change about a deletion.
void check_mutated_operations(const Value& rules, const std::string& field, Causes& causes) {
  for (size_t i = 0; i < rules.size(); ++i) {
    const Value& operations = rules[i]["operations"];
    for (size_t j = 0; j < operations.size(); ++j) {
      if (operations[j].as_string() != "DELETE") continue;
      causes.not_supported(at(at(field, i) + ".operations", j), operations[j], {"*", "CONNECT", "CREATE", "UPDATE"});
    }
  }
}

void check_mutating_policy(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  const Value& old = write.old == nullptr ? Value{} : (*write.old)["spec"];
  check_policy_spec(spec, old, causes);
  for (const char* list : {"resourceRules", "excludeResourceRules"}) {
    check_mutated_operations(spec["matchConstraints"][list], std::string{"spec.matchConstraints."} + list, causes);
  }
  if (spec["reinvocationPolicy"].is_empty()) {
    causes.required("spec.reinvocationPolicy");
  } else {
    check_one_of(spec["reinvocationPolicy"], "spec.reinvocationPolicy", {"IfNeeded", "Never"}, causes);
  }
  const Value& mutations = spec["mutations"];
  if (mutations.size() == 0) causes.required("spec.mutations", "mutations must contain at least one item");
  if (write.old != nullptr && same_expressions(spec, old)) return;
  const bool params = !spec["paramKind"].is_null();
  ExpressionScope scope{.params = params, .authorizer = true};
  scope.variables = check_variables(spec["variables"], params, causes);
  scope.patches = true;
  for (size_t i = 0; i < mutations.size(); ++i) check_mutation(mutations[i], at("spec.mutations", i), scope, causes);
}

void check_param_reference(const Value& reference, Causes& causes) {
  if (reference.is_null()) return;
  const bool named = !reference["name"].is_empty();
  const bool selected = !reference["selector"].is_null();
  if (named && selected) {
    for (const char* field : {"spec.paramRef.name", "spec.paramRef.selector"}) {
      causes.forbidden(field, "name and selector are mutually exclusive");
    }
  } else if (!named && !selected) {
    causes.required("spec.paramRef", "one of name or selector must be specified");
  }
  if (named) {
    if (const auto problem = path_segment_problem(reference["name"].as_string())) {
      causes.invalid("spec.paramRef.name", reference["name"], *problem);
    }
  }
  check_selector(reference["selector"], "spec.paramRef.selector", causes);
  if (reference["parameterNotFoundAction"].is_empty()) {
    causes.required("spec.paramRef.parameterNotFoundAction");
  } else {
    check_one_of(reference["parameterNotFoundAction"], "spec.paramRef.parameterNotFoundAction", {"Allow", "Deny"},
                 causes);
  }
}

/// What bindings of both kinds have.
void check_mutating_binding(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  const Value& old = write.old == nullptr ? Value{} : (*write.old)["spec"];
  if (spec["policyName"].is_empty()) {
    causes.required("spec.policyName");
  } else if (const auto problem = subdomain_problem(spec["policyName"].as_string())) {
    causes.invalid("spec.policyName", spec["policyName"], *problem);
  }
  check_param_reference(spec["paramRef"], causes);
  if (!spec["matchResources"].is_null()) {
    check_match_resources(spec["matchResources"], old["matchResources"], "spec.matchResources", false, causes);
  }
}

void check_validating_binding(const Value& object, const Write& write, Causes& causes) {
  check_mutating_binding(object, write, causes);
  const Value& actions = object["spec"]["validationActions"];
  if (actions.size() == 0) causes.required("spec.validationActions", "at least one validation action is required");
  std::set<std::string> seen;
  for (size_t i = 0; i < actions.size(); ++i) {
    check_one_of(actions[i], at("spec.validationActions", i), {"Audit", "Deny", "Warn"}, causes);
    if (!seen.insert(actions[i].str()).second) causes.duplicate(at("spec.validationActions", i), actions[i]);
  }
  if (seen.contains("Deny") && seen.contains("Warn")) {
    causes.invalid("spec.validationActions", actions,
                   "must not contain both Deny and Warn (repeating the same validation failure information in the API "
                   "response and headers serves no purpose)");
  }
}

}  // namespace

const std::vector<Rules>& admission_policy_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "mutatingadmissionpolicies.admissionregistration.k8s.io", .check = check_mutating_policy},
      {.type = "mutatingadmissionpolicybindings.admissionregistration.k8s.io", .check = check_mutating_binding},
      {.type = "validatingadmissionpolicies.admissionregistration.k8s.io", .check = check_validating_policy},
      {.type = "validatingadmissionpolicybindings.admissionregistration.k8s.io", .check = check_validating_binding},
  };
  return kRules;
}

}  // namespace shiplog::api
