#include "services/api/auth/reviews.h"

#include <utility>
#include <vector>

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

Value access_status(const RbacPolicy::Decision& decision) {
  Value status = Value::object({{"allowed", decision.allowed}});
  if (!decision.reason.empty()) status.set("reason", decision.reason);
  return status;
}

Result<Value> review_access(const ReviewSources& sources, const ReviewQuestion& question, Value review) {
  SHIPLOG_TRY(auto wanted, read_attributes(*question.kind, review["spec"]));
  if (question.kind->kind == "SelfSubjectAccessReview") {
    review.set("status", access_status(decide(sources.access, question.user, wanted)));
    return review;
  }
  const Value spec = review["spec"];
  if (question.kind->kind == "LocalSubjectAccessReview") {
    if (!wanted.is_resource) {
      return invalid(subject_of(*question.kind), {{"spec.nonResourceAttributes", "FieldValueInvalid",
                                                   "Invalid value: disallowed on this kind of request"}});
    }
    if (wanted.ns != question.ns) {
      return invalid(subject_of(*question.kind),
                     {{"spec.resourceAttributes.namespace", "FieldValueInvalid",
                       "Invalid value: \"" + wanted.ns + "\": must match metadata.namespace: " + question.ns}});
    }
    review.edit("metadata").set("namespace", question.ns);
  }
  User subject;
  subject.name = spec["user"].str();
  subject.groups = texts_of(spec["groups"]);
  subject.uid = spec["uid"].str();
  if (subject.name.empty() && subject.groups.empty()) {
    return invalid(
        subject_of(*question.kind),
        {{"spec.user", "FieldValueInvalid", "Invalid value: \"\": at least one of user or group must be specified"}});
  }
  review.set("status", access_status(decide(sources.access, subject, wanted)));
  return review;
}

Result<Value> review_rules(const ReviewSources& sources, const ReviewQuestion& question, Value review) {
  const std::string ns = review["spec"]["namespace"].str();
  if (ns.empty()) return Error{ErrorCode::kBadRequest, "no namespace on request"};
  RbacPolicy::Held held;
  if (sources.access != nullptr) held = sources.access->held(question.user, ns);
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

Result<Value> review_token(const ReviewSources& sources, Value review) {
  const std::string token = review["spec"]["token"].str();
  if (token.empty()) {
    return Error{ErrorCode::kBadRequest, "token is required for TokenReview in authentication"};
  }
  std::vector<std::string> audiences = texts_of(review["spec"]["audiences"]);
  if (audiences.empty()) audiences = {kTokenIssuer};
  const auto identity = identify(sources.tokens, token, audiences);
  Value status = Value::object();
  if (!identity) {
    status.set("error", identity.error().message);
  } else {
    status.set("authenticated", true);
    status.set("user", user_info(identity.value().user));
    if (!identity.value().audiences.empty()) status.set("audiences", list_of(identity.value().audiences));
  }
  review.set("status", std::move(status));
  return review;
}

}  // namespace

Result<Value> answer_review(const ReviewSources& sources, const ReviewQuestion& question, Value review) {
  const std::string& kind = question.kind->kind;
  if (kind == "SelfSubjectReview") {
    review.set("status", Value::object({{"userInfo", user_info(question.user)}}));
    return review;
  }
  if (kind == "TokenReview") return review_token(sources, std::move(review));
  if (kind == "SelfSubjectRulesReview") return review_rules(sources, question, std::move(review));
  return review_access(sources, question, std::move(review));
}

}  // namespace shiplog::api
