#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "services/api/admission/metadata.h"
#include "services/api/admission_policies/mutating_policies.h"
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

Result<Value> drafted_by(Admission& admission, const WriteRequest& write, const Value& old, Value object) {
  if (old.is_null()) return draft_create(admission, std::move(object));
  if (write.form == WriteForm::kStatus) return draft_status_update(admission, old, std::move(object));
  return draft_update(admission, old, std::move(object));
}

/// The object as policies and mutating webhooks see it.
Result<Value> draft(const Server& server, const RequestContext& context, const WriteRequest& write,
                    Proposal& proposal) {
  Admission admission = admission_for(server, context, write, proposal);
  auto drafted = drafted_by(admission, write, proposal.old, proposal.object);
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

/// An object as a policy has left it: decoded, with defaults. Error: it cannot be decoded.
Result<Value> completed_draft(const Server& server, const RequestContext& context, const WriteRequest& write,
                              Proposal& proposal, Value object) {
  Admission admission = admission_for(server, context, write, proposal);
  // Of the fields that the client sent, unknown ones have been dealt with.
  admission.field_validation = FieldValidation::kStrict;
  const Value owners = object["metadata"]["managedFields"];
  SHIPLOG_TRY(Value drafted, drafted_by(admission, write, proposal.old, std::move(object)));
  if (!owners.is_null()) drafted.edit("metadata").set("managedFields", owners);
  return drafted;
}

/// The order in which policies and webhooks, counted as one list, change an object: one after the other, each with what
/// the one before left (ADM-2); once more those that want to see later changes (reinvocationPolicy IfNeeded).
class MutatingRounds {
 public:
  explicit MutatingRounds(size_t count) : count_{count} {}

  /// The index of the next one to evaluate; nullopt: all have been called.
  std::optional<size_t> next() {
    while (true) {
      if (next_ == count_) {
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
  size_t count_;
  size_t next_ = 0;
  bool second_ = false;
  std::set<size_t> called_;  // those to be reinvoked after a change
  std::set<size_t> again_;   // those called before a later change
};

/// What a webhook makes of request.object. True: it has changed it.
awaitable<StageResult<bool>> call_mutating_webhook(const RequestContext& context, const WebhookCalls& calls,
                                                   const AdmissionWebhook& webhook, RequestAudit::MutatingCall call,
                                                   Proposal& proposal, AdmissionRequest& request) {
  AdmissionResponse response = co_await call_webhook(calls, webhook, request);
  std::ranges::move(response.warnings, std::back_inserter(proposal.warnings));
  if (!response.denial && !response.patch.is_null() && !request.object.is_null()) {
    auto patched = patched_object(webhook, request, response.patch);
    call.changed = patched && patched.value() != request.object;
    if (!patched) {
      response.denial = failed_call(webhook, "its patch cannot be applied: " + patched.error().message);
    } else if (call.changed) {
      request.object = std::move(patched).value();
    }
  }
  if (context.audit != nullptr) context.audit->mutated_by(webhook, call, response);
  if (response.denial) co_return denied(context, proposal, std::move(*response.denial));
  co_return call.changed;
}

/// What the policies deny; they come before all webhooks of a round.
StageResult<void> outcome_of(const MutatingPolicies* policies, const RequestContext& context,
                             const AdmissionRequest& request, Proposal& proposal) {
  auto denial = policies == nullptr ? std::nullopt : policies->denial(request);
  if (!denial) return ok();
  Rejection rejection = denied(context, proposal, std::move(*denial));
  rejection.may_quote = policies->may_quote();
  return rejection;
}

/// Applies the policies, if `applies_policies`, and calls the webhooks. Continues on the lane.
awaitable<StageResult<void>> run_rounds(const Server& server, const RequestContext& context, const WriteRequest& write,
                                        Lane& lane, bool applies_policies, Proposal& proposal,
                                        AdmissionRequest& request) {
  const WebhookCalls calls = server.webhook_calls(context);
  const bool apart = server.post_evaluation != nullptr;
  bool evaluating = applies_policies && apart;
  if (evaluating) co_await continue_evaluating(lane);
  std::optional<MutatingPolicies> policies;
  if (applies_policies) policies.emplace(calls, *server.options.mutating_policies, request);
  const size_t policy_count = policies ? policies->size() : 0;
  const Webhooks::AdmissionWebhooks webhooks = calls.webhooks == nullptr
                                                   ? std::make_shared<const std::vector<AdmissionWebhook>>()
                                                   : calls.webhooks->configured(true);
  const bool is_object = write.form == WriteForm::kObject || write.form == WriteForm::kStatus;
  const auto complete = [&](Value object) -> Result<Value> {
    return is_object ? completed_draft(server, context, write, proposal, std::move(object)) : std::move(object);
  };
  MutatingRounds rounds{policy_count + webhooks->size()};
  while (const auto index = rounds.next()) {
    if (*index < policy_count) {
      if (apart && !std::exchange(evaluating, true)) co_await continue_evaluating(lane);
      const bool changed = policies->apply(*index, rounds.round() > 0, request, complete);
      rounds.called(*index, policies->reinvoked(*index), changed);
      continue;
    }
    if (std::exchange(evaluating, false)) co_await continue_on(lane);
    if (auto allowed = outcome_of(policies ? &*policies : nullptr, context, request, proposal); !allowed) {
      co_return std::move(allowed).error();
    }
    const AdmissionWebhook& webhook = (*webhooks)[*index - policy_count];
    if (!is_selected(webhook, request)) continue;
    const RequestAudit::MutatingCall call{.round = rounds.round(), .index = *index - policy_count};
    auto changed = co_await call_mutating_webhook(context, calls, webhook, call, proposal, request);
    if (!changed) co_return std::move(changed).error();
    rounds.called(*index, webhook.reinvoked, changed.value());
  }
  if (evaluating) co_await continue_on(lane);
  co_return outcome_of(policies ? &*policies : nullptr, context, request, proposal);
}

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
  const bool policies =
      write.form != WriteForm::kReview && applies_policies(server.options.mutating_policies, context, proposal);
  if (!policies && !calls_webhooks(server, context, proposal, true)) co_return std::move(proposal);

  if (!lane.entered) co_await continue_on(lane);
  if (object) {
    auto drafted = draft(server, context, write, proposal);
    if (!drafted) co_return refused_by_admission(context, proposal, std::move(drafted).error());
    proposal.object = std::move(drafted).value();
    unite_owners(proposal.object.edit("metadata"), proposal.warnings);
    proposal.name = proposal.object["metadata"]["name"].str();
    record_owners(server, context, write, proposal);
  }
  auto prepared = co_await admission_request(server, context, write, lane, proposal);
  if (!prepared) co_return std::move(prepared).error();
  AdmissionRequest request = std::move(prepared).value();
  auto changed = co_await run_rounds(server, context, write, lane, policies, proposal, request);
  if (!changed) co_return std::move(changed).error();
  proposal.object = std::move(request.object);
  if (object) {
    take_owners(proposal);
    unite_owners(proposal.object.edit("metadata"), proposal.warnings, true);
  }
  co_return std::move(proposal);
}

}  // namespace shiplog::api
