#include <utility>

#include "events/base/check.h"
#include "events/base/json.h"
#include "events/fold/fold.h"
#include "events/state/policy_identity.h"
#include "services/api/admission/job_selector.h"
#include "services/api/auth/token_secret.h"
#include "services/api/auth/token_signer.h"
#include "services/api/pipeline/admission_input.h"
#include "services/api/pipeline/conversions.h"
#include "services/api/pipeline/pod_quotas.h"
#include "services/api/pipeline/request_audit.h"
#include "services/api/pipeline/served_definition.h"
#include "services/api/pipeline/stages.h"
#include "services/api/versions/versions.h"
#include "services/roles/serviceaccount_token/decide.h"

namespace shiplog::api {
namespace {

bool is_object(const WriteRequest& write) {
  return write.form == WriteForm::kObject || write.form == WriteForm::kStatus;
}

/// Clients look for this one (NSP-4).
FieldCause being_terminated(const std::string& ns) {
  return {"metadata.namespace", "NamespaceTerminating", "namespace " + ns + " is being terminated"};
}

/// Whether something may be created in the namespace, for what the fold cannot check. Blocks on the projection.
StageResult<void> check_namespace(const Server& server, const RequestContext& context, const Proposal& proposal,
                                  const std::string& ns) {
  const Kind* namespaces = context.kinds->find_type(type::kNamespace);
  SHIPLOG_TRY(const auto json, server.objects.find_json(*namespaces, {type::kNamespace, "", ns}));
  if (!json) return without_namespace(ns);
  SHIPLOG_TRY(const Value object, parse_stored_json(*json));
  if (!deleting(object)) return ok();
  Error error = forbidden(context.subject(proposal.name),
                          "unable to create new content in namespace " + ns + " because it is being terminated");
  error.causes = {being_terminated(ns)};
  return refused(context, proposal, std::move(error));
}

/// The object as it is stored. Sealed text from a client is not accepted: a copy of one, from the history or a backup,
/// would be opened for every user who can read the object that it was written into.
/// Of a dry run nothing is sealed: that would make keys.
Result<Value> sealed(const Server& server, const WriteRequest& write, const RequestContext& context, Value object,
                     const ObjectKey& key, bool exists) {
  Vault* vault = server.objects.vault();
  if (vault == nullptr) return object;
  const bool carries_others = key.type.ends_with(".work.karmada.io");
  Value stored;
  if (exists && carries_others && is_object(write)) {
    SHIPLOG_TRY(const auto json, server.objects.find_json(*context.kind, key));
    if (!json) return not_found(context.subject(key.name.str()));
    SHIPLOG_TRY(stored, parse_stored_json(*json));
  }
  if (is_object(write)) {
    SHIPLOG_TRY(object, vault->seal_like(stored, std::move(object)));
  }
  if (write.parameters.dry_run) return object;
  return vault->seal(key, std::move(object));
}

/// A quota that a binding does not fit: what upstream's webhook answers.
Rejection over_quota(const std::string& message) {
  constexpr int kForbiddenStatus = 403;
  Rejection rejection{Error{ErrorCode::kForbidden, message}};
  rejection.denial = Denial{kForbiddenStatus, Value::object({{"kind", "Status"},
                                                             {"apiVersion", "v1"},
                                                             {"metadata", Value::object()},
                                                             {"status", "Failure"},
                                                             {"message", message},
                                                             {"reason", "QuotaExceeded"},
                                                             {"code", kForbiddenStatus}})};
  return rejection;
}

/// What the fold refused of a deletion. One object may take others along (CRD-13): what has become of these, or of the
/// object since it was read, is no answer to the client. The deletion is computed again; a version or uid that the
/// client named is compared then (DEL-3).
Rejection deletion_refused(const StatusDetails& subject, const Refusal& refusal, const ObjectKey& key) {
  if (refusal.code == ErrorCode::kNotFound && refusal.about == key) return not_found(subject);
  if (refusal.code != ErrorCode::kNotFound && refusal.code != ErrorCode::kConflict) {
    return Error{refusal.code, refusal.reason};
  }
  Rejection rejection{conflict(subject)};
  rejection.superseded = true;
  return rejection;
}

/// What the fold refused, in kubectl's words.
Rejection refused_by_fold(const RequestContext& context, const WriteRequest& write, const Refusal& refusal,
                          const ObjectKey& key) {
  const StatusDetails subject = context.subject(key.name.str());
  if (refusal.settled) return Error{ErrorCode::kConflict, refusal.reason};
  if (refusal.address_taken) {
    // Another Service got the address that was proposed for this one.
    Rejection rejection{invalid(subject, {{"spec", "FieldValueInvalid", refusal.reason}})};
    rejection.denied = DeniedAction{context.verb, key};
    rejection.superseded = true;
    return rejection;
  }
  if (refusal.member_taken) return invalid(subject, {{"spec.id", "FieldValueDuplicate", refusal.reason}});
  const bool of_quota = refusal.about && refusal.about->type == type::kFederatedResourceQuota &&
                        key.type != type::kFederatedResourceQuota;
  if (of_quota && refusal.code == ErrorCode::kForbidden) return over_quota(refusal.reason);
  if (!is_object(write)) {
    if (write.form == WriteForm::kDeletion) return deletion_refused(subject, refusal, key);
    if (refusal.code != ErrorCode::kConflict) return Error{refusal.code, refusal.reason};
    Rejection rejection{conflict(subject)};
    rejection.superseded = write.retries_conflicts;
    return rejection;
  }
  // The reason may be about another object: only what is about this one is put in kubectl's words.
  const bool about_this = refusal.about == key;
  const bool about_namespace = refusal.about == ObjectKey{type::kNamespace, "", key.ns};
  if (about_namespace && refusal.code == ErrorCode::kNotFound) return without_namespace(key.ns.str());
  Error error{refusal.code, refusal.reason};
  if (about_this && refusal.code == ErrorCode::kAlreadyExists) error = already_exists(subject);
  if (about_this && refusal.code == ErrorCode::kNotFound) error = not_found(subject);
  if (about_this && refusal.code == ErrorCode::kConflict) error = conflict(subject);
  if (refusal.code == ErrorCode::kForbidden) {
    error = forbidden(subject, refusal.reason);
    if (about_namespace) error.causes = {being_terminated(key.ns.str())};
  }
  Rejection rejection{std::move(error)};
  rejection.subject = subject;
  // Gone meanwhile counts too: an apply creates the object then, and so does a PUT of some kinds.
  const bool faster = refusal.code == ErrorCode::kConflict || refusal.code == ErrorCode::kAlreadyExists ||
                      (about_this && refusal.code == ErrorCode::kNotFound);
  // Another pod was charged to a quota of this one's: the client knows nothing of that.
  const bool charged_meanwhile = refusal.code == ErrorCode::kConflict && refusal.about &&
                                 refusal.about->type == "resourcequotas" && key.type == "pods";
  rejection.superseded = (faster && write.retries_conflicts) || charged_meanwhile;
  return rejection;
}

/// The event that puts the object, sealed and in the version that is stored.
StageResult<Event> put_event(const Server& server, const RequestContext& context, const WriteRequest& write,
                             const ObjectKey& key, const WriteChanges& changes, Value object) {
  if (!context.kind->storage) object = written_in_version(*context.kinds->find_type(key.type), std::move(object));
  auto stored = sealed(server, write, context, std::move(object), key, changes.put != WriteChanges::Put::kCreate);
  if (!stored) return std::move(stored).error();
  if (changes.put == WriteChanges::Put::kCreate) return Event{ObjectCreated{key, std::move(stored).value()}};
  if (changes.put == WriteChanges::Put::kReplaceStatus) return Event{StatusUpdated{key, std::move(stored).value()}};
  return Event{ObjectUpdated{key, std::move(stored).value()}};
}

/// What the journal is to hold of an admitted object.
WriteChanges object_changes(const WriteRequest& write, Proposal& proposal) {
  WriteChanges changes;
  changes.object = std::move(proposal.object);
  if (proposal.old.is_null()) {
    changes.put = WriteChanges::Put::kCreate;
  } else if (proposal.outdated || changes.object != proposal.old) {  // META-3, CRD-11
    changes.put = write.form == WriteForm::kStatus ? WriteChanges::Put::kReplaceStatus : WriteChanges::Put::kReplace;
    // Always bound to what was read: the fold decides which write was first, and an unconditional update tries again.
    changes.expected = revision_of(proposal.old);
  }
  return changes;
}

Committed outcome_of(const WriteRequest& write, const ObjectKey& key, Value computed, const Outcome& outcome) {
  // As computed: nothing changed, or the last finalizer went and the object with it (DEL-6).
  Committed committed;
  committed.object = std::move(computed);
  committed.sealed = true;
  for (const auto& change : outcome.changes) {
    if (change->object != key) continue;
    if (write.form == WriteForm::kDeletion) {
      committed.object = change->latest();
      committed.gone = change->removed();
      return committed;
    }
    if (change->removed()) continue;
    committed.object = change->after;
    committed.change = change;
  }
  return committed;
}

/// An entry, and the object as it will be if the outcome does not hold it.
struct PreparedEntry {
  Entry entry;
  Value computed;
};

StageResult<PreparedEntry> prepare_entry(const Server& server, const RequestContext& context, const WriteRequest& write,
                                         const std::string& verb, const ObjectKey& key, WriteChanges changes) {
  PreparedEntry prepared{entry_for(server, context, verb), {}};
  Entry& entry = prepared.entry;
  if (changes.put == WriteChanges::Put::kNothing) {
    prepared.computed = std::move(changes.object);
  } else {
    auto event = put_event(server, context, write, key, changes, std::move(changes.object));
    if (!event) {
      Rejection rejection = std::move(event).error();
      rejection.denied = DeniedAction{context.verb, key};
      return rejection;
    }
    // What is created always changes something, so that the answer is in the outcome: the object can be freed here, by
    // the thread that made it, which is cheaper than by another.
    if (const auto* updated = std::get_if<ObjectUpdated>(&event.value())) prepared.computed = updated->value;
    if (const auto* status = std::get_if<StatusUpdated>(&event.value())) prepared.computed = status->value;
    if (changes.put != WriteChanges::Put::kCreate) entry.expects.push_back({key, changes.expected});
    entry.events.push_back(std::move(event).value());
  }
  for (Expect& expect : changes.expects) entry.expects.push_back(std::move(expect));
  for (Event& event : changes.events) entry.events.push_back(std::move(event));
  return prepared;
}

Rejection refusal_of(const Server& server, const RequestContext& context, const WriteRequest& write,
                     const Refusal& refusal, const ObjectKey& key) {
  Rejection rejection = refused_by_fold(context, write, refusal, key);
  if (rejection.superseded || rejection.error.code != ErrorCode::kAlreadyExists) return rejection;
  const auto existing = server.current(context, key);
  if (existing && deleting(existing.value())) {
    rejection.error.message = "object is being deleted: " + rejection.error.message;
  }
  return rejection;
}

/// Completes an object that is created, and rejects what the fold does not check: in the ephemera, that the namespace
/// does not exist. A dry run continues with everything folded that was acknowledged before it.
awaitable<StageResult<Value>> complete_creation(const Server& server, const RequestContext& context,
                                                const WriteRequest& write, Lane& lane, const Proposal& proposal,
                                                const ObjectKey& key, Value object) {
  const bool dry_run = write.parameters.dry_run;
  // Not before the owners of the fields are recorded: an apply that has neither of the two must not remove them.
  if (server.options.control_plane && is_propagation_policy(key.type)) {
    identify_policy(object, !context.kind->namespaced, random_uid(server));
  }
  if (key.type == "jobs.batch") {  // after the owners too: they do not own what is generated
    give_identity(server, object);
    generate_job_selector(object);
  }
  const bool checks_namespace = !key.ns.empty() && context.kind->ephemeral;
  const bool adds_token = !dry_run && server.options.tokens != nullptr && key.type == type::kSecret &&
                          serviceaccount_token::is_token_secret(object);
  if (dry_run) {
    give_identity(server, object);  // clients rely on finding it in the answer
    auto current = co_await when_current(server.store(*context.kind), lane);
    if (!current) co_return std::move(current).error();
  }
  if (checks_namespace || adds_token) {
    auto current = co_await when_current(server.objects.record(), lane);
    if (!current) co_return std::move(current).error();
  }
  if (checks_namespace) {
    auto allowed = check_namespace(server, context, proposal, key.ns.str());
    if (!allowed) co_return std::move(allowed).error();
  }
  if (!adds_token) co_return std::move(object);
  auto filled =
      with_token(server.objects, *server.options.tokens, server.options.authority_pem, key, std::move(object));
  if (!filled) co_return std::move(filled).error();
  co_return std::move(filled).value();
}

void note_outcome(ProducedRequestLife& produced, const EntryId& id, const Outcome& outcome) {
  if (!outcome.refusal) {
    produced.entry = SettlingEntry{id, outcome.offset, outcome.revision};
  } else {
    produced.settled = outcome.refusal->settled;
  }
}

}  // namespace

awaitable<StageResult<Committed>> commit(const Server& server, const RequestContext& context, const WriteRequest& write,
                                         Lane& lane, Proposal& proposal) {
  WriteChanges changes;
  if (write.changes) {
    if (!lane.entered) co_await continue_on(lane);
    auto computed = write.changes(proposal);
    if (!computed) co_return std::move(computed).error();
    changes = std::move(computed).value();
  } else {
    changes = object_changes(write, proposal);
  }
  ObjectKey key = write.key;
  if (changes.put == WriteChanges::Put::kCreate) {
    key.name = changes.object["metadata"]["name"].str();
    auto completed = co_await complete_creation(server, context, write, lane, proposal, key, std::move(changes.object));
    if (!completed) co_return std::move(completed).error();
    changes.object = std::move(completed).value();
    if (server.options.admit_pod && key.type == "pods") {
      if (!lane.entered) co_await continue_on(lane);
      auto charged = charge_quotas(server, context, key, changes);
      if (!charged) co_return std::move(charged).error();
    }
  }
  const bool changes_nothing = changes.put == WriteChanges::Put::kNothing && changes.events.empty();
  Committed as_computed;
  if (write.parameters.dry_run || changes_nothing) {
    as_computed.object = changes.object;
    as_computed.gone = changes.gone;
  }
  if (changes_nothing) co_return as_computed;

  Value requested;
  if (changes.put != WriteChanges::Put::kNothing && !context.kind->conversion.is_null() && !context.kind->storage) {
    requested = changes.object;
    auto stored = co_await in_stored_version(server, context, lane, std::move(changes.object));
    if (!stored) co_return std::move(stored).error();
    changes.object = std::move(stored).value();
  }
  if (changes.put == WriteChanges::Put::kCreate) {
    auto served = check_definition_serves(server, context, proposal);
    if (!served) co_return std::move(served).error();
  }
  auto prepared = prepare_entry(server, context, write, proposal.verb, key, std::move(changes));
  if (!prepared) co_return std::move(prepared).error();
  Store& store = server.store(*context.kind);
  if (write.parameters.dry_run) {
    auto tried = co_await try_out(server, context, lane, store, prepared.value().entry);
    co_await continue_on(lane);
    if (!tried) co_return std::move(tried).error();
    if (tried.value().refusal) co_return refusal_of(server, context, write, *tried.value().refusal, key);
    co_return as_computed;
  }
  LargeRequests::Permit turn;
  if (lane.large != nullptr) turn = co_await turn_to_append(*server.large);
  if (context.audit != nullptr && prepared.value().entry.id.empty()) {
    prepared.value().entry.id = new_entry_id(*server.options.random);
  }
  const EntryId entry_id = prepared.value().entry.id;
  auto outcome = co_await append(server, context, lane, store, prepared.value().entry);
  turn = nullptr;
  if (context.audit != nullptr && outcome) context.audit->committed(context, key, entry_id, outcome.value());
  if (context.produced != nullptr && outcome) note_outcome(*context.produced, entry_id, outcome.value());
  if (!outcome || outcome.value().refusal) co_await continue_on(lane);
  if (!outcome) {
    const char* verb = write.form == WriteForm::kDeletion ? "deleting " : "storing ";
    co_return outcome.error().context(verb + to_string(key));
  }
  if (outcome.value().refusal) co_return refusal_of(server, context, write, *outcome.value().refusal, key);
  Committed committed = outcome_of(write, key, std::move(prepared.value().computed), outcome.value());
  if (!requested.is_null()) {
    Value shown = co_await as_committed(server, context, lane, std::move(requested), committed);
    committed.object = std::move(shown);
    committed.sealed = false;
    committed.change = nullptr;
  }
  co_return committed;
}

}  // namespace shiplog::api
