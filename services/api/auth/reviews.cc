#include <algorithm>

#include "projections/objects/object_query.h"
#include "services/api/auth/access.h"
#include "services/api/auth/gate.h"
#include "services/api/auth/token_signer.h"
#include "services/api/writes.h"

namespace shiplog::api {
namespace {

constexpr const char* kIdentities = "authentication.k8s.io";

std::vector<std::string> texts_of(const Value& list) {
  std::vector<std::string> texts;
  for (const Value& item : list.items()) texts.push_back(item.str());
  return texts;
}

Value list_of(const std::vector<std::string>& texts) {
  Value list = Value::array();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

/// The body with its kind, without what only the server says.
Result<Value> read_review(const Context& context) {
  const Kind& kind = *context.kind;
  SHIPLOG_TRY(auto body, read_body(context.request, *context.kinds, kind, nullptr));
  if (!body.is_object()) return Error{ErrorCode::kBadRequest, "the body of the request must be a JSON object"};
  for (const auto& [field, expected] : {std::pair{"apiVersion", kind.api_version()}, std::pair{"kind", kind.kind}}) {
    const Value& given = body[field];
    if (!given.is_empty() && given.as_string() != expected) {
      return Error{ErrorCode::kBadRequest, std::string{"the "} + field + " in the data (" + given.str() +
                                               ") does not match the expected one (" + expected + ")"};
    }
    body.set(field, expected);
  }
  if (!body["metadata"].is_object()) body.set("metadata", Value::object());
  body.erase("status");
  return body;
}

/// spec.resourceAttributes or nonResourceAttributes; exactly one of them. "*" stands for all of something.
Result<Attributes> read_attributes(const Context& context, const Value& spec) {
  const Value& resource = spec["resourceAttributes"];
  const Value& path = spec["nonResourceAttributes"];
  if (resource.is_object() == path.is_object()) {
    return invalid(context.subject(""),
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

Result<Value> review_access(const Server& server, const Context& context, Value review) {
  SHIPLOG_TRY(auto wanted, read_attributes(context, review["spec"]));
  if (context.kind->kind == "SelfSubjectAccessReview") {
    review.set("status", access_status(decide(server, context.user, wanted)));
    return review;
  }
  const Value spec = review["spec"];
  if (context.kind->kind == "LocalSubjectAccessReview") {
    if (!wanted.is_resource) {
      return invalid(context.subject(""), {{"spec.nonResourceAttributes", "FieldValueInvalid",
                                            "Invalid value: disallowed on this kind of request"}});
    }
    if (wanted.ns != context.path.ns) {
      return invalid(context.subject(""),
                     {{"spec.resourceAttributes.namespace", "FieldValueInvalid",
                       "Invalid value: \"" + wanted.ns + "\": must match metadata.namespace: " + context.path.ns}});
    }
    review.edit("metadata").set("namespace", context.path.ns);
  }
  User subject;
  subject.name = spec["user"].str();
  subject.groups = texts_of(spec["groups"]);
  subject.uid = spec["uid"].str();
  if (subject.name.empty() && subject.groups.empty()) {
    return invalid(context.subject(""), {{"spec.user", "FieldValueInvalid",
                                          "Invalid value: \"\": at least one of user or group must be specified"}});
  }
  review.set("status", access_status(decide(server, subject, wanted)));
  return review;
}

Result<Value> review_rules(const Server& server, const Context& context, Value review) {
  const std::string ns = review["spec"]["namespace"].str();
  if (ns.empty()) return Error{ErrorCode::kBadRequest, "no namespace on request"};
  RbacPolicy::Held held;
  if (server.options.access != nullptr) held = server.options.access->held(context.user, ns);
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
    for (const std::string& one : held.missing) text += (text.empty() ? "" : ", ") + one;
    status.set("evaluationError", text);
  }
  review.set("status", std::move(status));
  return review;
}

Result<Value> review_token(Server& server, Value review) {
  const std::string token = review["spec"]["token"].str();
  if (token.empty()) {
    return Error{ErrorCode::kBadRequest, "token is required for TokenReview in authentication"};
  }
  std::vector<std::string> audiences = texts_of(review["spec"]["audiences"]);
  if (audiences.empty()) audiences = {kTokenIssuer};
  const auto identity = identify(server, token, audiences);
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

Result<Value> answer_to(Server& server, const Context& context, Value review) {
  const std::string& kind = context.kind->kind;
  if (kind == "SelfSubjectReview") {
    review.set("status", Value::object({{"userInfo", user_info(context.user)}}));
    return review;
  }
  if (kind == "TokenReview") return review_token(server, std::move(review));
  if (kind == "SelfSubjectRulesReview") return review_rules(server, context, std::move(review));
  return review_access(server, context, std::move(review));
}

constexpr int64_t kShortest = 600;
constexpr int64_t kLongest = int64_t{1} << 32;

/// The object a token is to end with. Errors: kBadRequest, kConflict.
Result<std::optional<TokenObject>> bound_object(Server& server, const Context& context, const Value& reference) {
  if (!reference.is_object()) return std::optional<TokenObject>{};
  const std::string kind = reference["kind"].str();
  const bool known = (kind == "Pod" || kind == "Secret" || kind == "Node") &&
                     (reference["apiVersion"].is_empty() || reference["apiVersion"].as_string() == "v1");
  if (!known) {
    return Error{ErrorCode::kBadRequest, "cannot bind token for serviceaccount \"" + context.path.name +
                                             "\" to object of kind \"" + kind +
                                             "\": Pod, Secret and Node may be named"};
  }
  const std::string plural = kind == "Pod" ? "pods" : kind == "Secret" ? "secrets" : "nodes";
  const ObjectKey key{plural, kind == "Node" ? "" : context.path.ns, reference["name"].str()};
  SHIPLOG_TRY(const auto row,
              server.options.record->read([&](const View& view) { return ObjectQuery{view}.get(key); }));
  if (!row) return not_found({"", kind, plural, key.name});
  SHIPLOG_TRY(const auto object, server.load(row->json));
  const std::string uid{uid_of(object)};
  if (!reference["uid"].is_empty() && reference["uid"].as_string() != uid) {
    return conflict({"", kind, plural, key.name}, "the UID in the bound object reference (" + reference["uid"].str() +
                                                      ") does not match the UID in record. The object might have been "
                                                      "deleted and then recreated");
  }
  return std::optional{TokenObject{kind, key, uid}};
}

Result<Value> issue_token(Server& server, const Context& context, Value request) {
  SHIPLOG_TRY(const auto account, server.current(context, context.key()));
  Value spec = request["spec"].is_object() ? request["spec"] : Value::object();
  TokenTerms terms;
  terms.account = {"ServiceAccount", context.key(), std::string{uid_of(account)}};
  terms.seconds = spec["expirationSeconds"].as_int(terms.seconds);
  const auto too = [&](const char* why) {
    return invalid({kIdentities, "TokenRequest", "", ""},
                   {{"spec.expirationSeconds", "FieldValueInvalid",
                     "Invalid value: " + std::to_string(terms.seconds) + ": " + why}});
  };
  if (terms.seconds < kShortest) return too("may not specify a duration less than 10 minutes");
  if (terms.seconds > kLongest) return too("may not specify a duration larger than 2^32 seconds");
  terms.audiences = texts_of(spec["audiences"]);
  if (terms.audiences.empty()) terms.audiences = {kTokenIssuer};
  SHIPLOG_TRY(terms.bound, bound_object(server, context, spec["boundObjectRef"]));
  terms.issued = server.options.clock->now();
  terms.id = uid_from(new_entry_id(*server.options.random), 0);
  SHIPLOG_TRY(const auto token, server.options.tokens->sign(claims_of(terms)));

  request.set("metadata", Value::object({{"name", context.path.name},
                                         {"namespace", context.path.ns},
                                         {"creationTimestamp", rfc3339(terms.issued)}}));
  spec.set("audiences", list_of(terms.audiences));
  spec.set("expirationSeconds", terms.seconds);
  if (!spec.contains("boundObjectRef")) spec.set("boundObjectRef", Value{});
  request.set("spec", std::move(spec));
  request.set("status", Value::object({{"token", token},
                                       {"expirationTimestamp", rfc3339(terms.issued + Millis{terms.seconds * 1000})}}));
  return request;
}

}  // namespace

void serve_review(const ServerPtr& server, const ContextPtr& context) {
  const HttpRequest& request = context->request;
  const Kind& kind = *context->kind;
  if (request.method != "POST" || !context->path.name.empty() || (kind.namespaced && context->path.ns.empty())) {
    return server->fail(context, method_not_allowed(context->subject(), request.method));
  }
  context->accept.form = Accept::Form::kObject;  // no columns: it is an answer, not an object
  auto review = read_review(*context);
  if (!review) return server->fail(context, review.error());
  server->workers->post([server, context, review = std::move(review).value()] {
    auto answer = answer_to(*server, *context, review);
    if (!answer) return server->fail(context, answer.error());
    server->answer(context, 201, answer.value());
  });
}

void serve_token_request(const ServerPtr& server, const ContextPtr& context) {
  if (context->request.method != "POST") {
    return server->fail(context, method_not_allowed(context->subject(), context->request.method));
  }
  if (server->options.tokens == nullptr) {
    return server->fail(context, Error{ErrorCode::kUnavailable, "this server has no key to sign tokens with"});
  }
  context->accept.form = Accept::Form::kObject;
  auto request = read_body(context->request, *context->kinds, *context->kind, nullptr);
  if (!request) return server->fail(context, request.error());
  if (!request.value().is_object() ||
      (!request.value()["kind"].is_empty() && request.value()["kind"].as_string() != "TokenRequest")) {
    return server->fail(context, Error{ErrorCode::kBadRequest, "the body of the request must be a TokenRequest"});
  }
  request.value().set("apiVersion", std::string{kIdentities} + "/v1");
  request.value().set("kind", "TokenRequest");
  server->when_current(context, [server, context, request = std::move(request).value()]() mutable {
    request.edit("metadata").set("name", context->path.name);
    request.edit("metadata").set("namespace", context->path.ns);
    past_webhooks(server, context, "CREATE", text(context->request, "dryRun") == "All", {}, request,
                  [server, context](const Value& left) {
                    auto issued = issue_token(*server, *context, left);
                    if (!issued) return server->fail(context, issued.error());
                    server->answer(context, 201, issued.value());
                  });
  });
}

}  // namespace shiplog::api
