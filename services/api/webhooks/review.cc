#include "services/api/webhooks/review.h"

#include <algorithm>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "events/base/names.h"
#include "events/base/utf8.h"
#include "events/state/object.h"
#include "services/api/versions/versions.h"

// Wording: kube-apiserver's, which users search for.

namespace shiplog::api {
namespace {

constexpr const char* kGroup = "admission.k8s.io/";

Value status_of(int code, const char* reason, const std::string& message) {
  Value status = Value::object({{"kind", "Status"},
                                {"apiVersion", "v1"},
                                {"metadata", Value::object()},
                                {"status", "Failure"},
                                {"message", message}});
  if (*reason != 0) status.set("reason", reason);
  status.set("code", code);
  return status;
}

Value kind_of(const Kind& kind) {
  return Value::object({{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}});
}

Value resource_of(const Kind& kind) {
  return Value::object({{"group", kind.group}, {"version", kind.version}, {"resource", kind.plural}});
}

/// A Scale or an Eviction is shown as it is: no version of the resource looks different.
Value shown_object(const AdmissionRequest& about, const Kind& wanted, const Value& object) {
  return about.form.is_null() ? in_version(wanted, object) : object;
}

/// The request of an AdmissionReview without its uid and its objects.
Value request_attributes(const AdmissionRequest& about, const Kind& wanted) {
  const bool own_form = !about.form.is_null();
  Value request = Value::object({{"kind", own_form ? about.form : kind_of(wanted)},
                                 {"resource", resource_of(wanted)},
                                 {"requestKind", own_form ? about.form : kind_of(*about.kind)},
                                 {"requestResource", resource_of(*about.kind)},
                                 {"operation", about.operation},
                                 {"userInfo", about.user},
                                 {"dryRun", about.dry_run},
                                 {"options", about.options}});
  if (!about.name.empty()) request.set("name", about.name);
  if (!about.ns.empty()) request.set("namespace", about.ns);
  if (!about.subresource.empty()) {
    request.set("subResource", about.subresource);
    request.set("requestSubResource", about.subresource);
  }
  return request;
}

Denial denied_by(const AdmissionWebhook& webhook, const Value& response) {
  std::string message = "admission webhook \"" + webhook.name + "\" denied the request";
  if (!response["message"].is_empty()) {
    message += ": " + response["message"].str();
  } else if (!response["reason"].is_empty()) {
    message += ": " + response["reason"].str();
  } else {
    message += " without explanation";
  }
  Denial denial;
  // A denial never has a success status, whatever the webhook returns.
  const int64_t code = response["code"].as_int();
  denial.http_status = code >= 400 && code <= 599 ? static_cast<int>(code) : 400;
  denial.status = status_of(denial.http_status, "", message);
  for (const char* field : {"reason", "details"}) {
    if (!response[field].is_empty()) denial.status.set(field, response[field]);
  }
  return denial;
}

/// Adds an annotation to the audit events of the request, under the name of the webhook.
void take_annotation(const AdmissionWebhook& webhook, std::string_view key, const Value& value,
                     AdmissionResponse& admission) {
  constexpr size_t kMost = 20;  // as of a policy
  constexpr size_t kLongest = 10 * 1024;
  std::string name = webhook.name + "/" + std::string{key};
  if (qualified_name_problem(name) || admission.annotations.size() >= kMost) return;
  admission.annotations.emplace_back(std::move(name), printable(value.as_string(), kLongest));
}

/// The version of AdmissionReview that both sides know: the first one of the webhook's; "" if there is none.
std::string review_version(const AdmissionWebhook& webhook) {
  const auto version = std::ranges::find_if(webhook.review_versions,
                                            [](const std::string& each) { return each == "v1" || each == "v1beta1"; });
  return version == webhook.review_versions.end() ? "" : *version;
}

}  // namespace

bool may_quote_secrets(std::string_view type) { return type == type::kSecret || type == type::kWork; }

ExpressionInput expression_input(const AdmissionRequest& about, const Kind& wanted,
                                 std::shared_ptr<const cel::CelAuthorizer> authorizer) {
  ExpressionInput input;
  input.object = shown_object(about, wanted, about.object);
  input.old_object = shown_object(about, wanted, about.old);
  input.request = request_attributes(about, wanted);
  input.authorizer = std::move(authorizer);
  input.resource.group = about.kind->group;
  input.resource.resource = about.kind->plural;
  input.resource.subresource = about.subresource;
  input.resource.ns = about.ns;
  input.resource.name = about.name;
  return input;
}

Result<Value> review_request(const AdmissionWebhook& webhook, const AdmissionRequest& about, const Kind& wanted,
                             const std::string& uid) {
  const std::string version = review_version(webhook);
  if (version.empty()) {
    return Error{ErrorCode::kInvalid, "webhook does not accept known AdmissionReview versions (v1, v1beta1)"};
  }
  Value request = request_attributes(about, wanted);
  request.set("uid", uid);
  request.set("object", shown_object(about, wanted, about.object));
  request.set("oldObject", shown_object(about, wanted, about.old));
  return Value::object(
      {{"kind", "AdmissionReview"}, {"apiVersion", kGroup + version}, {"request", std::move(request)}});
}

Result<AdmissionResponse> read_review(const AdmissionWebhook& webhook, const Value& answer, const std::string& uid) {
  const auto wrong = [](const std::string& why) { return Error{ErrorCode::kBadRequest, why}; };
  const std::string version = review_version(webhook);
  const Value& response = answer["response"];
  if (!response.is_object()) return wrong("received invalid webhook response: webhook response was absent");
  const bool v1 = version == "v1";  // v1beta1 demands neither a type nor the uid of the answer
  const bool is_review = answer["kind"].as_string() == "AdmissionReview";
  if (v1 && (!is_review || answer["apiVersion"].as_string() != kGroup + version)) {
    return wrong("received invalid webhook response: expected an AdmissionReview of " + (kGroup + version) +
                 ", got kind \"" + answer["kind"].str() + "\", apiVersion \"" + answer["apiVersion"].str() + "\"");
  }
  if (v1 && response["uid"].as_string() != uid) {
    return wrong("received invalid webhook response: expected response.uid=\"" + uid + "\", got \"" +
                 response["uid"].str() + "\"");
  }
  AdmissionResponse admission;
  admission.called = true;
  for (const Value& warning : response["warnings"].items()) admission.warnings.push_back(warning.str());
  for (const auto& annotation : response["auditAnnotations"].members()) {
    take_annotation(webhook, annotation.key(), annotation.value, admission);
  }
  if (!response["allowed"].as_bool()) {
    admission.denial = denied_by(webhook, response["status"]);
    return admission;
  }
  if (response["patch"].is_empty()) return admission;
  if (!webhook.mutating && !v1) return admission;
  if (!webhook.mutating) return wrong("received invalid webhook response: a validating webhook may not patch");
  if (v1 && response["patchType"].as_string() != "JSONPatch") {
    return wrong("received invalid webhook response: only JSONPatch is allowed as patchType, got \"" +
                 response["patchType"].str() + "\"");
  }
  const auto bytes = base64_decode(response["patch"].as_string());
  if (!bytes) return wrong("received invalid webhook response: the patch is not base64");
  auto patch = parse_json(*bytes);
  if (!patch || !patch.value().is_array()) {
    return wrong("received invalid webhook response: the patch is no list of JSON Patch operations");
  }
  if (patch.value().size() > 0) admission.patch = std::move(patch).value();
  return admission;
}

namespace {

Denial internal_error(const std::string& message) {
  Denial denial{500, status_of(500, "InternalError", "Internal error occurred: " + message)};
  denial.status.set("details", Value::object({{"causes", Value::array({Value::object({{"message", message}})})}}));
  return denial;
}

}  // namespace

Denial failed_call(const AdmissionWebhook& webhook, const std::string& why) {
  return internal_error("failed calling webhook \"" + webhook.name + "\": " + why);
}

Denial patches_deletion(const AdmissionWebhook& webhook) {
  return internal_error("admission webhook \"" + webhook.name +
                        "\" attempted to modify the object, which is not supported for this operation");
}

Denial out_of_time() {
  constexpr int kGatewayTimeout = 504;
  return {kGatewayTimeout,
          status_of(kGatewayTimeout, "Timeout", "Timeout: request did not complete within requested timeout")};
}

Denial failed_conditions(const AdmissionRequest& about, const std::string& why) {
  const std::string resource = about.kind->type();
  // A generated name is not the request's.
  const std::string name = about.name.empty() ? about.object["metadata"]["name"].str() : about.name;
  const std::string message = resource + " \"" + name + "\" is forbidden: " + why;
  Denial denial{403, status_of(403, "Forbidden", message)};
  Value details = Value::object({{"name", name}, {"kind", about.kind->plural}});
  if (!about.kind->group.empty()) details.set("group", about.kind->group);
  denial.status.set("details", std::move(details));
  return denial;
}

Denial unfit_for_dry_run(const AdmissionWebhook& webhook) {
  return {400, status_of(400, "BadRequest", "admission webhook \"" + webhook.name + "\" does not support dry run")};
}

}  // namespace shiplog::api
