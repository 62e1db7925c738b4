#include <string>
#include <string_view>

#include "events/base/names.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/rules.h"

// The kinds of rbac.authorization.k8s.io. Source: pkg/apis/rbac/validation of Kubernetes.

namespace shiplog::api {
namespace {

void fill_role_binding(Value& object, const Write&) {
  if (object["roleRef"].is_object() && object["roleRef"]["apiGroup"].is_empty()) {
    object.edit("roleRef").set("apiGroup", "rbac.authorization.k8s.io");
  }
  if (object["subjects"].size() == 0) return;
  for (Value& subject : object.edit("subjects").edit_items()) {
    const std::string_view kind = subject["kind"].as_string();
    if ((kind == "User" || kind == "Group") && subject["apiGroup"].is_empty()) {
      subject.set("apiGroup", "rbac.authorization.k8s.io");
    }
  }
}

void check_rbac_group(const Value& group, const std::string& field, Causes& causes) {
  if (group.as_string() == "rbac.authorization.k8s.io") return;
  causes.not_supported(field, Value{group.as_string()}, {"rbac.authorization.k8s.io"});
}

void check_subject(const Value& subject, const std::string& field, bool namespaced, Causes& causes) {
  const std::string_view kind = subject["kind"].as_string();
  if (subject["name"].is_empty()) causes.required(field + ".name");
  if (kind == "ServiceAccount") {
    // In a RoleBinding it is by default the binding's own.
    if (!namespaced && subject["namespace"].is_empty()) causes.required(field + ".namespace");
  } else if (kind == "User" || kind == "Group") {
    check_rbac_group(subject["apiGroup"], field + ".apiGroup", causes);
  } else {
    causes.not_supported(field + ".kind", Value{kind}, {"ServiceAccount", "User", "Group"});
  }
}

/// The rules of ServiceAccounts as subjects that older builds did not have.
void check_account_subjects(const Value& subjects, Causes& causes) {
  for (size_t i = 0; i < subjects.size(); ++i) {
    const Value& subject = subjects[i];
    if (subject["kind"].as_string() != "ServiceAccount") continue;
    const std::string field = at("subjects", i);
    if (const Value& name = subject["name"]; !name.is_empty()) {
      if (const auto problem = subdomain_problem(name.as_string())) causes.invalid(field + ".name", name, *problem);
    }
    if (!subject["apiGroup"].is_empty()) causes.not_supported(field + ".apiGroup", subject["apiGroup"], {""});
  }
}

void check_role_binding(const Value& object, const Write& write, Causes& causes) {
  const Value& role = object["roleRef"];
  const Value kind{role["kind"].as_string()};
  check_rbac_group(role["apiGroup"], "roleRef.apiGroup", causes);
  if (write.kind.namespaced) {
    if (kind.as_string() != "Role" && kind.as_string() != "ClusterRole") {
      causes.not_supported("roleRef.kind", kind, {"Role", "ClusterRole"});
    }
  } else if (kind.as_string() != "ClusterRole") {
    causes.not_supported("roleRef.kind", kind, {"ClusterRole"});
  }
  if (role["name"].is_empty()) causes.required("roleRef.name");
  const Value& subjects = object["subjects"];
  for (size_t i = 0; i < subjects.size(); ++i) {
    check_subject(subjects[i], at("subjects", i), write.kind.namespaced, causes);
  }
  check_new(subjects, old_of(write)["subjects"], check_account_subjects, causes);
  if (write.old != nullptr && old_of(write)["roleRef"] != role) {
    causes.invalid("roleRef", role, "cannot change roleRef");
  }
}

void check_role(const Value& object, const Write& write, Causes& causes) {
  const Value& rules = object["rules"];
  for (size_t i = 0; i < rules.size(); ++i) {
    const std::string field = at("rules", i);
    const Value& rule = rules[i];
    if (rule["verbs"].size() == 0) causes.required(field + ".verbs", "verbs must contain at least one value");
    if (rule["nonResourceURLs"].size() > 0) {
      if (write.kind.namespaced) {
        causes.invalid(field + ".nonResourceURLs", rule["nonResourceURLs"],
                       "namespaced rules cannot apply to non-resource URLs");
      }
      if (rule["apiGroups"].size() + rule["resources"].size() + rule["resourceNames"].size() > 0) {
        causes.invalid(field + ".nonResourceURLs", rule["nonResourceURLs"],
                       "rules cannot apply to both regular resources and non-resource URLs");
      }
      continue;
    }
    if (rule["apiGroups"].size() == 0)
      causes.required(field + ".apiGroups", "resource rules must supply at least one api group");
    if (rule["resources"].size() == 0)
      causes.required(field + ".resources", "resource rules must supply at least one resource");
  }
}

void check_aggregation(const Value& aggregation, Causes& causes) {
  if (aggregation.is_null()) return;
  const std::string field = "aggregationRule.clusterRoleSelectors";
  const Value& selectors = aggregation["clusterRoleSelectors"];
  if (selectors.size() == 0) {
    causes.required(field, "at least one clusterRoleSelector required if aggregationRule is non-nil");
  }
  for (size_t i = 0; i < selectors.size(); ++i) check_selector(selectors[i], at(field, i), causes);
}

void check_cluster_role(const Value& object, const Write& write, Causes& causes) {
  check_role(object, write, causes);
  check_new(object["aggregationRule"], old_of(write)["aggregationRule"], check_aggregation, causes);
}

}  // namespace

const std::vector<Rules>& rbac_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "rolebindings.rbac.authorization.k8s.io", .fill = fill_role_binding, .check = check_role_binding},
      {.type = "clusterrolebindings.rbac.authorization.k8s.io", .fill = fill_role_binding, .check = check_role_binding},
      {.type = "roles.rbac.authorization.k8s.io", .check = check_role},
      {.type = "clusterroles.rbac.authorization.k8s.io", .check = check_cluster_role},
  };
  return kRules;
}

}  // namespace shiplog::api
