#include "services/api/webhooks/admission_webhook.h"

#include <algorithm>

namespace shiplog::api {
namespace {

std::vector<std::string> strings_of(const Value& list) {
  std::vector<std::string> strings;
  for (const Value& item : list.items()) strings.push_back(item.str());
  return strings;
}

bool has(const std::vector<std::string>& list, const std::string& word) {
  return std::ranges::any_of(list, [&](const std::string& each) { return each == "*" || each == word; });
}

/// "pods" is pods alone, "pods/status" that subresource, "pods/*" pods and all its subresources, "*/scale" and "*/*" so
/// of every resource.
bool has_resource(const AdmissionWebhook::Rule& rule, const std::string& plural, const std::string& subresource) {
  return std::ranges::any_of(rule.resources, [&](const std::string& each) {
    const size_t slash = each.find('/');
    const std::string resource = each.substr(0, slash);
    const std::string below = slash == std::string::npos ? "" : each.substr(slash + 1);
    return (resource == "*" || resource == plural) && (below == "*" || below == subresource);
  });
}

bool in_scope(const AdmissionWebhook::Rule& rule, const Kind& kind) {
  return rule.scope.empty() || rule.scope == "*" || (rule.scope == "Namespaced") == kind.namespaced;
}

bool matches(const AdmissionWebhook::Rule& rule, const AdmissionRequest& about, const Kind& kind) {
  return has(rule.operations, about.operation) && has(rule.groups, kind.group) && has(rule.versions, kind.version) &&
         has_resource(rule, kind.plural, about.subresource) && in_scope(rule, kind) &&
         (rule.names.empty() || std::ranges::find(rule.names, about.name) != rule.names.end());
}

}  // namespace

AdmissionWebhook::Rule rule_of(const Value& rule) {
  return {strings_of(rule["operations"]), strings_of(rule["apiGroups"]), strings_of(rule["apiVersions"]),
          strings_of(rule["resources"]),  rule["scope"].str(),           strings_of(rule["resourceNames"])};
}

std::vector<AdmissionWebhook> webhooks_of(const Value& configuration, bool mutating) {
  std::vector<AdmissionWebhook> webhooks;
  for (const Value& from : configuration["webhooks"].items()) {
    AdmissionWebhook webhook;
    webhook.configuration = configuration["metadata"]["name"].str();
    webhook.name = from["name"].str();
    webhook.mutating = mutating;
    webhook.fails_closed = from["failurePolicy"].as_string("Fail") != "Ignore";
    webhook.equivalent = from["matchPolicy"].as_string("Equivalent") != "Exact";
    webhook.reinvoked = from["reinvocationPolicy"].as_string() == "IfNeeded";
    const std::string_view effects = from["sideEffects"].as_string();
    webhook.fit_for_dry_run = effects == "None" || effects == "NoneOnDryRun";
    webhook.conditions = match_conditions_of(from["matchConditions"], false);
    webhook.timeout_seconds = from["timeoutSeconds"].as_int(10);
    webhook.review_versions = strings_of(from["admissionReviewVersions"]);
    for (const Value& rule : from["rules"].items()) {
      webhook.rules.push_back(rule_of(rule));
    }
    webhook.namespaces = label_selector_from(from["namespaceSelector"]);
    webhook.objects = label_selector_from(from["objectSelector"]);
    webhook.any_namespace = webhook.namespaces.valid && webhook.namespaces.requirements.empty();
    webhook.client = from["clientConfig"];
    webhooks.push_back(std::move(webhook));
  }
  return webhooks;
}

const Kind* matched_kind(const AdmissionWebhook& webhook, const AdmissionRequest& about) {
  const auto matched = [&](const Kind& kind) {
    return std::ranges::any_of(webhook.rules,
                               [&](const AdmissionWebhook::Rule& rule) { return matches(rule, about, kind); });
  };
  if (matched(*about.kind)) return about.kind;
  if (!webhook.equivalent) return nullptr;
  for (const auto& other : about.kinds->all()) {
    const bool same = other->group == about.kind->group && other->plural == about.kind->plural;
    if (same && other->version != about.kind->version && matched(*other)) return other.get();
  }
  return nullptr;
}

bool selects_object(const AdmissionWebhook& webhook, const AdmissionRequest& about) {
  if (webhook.objects.valid && webhook.objects.requirements.empty()) return true;
  return (!about.object.is_null() && webhook.objects.matches(about.object["metadata"]["labels"])) ||
         (!about.old.is_null() && webhook.objects.matches(about.old["metadata"]["labels"]));
}

bool is_beyond_webhooks(const Kind& kind) { return kind.builtin && kind.group == "admissionregistration.k8s.io"; }

}  // namespace shiplog::api
