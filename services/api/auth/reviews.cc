#include "services/api/auth/reviews.h"

#include <utility>
#include <vector>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "services/api/auth/access.h"
#include "services/api/auth/authorization.h"
#include "services/api/auth/text_list.h"
#include "services/api/status.h"

namespace shiplog::api {
namespace {

StatusDetails subject_of(const Kind& kind) { return {kind.group, kind.kind, kind.plural, ""}; }

/// spec.resourceAttributes or nonResourceAttributes; exactly one of them. "*" stands for all of something.
Result<Attributes> read_attributes(const Kind& kind, const Value& spec) {
  const Value& resource = spec["resourceAttributes"];
  const Value& path = spec["nonResourceAttributes"];
  if (resource.is_object() == path.is_object()) {
    return invalid(subject_of(kind),
                   {{"spec.resourceAttributes", "FieldValueInvalid",
                     "Invalid value: exactly one of nonResourceAttributes or resourceAttributes must be specified"}});
  }
  Attributes wanted;
  if (path.is_object()) {
    wanted.is_resource = false;
    wanted.verb = path["verb"].str();
    wanted.path = path["path"].str();
    return wanted;
  }
  wanted.verb = resource["verb"].str();
  wanted.group = resource["group"].str();
  wanted.resource = resource["resource"].str();
  wanted.subresource = resource["subresource"].str();
  wanted.ns = resource["namespace"].str();
  wanted.name = resource["name"].str();
  return wanted;
}

/// A review is no object: it has no name, and nothing else there.
Result<void> check_review_metadata(const Kind& kind, const Value& metadata) {
  const bool local = kind.kind == "LocalSubjectAccessReview";
  for (const auto& member : metadata.members()) {
    if (member.value.is_empty() || member.key() == "managedFields" || (local && member.key() == "namespace")) continue;
    return invalid(subject_of(kind), {{"metadata", "FieldValueInvalid",
                                       "Invalid value: " + printable(to_json(metadata), 512) +
                                           (local ? ": must be empty except for namespace" : ": must be empty")}});
  }
  return ok();
}

}  // namespace

Result<AccessQuestion> access_question(const ReviewQuestion& question, Value& review) {
  SHIPLOG_TRY(check_review_metadata(*question.kind, review["metadata"]));
  const Value spec = review["spec"];
  AccessQuestion asked;
  SHIPLOG_TRY(asked.wanted, read_attributes(*question.kind, spec));
  asked.version = spec["resourceAttributes"]["version"].str();
  if (question.kind->kind == "SelfSubjectAccessReview") {
    asked.user = question.user;
    return asked;
  }
  if (question.kind->kind == "LocalSubjectAccessReview") {
    if (!asked.wanted.is_resource) {
      return invalid(subject_of(*question.kind), {{"spec.nonResourceAttributes", "FieldValueInvalid",
                                                   "Invalid value: disallowed on this kind of request"}});
    }
    if (asked.wanted.ns != question.ns) {
      return invalid(subject_of(*question.kind),
                     {{"spec.resourceAttributes.namespace", "FieldValueInvalid",
                       "Invalid value: \"" + asked.wanted.ns + "\": must match metadata.namespace: " + question.ns}});
    }
    review.edit("metadata").set("namespace", question.ns);
  }
  asked.user.name = spec["user"].str();
  asked.user.groups = texts_of(spec["groups"]);
  asked.user.uid = spec["uid"].str();
  for (const auto& extra : spec["extra"].members()) asked.user.extra[std::string{extra.key()}] = texts_of(extra.value);
  if (asked.user.name.empty() && asked.user.groups.empty()) {
    return invalid(
        subject_of(*question.kind),
        {{"spec.user", "FieldValueInvalid", "Invalid value: \"\": at least one of user or group must be specified"}});
  }
  return asked;
}

Result<Value> review_rules(const Access* access, const ReviewQuestion& question, Value review) {
  const std::string ns = review["spec"]["namespace"].str();
  if (ns.empty()) return Error{ErrorCode::kBadRequest, "no namespace on request"};
  RbacPolicy::Held held;
  if (access != nullptr) held = access->held(question.user, ns);
  Value resources = Value::array();
  Value paths = Value::array();
  for (const Rule& rule : held.rules) {
    if (!rule.resources.empty()) resources.push_back(to_value({rule})[0]);
    if (!rule.non_resource_urls.empty()) paths.push_back(to_value({rule})[0]);
  }
  Value status = Value::object(
      {{"resourceRules", std::move(resources)}, {"nonResourceRules", std::move(paths)}, {"incomplete", false}});
  if (!held.missing.empty()) {
    std::string text;
    for (const std::string& permission : held.missing) text += (text.empty() ? "" : ", ") + permission;
    status.set("evaluationError", text);
  }
  review.set("status", std::move(status));
  return review;
}

Result<TokenQuestion> token_question(const Value& review) {
  TokenQuestion asked{review["spec"]["token"].str(), texts_of(review["spec"]["audiences"])};
  if (asked.token.empty()) {
    return Error{ErrorCode::kBadRequest, "token is required for TokenReview in authentication"};
  }
  if (asked.audiences.empty()) asked.audiences = {kTokenIssuer};
  return asked;
}

Value token_status(const Result<TokenIdentity>& identity) {
  Value status = Value::object();
  if (!identity) {
    status.set("error", identity.error().message);
    return status;
  }
  status.set("authenticated", true);
  status.set("user", user_info(identity.value().user));
  if (!identity.value().audiences.empty()) status.set("audiences", list_of(identity.value().audiences));
  return status;
}

}  // namespace shiplog::api
