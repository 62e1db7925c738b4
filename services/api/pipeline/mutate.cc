#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "services/api/admission/metadata.h"
#include "services/api/pipeline/admission_input.h"
#include "services/api/pipeline/request_audit.h"
#include "services/api/pipeline/stages.h"
#include "services/api/versions/versions.h"

namespace shiplog::api {
namespace {

/// The body of a write to a view in the form of what is stored; any other as it is.
StageResult<Value> stored_form(const Server& server, const RequestContext& context, const WriteRequest& write,
                               Proposal& proposal) {
  if (!context.kind->is_view()) return std::move(proposal.object);
  const bool creates = proposal.old.is_null();
  Admission admission = admission_for(server, context, write, proposal);
  admission.kind = context.kind;
  if (creates) admission.name.clear();
  const Value old = creates ? Value{} : in_version(*context.kind, proposal.old);
  auto admitted = admit_view(admission, std::move(proposal.object), creates ? nullptr : &old);
  if (!admitted) return refused(context, proposal, std::move(admitted).error());
  std::ranges::move(admission.warnings, std::back_inserter(proposal.warnings));
  return in_version(written_kind(context), std::move(admitted).value());
}

/// The object as mutating webhooks see it.
Result<Value> draft(const Server& server, const RequestContext& context, const WriteRequest& write,
                    Proposal& proposal) {
  Admission admission = admission_for(server, context, write, proposal);
  auto drafted = proposal.old.is_null()             ? draft_create(admission, proposal.object)
                 : write.form == WriteForm::kStatus ? draft_status_update(admission, proposal.old, proposal.object)
                                                    : draft_update(admission, proposal.old, proposal.object);
  std::ranges::move(admission.warnings, std::back_inserter(proposal.warnings));
  return drafted;
}

/// Makes the object as the client leaves it own its fields: what webhooks change has no owner. They see the owners.
void record_owners(const Server& server, const RequestContext& context, const WriteRequest& write, Proposal& proposal) {
  if (!proposal.managed.is_null()) proposal.object.edit("metadata").set("managedFields", proposal.managed);
  if (proposal.applied) return;
  proposal.object = track_update(field_writer_for(server, context, write.parameters), written_kind(context),
                                 proposal.old, std::move(proposal.object));
  proposal.managed = proposal.object["metadata"]["managedFields"];
  proposal.applied = true;
}

/// The owners as webhooks left them, unless they cannot be read.
void take_owners(Proposal& proposal) {
  const Value& left = proposal.object["metadata"]["managedFields"];
  if (const auto readable = check_managed_fields(left); readable) {
    proposal.managed = left;
  } else {
    proposal.warnings.push_back(
        ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating "
        "admission controller; please fix your requests: " +
        readable.error().message);
  }
}

/// Calls the mutating webhooks that are selected, one after the other in the order of their configurations' names, each
/// with what the one before left (ADM-2); once more those that want to see later changes (reinvocationPolicy IfNeeded).
class MutatingRounds {
 public:
  explicit MutatingRounds(size_t webhooks) : webhooks_{webhooks} {}

  /// The index of the next webhook to evaluate; nullopt: all have been called.
  std::optional<size_t> next() {
    while (true) {
      if (next_ == webhooks_) {
        if (second_ || again_.empty()) return std::nullopt;
        second_ = true;
        next_ = 0;
      }
      const size_t index = next_++;
      if (!second_ || again_.contains(index)) return index;
    }
  }
  void called(size_t index, bool reinvoked, bool changed) {
    if (changed) again_.merge(called_);  // in the second round: those that it has not come to yet
    if (reinvoked) called_.insert(index);
  }
  int round() const { return second_ ? 1 : 0; }

 private:
  size_t webhooks_;
  size_t next_ = 0;
  bool second_ = false;
  std::set<size_t> called_;  // those to be reinvoked after a change
  std::set<size_t> again_;   // those called before a later change
};

}  // namespace

awaitable<StageResult<Proposal>> mutate(const Server& server, const RequestContext& context, const WriteRequest& write,
                                        Lane& lane, Proposal& input) {
  Proposal proposal = std::move(input);
  const bool object = write.form == WriteForm::kObject || write.form == WriteForm::kStatus;
  if (object) {
    proposal.managed = proposal.object["metadata"]["managedFields"];
    if (!proposal.applied) {  // what was applied was put into the stored form before
      auto stored = stored_form(server, context, write, proposal);
      if (!stored) co_return std::move(stored).error();
      proposal.object = std::move(stored).value();
    }
  }
  // Nothing can be changed about a deletion: its mutating webhooks are called with the validating ones.
  if (write.form == WriteForm::kDeletion) co_return std::move(proposal);
  if (!calls_webhooks(server, context, proposal, true)) co_return std::move(proposal);

  if (!lane.entered) co_await continue_on(lane);
  if (object) {
    auto drafted = draft(server, context, write, proposal);
    if (!drafted) co_return refused_by_admission(context, proposal, std::move(drafted).error());
    proposal.object = std::move(drafted).value();
    unite_owners(proposal.object.edit("metadata"), proposal.warnings);
    proposal.name = proposal.object["metadata"]["name"].str();
    record_owners(server, context, write, proposal);
  }
  const WebhookCalls calls = server.webhook_calls(context);
  auto prepared = co_await admission_request(server, context, write, lane, proposal);
  if (!prepared) co_return std::move(prepared).error();
  AdmissionRequest request = std::move(prepared).value();
  const Webhooks::AdmissionWebhooks webhooks = calls.webhooks->configured(true);
  MutatingRounds rounds{webhooks->size()};
  while (const auto index = rounds.next()) {
    const AdmissionWebhook& webhook = (*webhooks)[*index];
    if (!is_selected(webhook, request)) continue;
    AdmissionResponse response = co_await call_webhook(calls, webhook, request);
    std::ranges::move(response.warnings, std::back_inserter(proposal.warnings));
    bool changed = false;
    if (!response.denial && !response.patch.is_null() && !request.object.is_null()) {
      auto patched = patched_object(webhook, request, response.patch);
      changed = patched && patched.value() != request.object;
      if (!patched) {
        response.denial = failed_call(webhook, "its patch cannot be applied: " + patched.error().message);
      } else if (changed) {
        request.object = std::move(patched).value();
      }
    }
    if (context.audit != nullptr) context.audit->mutated_by(webhook, {rounds.round(), *index, changed}, response);
    if (response.denial) co_return denied(context, proposal, std::move(*response.denial));
    rounds.called(*index, webhook.reinvoked, changed);
  }
  proposal.object = std::move(request.object);
  if (object) {
    take_owners(proposal);
    unite_owners(proposal.object.edit("metadata"), proposal.warnings, true);
  }
  co_return std::move(proposal);
}

}  // namespace shiplog::api
