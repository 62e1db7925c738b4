#include <utility>

#include "events/base/check.h"
#include "events/base/json.h"
#include "events/fold/fold.h"
#include "services/api/auth/token_secret.h"
#include "services/api/auth/token_signer.h"
#include "services/api/pipeline/admission_input.h"
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

/// The namespace does not exist: the answer is about that.
Rejection without_namespace(const std::string& ns) {
  const Subject subject{"", "Namespace", "namespaces", ns};
  Rejection rejection{not_found(subject)};
  rejection.subject = subject;
  return rejection;
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

/// The object as it is stored. Sealed text must not come from a client: a copy of one, from the history or a backup,
/// would be opened for everybody who can read the object that it was written into.
Result<Value> sealed(const Server& server, const WriteRequest& write, const RequestContext& context, Value object,
                     const ObjectKey& key, bool exists) {
  Vault* vault = server.objects.vault();
  if (vault == nullptr) return object;
  const bool carries_others = key.type.ends_with(".work.karmada.io");
  Value stored;
  if (exists && carries_others && is_object(write)) {
    SHIPLOG_TRY(const auto json, server.objects.find_json(*context.kind, key));
    if (!json) return not_found(context.subject(key.name));
    SHIPLOG_TRY(stored, parse_stored_json(*json));
  }
  if (is_object(write)) {
    SHIPLOG_TRY(object, vault->seal_like(stored, std::move(object)));
  }
  return vault->seal(key, std::move(object));
}

/// What the fold refused, in kubectl's words.
Rejection refused_by_fold(const RequestContext& context, const WriteRequest& write, const Refusal& refusal,
                          const ObjectKey& key) {
  const Subject subject = context.subject(key.name);
  if (is_address_taken(refusal)) {
    // Another Service got the address that was proposed for this one.
    Rejection rejection{invalid(subject, {{"spec", "FieldValueInvalid", refusal.reason}})};
    rejection.denied = DeniedAction{context.verb, key};
    rejection.superseded = true;
    return rejection;
  }
  if (!is_object(write)) {
    if (refusal.code == ErrorCode::kNotFound && write.form == WriteForm::kDeletion) return not_found(subject);
    if (refusal.code != ErrorCode::kConflict) return Error{refusal.code, refusal.reason};
    Rejection rejection{conflict(subject)};
    rejection.superseded = write.retries_conflicts;
    return rejection;
  }
  if (refusal.code == ErrorCode::kNotFound && refusal.reason.starts_with("namespaces ")) {
    return without_namespace(key.ns);
  }
  // The reason may be about another object (the namespace): only what is about this one is put in kubectl's words.
  const bool about_this = refusal.reason.starts_with(to_string(key));
  Error error{refusal.code, refusal.reason};
  if (about_this && refusal.code == ErrorCode::kAlreadyExists) error = already_exists(subject);
  if (about_this && refusal.code == ErrorCode::kNotFound) error = not_found(subject);
  if (about_this && refusal.code == ErrorCode::kConflict) error = conflict(subject);
  if (refusal.code == ErrorCode::kForbidden) {
    error = forbidden(subject, refusal.reason);
    if (refusal.reason.ends_with("because it is being terminated")) error.causes = {being_terminated(key.ns)};
  }
  Rejection rejection{std::move(error)};
  rejection.subject = subject;
  const bool faster = refusal.code == ErrorCode::kConflict || refusal.code == ErrorCode::kAlreadyExists;
  rejection.superseded = faster && write.retries_conflicts;
  return rejection;
}

/// The event that puts the object, sealed and in the version that is stored.
StageResult<Event> put_event(const Server& server, const RequestContext& context, const WriteRequest& write,
                             const ObjectKey& key, const WriteChanges& changes, Value object) {
  if (!context.kind->storage) object = in_version(*context.kinds->find_type(key.type), std::move(object));
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
  } else if (changes.object != proposal.old) {  // META-3
    changes.put = write.form == WriteForm::kStatus ? WriteChanges::Put::kReplaceStatus : WriteChanges::Put::kReplace;
    // Always bound to what was read: the fold decides who was first, and an unconditional update tries again.
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
  const bool creates = changes.put == WriteChanges::Put::kCreate;
  if (creates) key.name = changes.object["metadata"]["name"].str();
  const bool dry_run = write.parameters.dry_run;
  const bool checks_namespace = creates && !key.ns.empty() && (context.kind->ephemeral || dry_run);
  const bool adds_token = creates && !dry_run && server.options.tokens != nullptr && key.type == type::kSecret &&
                          serviceaccount_token::is_token_secret(changes.object);

  if (creates && dry_run) {
    // What the fold would have filled in; clients rely on finding it.
    std::string uid = uid_from(new_entry_id(*server.options.random), 0);
    uid[14] = '4';
    changes.object.edit("metadata").set("uid", std::move(uid));
    changes.object.edit("metadata").set("creationTimestamp", rfc3339(server.options.clock->now()));
    auto current = co_await when_current(server.store(*context.kind), lane);
    if (!current) co_return std::move(current).error();
    const auto stored = server.objects.find_json(*context.kind, key);
    if (stored && stored.value()) {
      Rejection rejection{already_exists(context.subject(key.name))};
      rejection.subject = context.subject(key.name);
      co_return rejection;
    }
  }
  if (checks_namespace || adds_token) {
    auto current = co_await when_current(server.objects.record(), lane);
    if (!current) co_return std::move(current).error();
  }
  if (checks_namespace) {
    auto allowed = check_namespace(server, context, proposal, key.ns);
    if (!allowed) co_return std::move(allowed).error();
  }
  if (adds_token) {
    auto filled = with_token(server.objects, *server.options.tokens, server.options.authority_pem, key,
                             std::move(changes.object));
    if (!filled) co_return std::move(filled).error();
    changes.object = std::move(filled).value();
  }
  if (dry_run || (changes.put == WriteChanges::Put::kNothing && changes.events.empty())) {
    Committed committed;
    committed.object = std::move(changes.object);
    committed.gone = changes.gone;
    co_return committed;
  }

  Entry entry = entry_for(server, context, proposal.verb);
  Value computed;
  if (changes.put != WriteChanges::Put::kNothing) {
    auto event = put_event(server, context, write, key, changes, std::move(changes.object));
    if (!event) {
      Rejection rejection = std::move(event).error();
      rejection.denied = DeniedAction{context.verb, key};
      co_return rejection;
    }
    // What is created always changes something, so that the answer is in the outcome: the object can be freed here, by
    // the thread that made it, which is cheaper than by another.
    if (const auto* updated = std::get_if<ObjectUpdated>(&event.value())) computed = updated->value;
    if (const auto* status = std::get_if<StatusUpdated>(&event.value())) computed = status->value;
    if (!creates) entry.expects.push_back({key, changes.expected});
    entry.events.push_back(std::move(event).value());
  } else {
    computed = std::move(changes.object);
  }
  for (Expect& expect : changes.expects) entry.expects.push_back(std::move(expect));
  for (Event& event : changes.events) entry.events.push_back(std::move(event));
  Store& store = server.store(*context.kind);
  LargeRequests::Place turn;
  if (lane.large != nullptr) turn = co_await turn_to_append(*server.large);
  auto outcome = co_await append(server, context, lane, store, entry);
  turn = nullptr;
  if (!outcome || outcome.value().refusal) co_await continue_on(lane);
  if (!outcome) {
    const char* what = write.form == WriteForm::kDeletion ? "deleting " : "storing ";
    co_return outcome.error().context(what + to_string(key));
  }
  if (const auto& refusal = outcome.value().refusal) {
    Rejection rejection = refused_by_fold(context, write, *refusal, key);
    if (!rejection.superseded && rejection.error.code == ErrorCode::kAlreadyExists) {
      const auto there = server.current(context, key);
      if (there && deleting(there.value())) {
        rejection.error.message = "object is being deleted: " + rejection.error.message;
      }
    }
    co_return rejection;
  }
  co_return outcome_of(write, key, std::move(computed), outcome.value());
}

}  // namespace shiplog::api
