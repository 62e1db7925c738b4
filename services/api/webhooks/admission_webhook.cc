#include "services/api/webhooks/admission_webhook.h"

#include <algorithm>
#include <tuple>

#include "events/state/object.h"
#include "services/api/versions/versions.h"

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

bool selects_everything(const LabelSelector& selector) { return selector.valid && selector.requirements.empty(); }

/// Whether the webhook's namespaceSelector selects the namespace of the object, or the Namespace that is the object.
bool selects_namespace(const AdmissionWebhook& webhook, const AdmissionRequest& about) {
  if (webhook.any_namespace) return true;
  const bool is_namespace = about.kind->type() == type::kNamespace;
  if (!is_namespace && !about.kind->namespaced) return true;  // of no namespace: there is nothing to select
  const Value& written = about.object.is_null() ? about.old : about.object;
  return webhook.namespaces.matches((is_namespace ? written : about.in_namespace)["metadata"]["labels"]);
}

/// Whether its objectSelector selects the object before or after the request.
bool selects_object(const AdmissionWebhook& webhook, const AdmissionRequest& about) {
  if (selects_everything(webhook.objects)) return true;
  return (!about.object.is_null() && webhook.objects.matches(about.object["metadata"]["labels"])) ||
         (!about.old.is_null() && webhook.objects.matches(about.old["metadata"]["labels"]));
}

/// All versions of the kind's resource.
auto versions_of(const Kinds& kinds, const Kind& kind) {
  const auto resource = [](const std::shared_ptr<const Kind>& each) { return std::tie(each->group, each->plural); };
  return std::ranges::equal_range(kinds.all(), std::tie(kind.group, kind.plural), {}, resource);
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
    webhook.any_namespace = selects_everything(webhook.namespaces);
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
  // Found by a binary search: most webhooks and policies do not match, and there may be many of them and of kinds.
  for (const auto& other : versions_of(*about.kinds, *about.kind)) {
    if (other->version != about.kind->version && matched(*other)) return other.get();
  }
  return nullptr;
}

bool is_selected(const AdmissionWebhook& webhook, const AdmissionRequest& about) {
  return matched_kind(webhook, about) != nullptr && selects_namespace(webhook, about) && selects_object(webhook, about);
}

bool needs_conversion(const AdmissionRequest& about, const Kind& wanted) {
  return about.form.is_null() && (needs_conversion(wanted, about.object) || needs_conversion(wanted, about.old));
}

std::string unconverted(const AdmissionRequest& about, const Kind& wanted, const std::string& what) {
  return "its rules name version " + wanted.version + " of " + wanted.type() +
         ", and this server does not call conversion webhooks for " + what + ": name version " + about.kind->version +
         " too, or set matchPolicy to Exact";
}

bool is_beyond_webhooks(const Kind& kind) { return kind.builtin && kind.group == "admissionregistration.k8s.io"; }

}  // namespace shiplog::api
