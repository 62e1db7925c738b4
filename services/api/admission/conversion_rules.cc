#include <algorithm>
#include <set>

#include "events/base/names.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/rules.h"

// spec.conversion of CustomResourceDefinitions. Source: validateCustomResourceConversion of Kubernetes.

namespace shiplog::api {
namespace {

bool is_known_review(const Value& version) { return version.as_string() == "v1" || version.as_string() == "v1beta1"; }

}  // namespace

void check_review_versions(const Value& versions, const std::string& field, Causes& causes) {
  if (versions.size() == 0) return causes.required(field);
  std::set<std::string> seen;
  for (size_t i = 0; i < versions.size(); ++i) {
    if (!seen.insert(versions[i].str()).second) {
      causes.invalid(at(field, i), versions[i], "duplicate version");
    } else if (const auto problem = service_name_problem(versions[i].as_string())) {
      causes.invalid(at(field, i), versions[i], *problem);
    }
  }
  if (std::ranges::none_of(versions.items(), is_known_review)) {
    causes.invalid(field, versions, "must include at least one of v1, v1beta1");
  }
}

void check_webhook_client(const Value& client, const std::string& field, Causes& causes) {
  const Value& url = client["url"];
  const Value& service = client["service"];
  if (url.is_null() == service.is_null()) return causes.required(field, "exactly one of url or service is required");
  if (!url.is_null()) {
    const std::string_view text = url.as_string();
    constexpr std::string_view kScheme = "https://";
    if (!text.starts_with(kScheme)) {
      causes.invalid(field + ".url", url,
                     "'https' is the only allowed URL scheme; desired format: https://host[/path]");
    } else if (text.size() == kScheme.size() || text[kScheme.size()] == '/') {
      causes.invalid(field + ".url", url, "host must be specified; desired format: https://host[/path]");
    }
    if (text.find_first_of("?#@") != std::string_view::npos) {
      causes.invalid(field + ".url", url, "user information, fragments and query parameters are not permitted");
    }
    return;
  }
  check_filled(service["name"], field + ".service.name", causes, "service name is required");
  check_filled(service["namespace"], field + ".service.namespace", causes, "service namespace is required");
  check_port(service["port"], field + ".service.port", causes);
  check_service_path(service["path"], field + ".service.path", causes);
}

void check_service_path(const Value& value, const std::string& field, Causes& causes) {
  if (value.is_empty() || value.as_string() == "/") return;
  std::string_view path = value.as_string();
  if (!path.starts_with('/')) causes.invalid(field, value, "must start with a '/'");
  path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  for (size_t index = 0;; ++index) {
    const size_t slash = path.find('/');
    const std::string_view step = path.substr(0, slash);
    const std::string segment = at("segment", index);
    if (step.empty()) {
      causes.invalid(field, value, segment + " may not be empty");
    } else if (const auto problem = subdomain_problem(step)) {
      causes.invalid(field, value, segment + ": " + *problem);
    }
    if (slash == std::string_view::npos) return;
    path.remove_prefix(slash + 1);
  }
}

void check_conversion(const Value& conversion, Causes& causes) {
  const std::string field = "spec.conversion.webhook";
  const Value& webhook = conversion["webhook"];
  if (conversion["strategy"].as_string() != "Webhook") {
    if (!webhook.is_null()) causes.forbidden(field, "should not be set when strategy is not set to Webhook");
    return;
  }
  if (webhook["clientConfig"].is_null()) {
    causes.required(field + ".clientConfig", "required when strategy is set to Webhook");
  } else {
    check_webhook_client(webhook["clientConfig"], field + ".clientConfig", causes);
  }
  check_review_versions(webhook["conversionReviewVersions"], field + ".conversionReviewVersions", causes);
}

}  // namespace shiplog::api
