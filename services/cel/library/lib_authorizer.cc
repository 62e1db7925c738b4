#include "events/base/names.h"
#include "services/cel/library/authorizer.h"
#include "services/cel/library/declare.h"
#include "services/cel/library/libraries.h"

// authz and authzSelectors of Kubernetes. Source: k8s.io/apiserver/pkg/cel/library/authz.go, cost.go.

namespace shiplog::cel {
namespace {

const std::string kAuthorizer = "kubernetes.authorization.Authorizer";
const std::string kPathCheck = "kubernetes.authorization.PathCheck";
const std::string kGroupCheck = "kubernetes.authorization.GroupCheck";
const std::string kResourceCheck = "kubernetes.authorization.ResourceCheck";
const std::string kDecision = "kubernetes.authorization.Decision";

/// A question that is not complete yet, and who answers it.
struct AccessCheck {
  std::shared_ptr<const CelAuthorizer> authorizer;
  CelAccessQuestion about;
  bool operator==(const AccessCheck&) const = default;
};

struct CelAccessDecision {
  CelAccessAnswer answer;
  bool operator==(const CelAccessDecision& other) const {
    return answer.allowed == other.answer.allowed && answer.reason == other.answer.reason &&
           answer.error == other.answer.error;
  }
};

/// Upstream allows two checks in an expression.
uint64_t check_cost(CelArguments, const CelValue&) { return 350'000; }

/// A question made of the one that is the first argument and of the others, which are texts.
CelValue question(const std::string& type, AccessCheck check, CelArguments a) {
  size_t bytes = 0;
  for (const CelValue& argument : a) bytes += text_size(argument);
  return extension_of(type, std::move(check), bytes);
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos; }

CelValue checked(CelArguments a, CelMeter&) {
  AccessCheck check = held<AccessCheck>(a[0]);
  check.about.verb = a[1].as_string();
  return extension_of(kDecision, CelAccessDecision{check.authorizer->decide(check.about)});
}

CelValue for_service_account(CelArguments a, CelMeter&) {
  AccessCheck check = held<AccessCheck>(a[0]);
  if (subdomain_problem(a[2].as_string())) return CelValue::error("Invalid service account name");
  if (label_problem(a[1].as_string())) return CelValue::error("Invalid service account namespace");
  check.about.service_account_namespace = a[1].as_string();
  check.about.service_account = a[2].as_string();
  return question(kAuthorizer, std::move(check), a);
}

CelValue of_path(CelArguments a, CelMeter&) {
  if (is_blank(a[1].as_string())) return CelValue::error("path must not be empty");
  AccessCheck check = held<AccessCheck>(a[0]);
  check.about.is_resource = false;
  check.about.path = a[1].as_string();
  return question(kPathCheck, std::move(check), a);
}

CelValue of_resource(CelArguments a, CelMeter&) {
  if (is_blank(a[1].as_string())) return CelValue::error("resource must not be empty");
  AccessCheck check = held<AccessCheck>(a[0]);
  check.about.resource = a[1].as_string();
  return question(kResourceCheck, std::move(check), a);
}

/// A member that answers with the check, one part of its question set.
CelImplementation set_part(const std::string& type, std::string CelAccessQuestion::*part) {
  return [&type, part](CelArguments a, CelMeter&) {
    AccessCheck check = held<AccessCheck>(a[0]);
    check.about.*part = a[1].as_string();
    return question(type, std::move(check), a);
  };
}

void add_decision(CelFunctions& functions) {
  const CelType decision = CelType::extension(kDecision);
  add_member(functions, "allowed", {decision}, CelKind::kBool,
             [](CelArguments a, CelMeter&) { return CelValue::boolean(held<CelAccessDecision>(a[0]).answer.allowed); });
  add_member(functions, "reason", {decision}, CelKind::kString,
             [](CelArguments a, CelMeter&) { return CelValue::string(held<CelAccessDecision>(a[0]).answer.reason); });
  add_member(functions, "error", {decision}, CelKind::kString,
             [](CelArguments a, CelMeter&) { return CelValue::string(held<CelAccessDecision>(a[0]).answer.error); });
  add_member(functions, "errored", {decision}, CelKind::kBool, [](CelArguments a, CelMeter&) {
    return CelValue::boolean(!held<CelAccessDecision>(a[0]).answer.error.empty());
  });
}

}  // namespace

CelType authorizer_type() { return CelType::extension(kAuthorizer); }
CelType resource_check_type() { return CelType::extension(kResourceCheck); }

CelValue authorizer_value(std::shared_ptr<const CelAuthorizer> authorizer) {
  return extension_of(kAuthorizer, AccessCheck{std::move(authorizer), {}});
}

CelValue request_resource_value(std::shared_ptr<const CelAuthorizer> authorizer, CelAccessQuestion about) {
  return extension_of(kResourceCheck, AccessCheck{std::move(authorizer), std::move(about)});
}

void add_authorizer_functions(CelFunctions& functions) {
  const CelType authorizer = authorizer_type();
  const CelType resource = resource_check_type();
  const CelType path = CelType::extension(kPathCheck);
  const CelType group = CelType::extension(kGroupCheck);
  const CelType string = CelKind::kString;
  add_member(functions, "path", {authorizer, string}, path, of_path);
  add_member(functions, "group", {authorizer, string}, group, set_part(kGroupCheck, &CelAccessQuestion::group));
  add_member(functions, "serviceAccount", {authorizer, string, string}, authorizer, for_service_account);
  add_member(functions, "resource", {group, string}, resource, of_resource);
  add_member(functions, "subresource", {resource, string}, resource,
             set_part(kResourceCheck, &CelAccessQuestion::subresource));
  add_member(functions, "namespace", {resource, string}, resource, set_part(kResourceCheck, &CelAccessQuestion::ns));
  add_member(functions, "name", {resource, string}, resource, set_part(kResourceCheck, &CelAccessQuestion::name));
  // Roles permit with or without selectors, so that they make no difference.
  const auto same = [](CelArguments a, CelMeter&) { return a[0]; };
  add_member(functions, "fieldSelector", {resource, string}, resource, same, cost_of_reading(1));
  add_member(functions, "labelSelector", {resource, string}, resource, same, cost_of_reading(1));
  const CelType decision = CelType::extension(kDecision);
  add_member(functions, "check", {path, string}, decision, checked, check_cost);
  add_member(functions, "check", {resource, string}, decision, checked, check_cost);
  add_decision(functions);
}

}  // namespace shiplog::cel
