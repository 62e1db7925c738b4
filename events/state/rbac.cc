#include "events/state/rbac.h"

#include <algorithm>

namespace shiplog::rbac {
namespace {

using Texts = std::vector<std::string>;

bool holds(const Texts& texts, std::string_view text) { return std::ranges::find(texts, text) != texts.end(); }

Texts texts_of(const Value& list) {
  Texts texts;
  for (const Value& item : list.items()) texts.push_back(item.str());
  return texts;
}

/// `rule` is "*", the resource itself ("pods", "pods/log"), or "*/log".
bool resource_matches(std::string_view rule, std::string_view resource, std::string_view subresource) {
  if (rule == "*") return true;
  if (subresource.empty()) return rule == resource;
  const size_t slash = rule.find('/');
  if (slash == std::string_view::npos || rule.substr(slash + 1) != subresource) return false;
  return rule.substr(0, slash) == resource || rule.substr(0, slash) == "*";
}

}  // namespace

bool is_rbac(std::string_view type) {
  return type == kRole || type == kClusterRole || type == kRoleBinding || type == kClusterRoleBinding;
}

bool in_group(const User& user, std::string_view group) { return holds(user.groups, group); }

Rules rules_from(const Value& rules) {
  Rules read;
  for (const Value& rule : rules.items()) {
    read.push_back({texts_of(rule["verbs"]), texts_of(rule["apiGroups"]), texts_of(rule["resources"]),
                    texts_of(rule["resourceNames"]), texts_of(rule["nonResourceURLs"])});
  }
  return read;
}

bool url_matches(std::string_view rule, std::string_view path) {
  if (rule == "*" || rule == path) return true;
  if (!rule.ends_with('*')) return false;
  while (rule.ends_with('*')) rule.remove_suffix(1);
  return path.starts_with(rule);
}

bool allows(const Rule& rule, const Attributes& wanted) {
  if (!holds(rule.verbs, "*") && !holds(rule.verbs, wanted.verb)) return false;
  if (!wanted.is_resource) {
    return std::ranges::any_of(rule.non_resource_urls,
                               [&](const std::string& url) { return url_matches(url, wanted.path); });
  }
  if (!holds(rule.api_groups, "*") && !holds(rule.api_groups, wanted.group)) return false;
  if (!rule.resource_names.empty() && !holds(rule.resource_names, wanted.name)) return false;
  return std::ranges::any_of(rule.resources, [&](const std::string& resource) {
    return resource_matches(resource, wanted.resource, wanted.subresource);
  });
}

Subject subject_from(const Value& subject, std::string_view ns) {
  const std::string kind = subject["kind"].str();
  const std::string name = subject["name"].str();
  if (kind == "User") return {Subject::Kind::kUserName, name};
  if (kind == "Group") return {Subject::Kind::kGroupName, name};
  if (kind != "ServiceAccount") return {};
  const std::string in = subject["namespace"].is_empty() ? std::string{ns} : subject["namespace"].str();
  if (in.empty()) return {};
  return {Subject::Kind::kUserName, kServiceAccountPrefix + in + ":" + name};
}

}  // namespace shiplog::rbac
