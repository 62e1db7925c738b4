#include "services/api/auditing/audit_policy.h"

#include <algorithm>
#include <array>

#include "events/base/yaml.h"

namespace shiplog::api {
namespace {

constexpr std::array<std::pair<AuditLevel, const char*>, 4> kLevels = {
    {{AuditLevel::kNone, "None"},
     {AuditLevel::kMetadata, "Metadata"},
     {AuditLevel::kRequest, "Request"},
     {AuditLevel::kRequestResponse, "RequestResponse"}}};
constexpr std::array<std::pair<AuditStage, const char*>, 4> kStages = {
    {{AuditStage::kRequestReceived, "RequestReceived"},
     {AuditStage::kResponseStarted, "ResponseStarted"},
     {AuditStage::kResponseComplete, "ResponseComplete"},
     {AuditStage::kPanic, "Panic"}}};

template <class Names>
std::string listed(const Names& names) {
  std::string list;
  for (const auto& [value, name] : names) list += (list.empty() ? "" : ", ") + std::string{name};
  return list;
}

/// Reads a document and collects what is wrong with it.
class PolicyReader {
 public:
  Result<AuditPolicy> read(const Value& document) {
    known(document, "", {"apiVersion", "kind", "metadata", "rules", "omitStages", "omitManagedFields"});
    if (document["apiVersion"].as_string() != "audit.k8s.io/v1") wrong("apiVersion", "must be audit.k8s.io/v1");
    if (document["kind"].as_string() != "Policy") wrong("kind", "must be Policy");
    AuditPolicy policy;
    policy.omitted = stages(document["omitStages"], "omitStages");
    policy.omit_managed_fields = flag(document["omitManagedFields"], "omitManagedFields").value_or(false);
    const Value& rules = document["rules"];
    if (!rules.is_array() || rules.size() == 0) wrong("rules", "a list with at least one rule is required");
    for (size_t index = 0; index < rules.size(); ++index) {
      policy.rules.push_back(rule(rules[index], "rules[" + std::to_string(index) + "]"));
    }
    if (problems_.empty()) return policy;
    return Error{ErrorCode::kInvalid, problems_};
  }

 private:
  void wrong(const std::string& field, const std::string& what) {
    problems_ += (problems_.empty() ? "" : "; ") + field + ": " + what;
  }

  void known(const Value& object, const std::string& path, std::initializer_list<std::string_view> fields) {
    if (!object.is_object()) return wrong(path.empty() ? "the document" : path, "must be an object");
    for (const Value::Member& member : object.members()) {
      if (std::ranges::find(fields, member.key()) != fields.end()) continue;
      wrong((path.empty() ? "" : path + ".") + std::string{member.key()}, "is no field of an audit policy");
    }
  }

  std::optional<bool> flag(const Value& value, const std::string& path) {
    if (value.is_null()) return std::nullopt;
    if (!value.is_bool()) wrong(path, "must be true or false");
    return value.as_bool();
  }

  std::vector<std::string> strings(const Value& value, const std::string& path) {
    std::vector<std::string> list;
    if (value.is_null()) return list;
    if (!value.is_array()) wrong(path, "must be a list of strings");
    for (const Value& item : value.items()) {
      if (!item.is_string()) wrong(path, "must contain strings only");
      list.push_back(item.str());
    }
    return list;
  }

  AuditStages stages(const Value& value, const std::string& path) {
    AuditStages all;
    for (const std::string& name : strings(value, path)) {
      const auto stage = std::ranges::find_if(kStages, [&](const auto& each) { return name == each.second; });
      if (stage == kStages.end()) {
        wrong(path, "\"" + name + "\" is no stage; there are: " + listed(kStages));
      } else {
        all.add(stage->first);
      }
    }
    return all;
  }

  AuditLevel level(const Value& value, const std::string& path) {
    const auto level =
        std::ranges::find_if(kLevels, [&](const auto& each) { return value.as_string() == each.second; });
    if (level != kLevels.end()) return level->first;
    wrong(path, value.is_null() ? "is required: one of " + listed(kLevels)
                                : "\"" + value.str() + "\" is no level; there are: " + listed(kLevels));
    return AuditLevel::kNone;
  }

  AuditRule::Resources resources(const Value& value, const std::string& path) {
    known(value, path, {"group", "resources", "resourceNames"});
    AuditRule::Resources read{value["group"].str(), strings(value["resources"], path + ".resources"),
                              strings(value["resourceNames"], path + ".resourceNames")};
    if (!value["group"].is_null() && !value["group"].is_string()) wrong(path + ".group", "must be a string");
    if (read.group.find('/') != std::string::npos) {
      wrong(path + ".group", "\"" + read.group + "\" must be a group without a version: apps, not apps/v1");
    } else if (read.group == "*") {
      wrong(path + ".group", "\"*\" matches no group; leave resources out to match all of them");
    }
    if (!read.names.empty() && read.resources.empty()) {
      wrong(path + ".resourceNames", "needs at least one resource in resources");
    }
    return read;
  }

  void check_urls(const std::vector<std::string>& urls, const std::string& path) {
    for (const std::string& url : urls) {
      if (url == "*") continue;
      if (!url.starts_with('/')) wrong(path, "\"" + url + "\" must be * or begin with /");
      if (url.find('*') < url.size() - 1) wrong(path, "\"" + url + "\" may have a * only as its last character");
    }
  }

  AuditRule rule(const Value& value, const std::string& path) {
    known(value, path,
          {"level", "users", "userGroups", "verbs", "resources", "namespaces", "nonResourceURLs", "omitStages",
           "omitManagedFields"});
    AuditRule rule;
    rule.level = level(value["level"], path + ".level");
    rule.users = strings(value["users"], path + ".users");
    rule.groups = strings(value["userGroups"], path + ".userGroups");
    rule.verbs = strings(value["verbs"], path + ".verbs");
    rule.namespaces = strings(value["namespaces"], path + ".namespaces");
    rule.non_resource_urls = strings(value["nonResourceURLs"], path + ".nonResourceURLs");
    rule.omitted = stages(value["omitStages"], path + ".omitStages");
    rule.omit_managed_fields = flag(value["omitManagedFields"], path + ".omitManagedFields");
    const Value& list = value["resources"];
    if (!list.is_null() && !list.is_array()) wrong(path + ".resources", "must be a list");
    for (size_t index = 0; index < list.size(); ++index) {
      rule.resources.push_back(resources(list[index], path + ".resources[" + std::to_string(index) + "]"));
    }
    check_urls(rule.non_resource_urls, path + ".nonResourceURLs");
    if (!rule.non_resource_urls.empty() && (!rule.resources.empty() || !rule.namespaces.empty())) {
      wrong(path + ".nonResourceURLs", "a rule cannot be about resources or namespaces as well; make it two rules");
    }
    return rule;
  }

  std::string problems_;
};

bool has(const std::vector<std::string>& list, const std::string& word) {
  return std::ranges::find(list, word) != list.end();
}

bool matches_resource(const AuditRule::Resources& wanted, const rbac::Attributes& request) {
  if (wanted.group != request.group) return false;
  if (wanted.resources.empty()) return true;
  if (!wanted.names.empty() && !has(wanted.names, request.name)) return false;
  // "pods" is pods alone, without their subresources.
  const std::string whole =
      request.subresource.empty() ? request.resource : request.resource + "/" + request.subresource;
  return std::ranges::any_of(wanted.resources, [&](const std::string& each) {
    return each == "*" || each == whole || (!request.subresource.empty() && each == "*/" + request.subresource) ||
           each == request.resource + "/*";
  });
}

bool matches(const AuditRule& rule, const rbac::User& user, const rbac::Attributes& request) {
  if (!rule.users.empty() && !has(rule.users, user.name)) return false;
  if (!rule.groups.empty() &&
      std::ranges::none_of(user.groups, [&](const std::string& group) { return has(rule.groups, group); })) {
    return false;
  }
  if (!rule.verbs.empty() && !has(rule.verbs, request.verb)) return false;
  if (!rule.namespaces.empty() || !rule.resources.empty()) {
    if (!request.is_resource) return false;
    if (!rule.namespaces.empty() && !has(rule.namespaces, request.ns)) return false;
    return rule.resources.empty() || std::ranges::any_of(rule.resources, [&](const AuditRule::Resources& each) {
             return matches_resource(each, request);
           });
  }
  if (rule.non_resource_urls.empty()) return true;
  return !request.is_resource && std::ranges::any_of(rule.non_resource_urls, [&](const std::string& url) {
    return rbac::url_matches(url, request.path);
  });
}

}  // namespace

const char* name_of(AuditLevel level) { return kLevels[static_cast<size_t>(level)].second; }
const char* name_of(AuditStage stage) { return kStages[static_cast<size_t>(stage)].second; }

Result<AuditPolicy> parse_audit_policy(std::string_view text) {
  SHIPLOG_TRY(const Value document, parse_yaml(text));
  return PolicyReader{}.read(document);
}

AuditDecision decide_audit(const AuditPolicy& policy, const rbac::User& user, const rbac::Attributes& request) {
  AuditDecision decision;
  const auto rule =
      std::ranges::find_if(policy.rules, [&](const AuditRule& each) { return matches(each, user, request); });
  if (rule == policy.rules.end()) return decision;
  decision.level = rule->level;
  decision.omitted = policy.omitted;
  decision.omitted.add(rule->omitted);
  decision.omit_managed_fields = rule->omit_managed_fields.value_or(policy.omit_managed_fields);
  return decision;
}

}  // namespace shiplog::api
