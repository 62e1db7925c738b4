#include <utility>

#include "services/api/pipeline/conversions.h"
#include "services/api/pipeline/responses.h"
#include "services/api/pipeline/stages.h"

namespace shiplog::api {
namespace {

/// The stored JSON, if it is the answer as it stands; nullptr if the answer takes some work.
const std::string* stored_json(const Server& server, const RequestContext& context, const WriteRequest& write,
                               const Lane& lane, const Committed& committed) {
  if (write.answer || lane.large != nullptr || committed.change == nullptr || committed.change->json == nullptr) {
    return nullptr;
  }
  if (!accepts_stored_json(context)) return nullptr;
  const std::string& json = *committed.change->json;
  return server.objects.vault() != nullptr && Vault::may_hold_sealed(json) ? nullptr : &json;
}

Result<WriteAnswer> answer_for(const Server& server, const WriteRequest& write, const Proposal& proposal,
                               const Committed& committed) {
  if (write.answer) return write.answer(proposal, committed);
  WriteAnswer answer;
  answer.status = proposal.success;
  answer.body = committed.object;
  if (committed.sealed) {
    SHIPLOG_TRY(answer.body, server.objects.open_version(std::move(answer.body)));
  }
  return answer;
}

}  // namespace

void record_rejection(const Server& server, const RequestContext& context, const Rejection& rejection) {
  const Error& error = rejection.error;
  const std::string kind_type = context.kind == nullptr ? "" : context.kind->type();
  const std::string_view about = rejection.denied ? rejection.denied->object.type.view() : kind_type;
  // The error message about an object that is to be sealed may quote its data.
  const bool about_content =
      error.code == ErrorCode::kInvalid || error.code == ErrorCode::kBadRequest || rejection.by_admission;
  const bool may_quote = rejection.may_quote || (about_content && may_quote_secrets(about));
  if (context.produced != nullptr) {
    context.produced->may_quote = may_quote;
    if (!context.produced->source.topic.empty()) return;  // the entry that settles the request records it
  }
  if (!rejection.denied) return;
  // Of bad requests only those whose headers claim an identity in a wrong form: nothing is known of them but this.
  const bool claims = error.code == ErrorCode::kBadRequest && context.kind == nullptr;
  if (error.code != ErrorCode::kForbidden && error.code != ErrorCode::kInvalid && !claims) return;
  const auto& [verb, object] = *rejection.denied;
  const Kind* kind = context.kind;
  const auto kinds = server.options.kinds->current();
  if (kind == nullptr) kind = kinds->find_type(object.type);
  Store& store = kind == nullptr ? server.objects.record() : server.store(*kind);
  Entry entry = entry_for(server, context, verb);
  server.denials->record(store.replica(),
                         {std::move(entry.actor),
                          std::move(entry.request.verb),
                          std::move(entry.request.path),
                          std::move(entry.cause),
                          {object, http_status(error.code), reason_of(error.code),
                           may_quote ? "not recorded, as it may quote data of a Secret" : error.message}});
}

awaitable<void> respond(const Server& server, const RequestContext& context, const WriteRequest& write, Lane& lane,
                        const Proposal& proposal, const Committed& committed) {
  if (const std::string* json = stored_json(server, context, write, lane, committed)) {
    answer_json(context, proposal.success, *json, proposal.warnings);
    co_return;
  }
  // Rendering may take its time: not on the fold thread.
  if (!lane.entered) co_await continue_on(lane);
  auto answer = answer_for(server, write, proposal, committed);
  // Only what was deleted can still be in another version. It is marked by now: a webhook that fails makes no error.
  if (answer && write.form == WriteForm::kDeletion && !answer.value().is_status) {
    auto converted = co_await in_requested_version(server, context, lane, answer.value().body);
    if (converted) answer.value().body = std::move(converted).value();
  }
  if (!answer) {
    fail(context, answer.error());
  } else if (answer.value().is_status) {
    answer_status(context, answer.value().status, answer.value().body, proposal.warnings);
  } else {
    answer_object(context, answer.value().status, answer.value().body, server.options.clock->now(), proposal.warnings);
  }
}

void reject(const Server& server, const RequestContext& context, const Rejection& rejection) {
  record_rejection(server, context, rejection);
  if (rejection.denial) {
    return answer_status(context, rejection.denial->http_status, rejection.denial->status, rejection.warnings);
  }
  rejection.subject ? fail(context, rejection.error, *rejection.subject) : fail(context, rejection.error);
}

}  // namespace shiplog::api
