#include <utility>

#include "services/api/auth/token_request.h"
#include "services/api/pipeline/codecs/codecs.h"

namespace shiplog::api {
namespace {

/// The body with its kind, without the fields that only the server sets.
Result<Value> read_review(const RequestContext& context, const std::string& text) {
  const Kind& kind = *context.kind;
  SHIPLOG_TRY(auto body, read_object(context, text, nullptr));
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

StageResult<Proposal> unchanged(const Value& body) {
  Proposal proposal{.operation = "CREATE", .verb = "create", .success = 201};
  proposal.object = body;
  return proposal;
}

/// What the review or request has become is the answer; nothing is stored.
Result<WriteAnswer> answer_with(const Proposal& proposal, const Committed& committed) {
  WriteAnswer answer;
  answer.status = proposal.success;
  answer.body = committed.object;
  return answer;
}

}  // namespace

StageResult<WriteRequest> decode_review(const Server& /*server*/, const RequestContext& context,
                                        const std::string& body) {
  SHIPLOG_TRY(Value review, read_review(context, body));
  WriteRequest write;
  write.key = context.key();
  write.form = WriteForm::kReview;
  write.reads = WriteReads::kNothing;
  write.propose = [review = std::move(review)](const Result<Value>&) { return unchanged(review); };
  // It was answered where admission judges other objects: the answer may come from outside.
  write.changes = [](Proposal& proposal) -> StageResult<WriteChanges> {
    WriteChanges changes;
    changes.object = std::move(proposal.object);
    return changes;
  };
  write.answer = answer_with;
  return write;
}

StageResult<WriteRequest> decode_token_request(const Server& server, const RequestContext& context,
                                               const std::string& body) {
  if (server.options.tokens == nullptr) {
    return Error{ErrorCode::kUnavailable, "this server has no key to sign tokens with"};
  }
  SHIPLOG_TRY(Value request,
              read_body(context.request.headers.get("Content-Type"), body, *context.kinds, *context.kind, nullptr));
  if (!request.is_object() || (!request["kind"].is_empty() && request["kind"].as_string() != "TokenRequest")) {
    return Error{ErrorCode::kBadRequest, "the body of the request must be a TokenRequest"};
  }
  request.set("apiVersion", std::string{kTokenRequestGroup} + "/v1");
  request.set("kind", "TokenRequest");
  request.edit("metadata").set("name", context.path.name);
  request.edit("metadata").set("namespace", context.path.ns);
  WriteRequest write;
  write.key = context.key();
  write.form = WriteForm::kSubresource;
  write.reads = WriteReads::kStore;
  write.parameters.dry_run = text(context.request, "dryRun") == "All";
  write.propose = [&context, request = std::move(request)](const Result<Value>&) {
    auto proposal = unchanged(request);
    proposal.value().name = context.path.name;
    return proposal;
  };
  write.changes = [&server, &context](Proposal& proposal) -> StageResult<WriteChanges> {
    SHIPLOG_TRY(const Value account, server.current(context, context.key()));
    WriteChanges changes;
    SHIPLOG_TRY(changes.object, issue_token(server.token_sources(), *server.options.random, context.key(), account,
                                            std::move(proposal.object)));
    return changes;
  };
  write.answer = answer_with;
  return write;
}

}  // namespace shiplog::api
