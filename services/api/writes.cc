#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "projections/objects/object_query.h"
#include "services/api/admission/admission.h"
#include "services/api/apply/managed_fields.h"
#include "services/api/auth/claims.h"
#include "services/api/auth/gate.h"
#include "services/api/certificates.h"
#include "services/api/context.h"
#include "services/api/patch/patch.h"
#include "services/api/versions/versions.h"
#include "services/api/webhooks/ask.h"

namespace shiplog::api {
namespace {

/// A write that names no version is computed again this often when somebody else was faster: each time one of those
/// who write the same object is done, so this is how many may do so at once without one of them hearing of it (PT-6).
constexpr int kTries = 100;

std::string random_suffix(Random& random) {
  // Kubernetes' alphabet: no vowels, and no digits that look like letters.
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int index = 0; index < 5; ++index) suffix += kAlphabet[random_below(random, kAlphabet.size())];
  return suffix;
}

/// The kind whose form a write is checked and tracked in: a view's is that of what is stored.
const Kind& written_kind(const Context& context) {
  return context.kind->is_view() ? *context.kinds->find_type(context.kind->type()) : *context.kind;
}

Admission admission_for(Server& server, const Context& context, const WriteOptions& options) {
  Admission admission;
  admission.kinds = context.kinds.get();
  admission.kind = &written_kind(context);
  admission.field_validation = options.field_validation;
  admission.name_suffix = random_suffix(*server.options.random);
  admission.ns = context.path.ns;
  admission.name = context.path.name;
  admission.now = server.options.clock->now();
  admission.subresource = context.path.subresource;
  if (context.kind->type() == kCertificateRequests) admission.user = user_info(context.user);
  return admission;
}

FieldWriter field_writer_for(const Server& server, const Context& context, const WriteOptions& options) {
  return {manager_of(options.field_manager, context.request.headers.get("User-Agent")),
          written_kind(context).api_version(), context.path.subresource, server.options.clock->now()};
}

/// Who owns which field of `object`, now that `before` has become that. `given`: metadata.managedFields as the client
/// sent it, which admission has set aside.
Value tracked(const Server& server, const Context& context, const WriteOptions& options, const Value& before,
              Value object, const Value& given) {
  if (!given.is_null()) object.edit("metadata").set("managedFields", given);
  return track_update(field_writer_for(server, context, options), written_kind(context), before, std::move(object));
}

/// Answers and leaves a trace of what was not allowed.
void refuse(const ServerPtr& server, const ContextPtr& context, const Error& error) {
  server->record_denial(context, error);
  server->fail(context, error);
}

/// Answers what a webhook said, and leaves a trace of it.
void deny(const ServerPtr& server, const ContextPtr& context, const Denial& denial) {
  server->record_denial(context, Error{ErrorCode::kForbidden, denial.message()});
  server->answer_status(context, denial.http_status, denial.status);
}

void add_warnings(Context& context, std::vector<std::string> warnings) {
  std::ranges::move(warnings, std::back_inserter(context.warnings));
}

/// Kinds and fields that are stored and served, but that no service acts on yet: whoever writes one is told so.
void warn_of_idle_parts(Context& context, const Value& object) {
  static const std::map<std::string, const char*> kIdle = {
      {"flowschemas.flowcontrol.apiserver.k8s.io", "requests are not queued by it"},
      {"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", "requests are not queued by it"},
      {"overridepolicies.policy.karmada.io", "its overrides are not applied to what members get"},
      {"clusteroverridepolicies.policy.karmada.io", "its overrides are not applied to what members get"},
      {"workloadrebalancers.apps.karmada.io", "nothing is rescheduled"},
      {"federatedhpas.autoscaling.karmada.io", "nothing is scaled"},
      {"cronfederatedhpas.autoscaling.karmada.io", "nothing is scaled"},
      {"multiclusterservices.networking.karmada.io", "no endpoints are spread"},
      {"multiclusteringresses.networking.karmada.io", "no traffic is routed"},
      {"resourceinterpretercustomizations.config.karmada.io", "kinds are interpreted as built in"},
      {"resourceinterpreterwebhookconfigurations.config.karmada.io", "no webhook is called"},
      {"resourceregistries.search.karmada.io", "nothing is cached for search"},
      {"remedies.remedy.karmada.io", "no action is taken"},
      {"karmadas.operator.karmada.io", "no control plane is installed"},
      {"serviceexports.multicluster.x-k8s.io", "no service is exported"},
      {"serviceimports.multicluster.x-k8s.io", "no service is imported"}};
  const std::string type = context.kind->type();
  if (const auto idle = kIdle.find(type); idle != kIdle.end()) {
    context.warnings.push_back(context.kind->kind + " is stored, but this version does not act on it: " + idle->second);
  }
  const Value& spec = object["spec"];
  if (type == "apiservices.apiregistration.k8s.io" && !spec["service"].is_null()) {
    context.warnings.emplace_back("APIService is stored, but requests are not passed on to its service");
  }
  const auto warn = [&](bool set, const char* field, const char* instead) {
    if (set)
      context.warnings.push_back(std::string{field} + " is stored, but this version does not act on it: " + instead);
  };
  if (type == type::kPropagationPolicy || type == type::kClusterPropagationPolicy) {
    warn(spec["propagateDeps"].as_bool(), "spec.propagateDeps",
         "what the template refers to needs a policy of its own");
    warn(spec["preemption"].as_string() == "Always", "spec.preemption", "claimed templates stay with their policy");
    warn(spec["activationPreference"].as_string() == "Lazy", "spec.activationPreference",
         "changes take effect at once");
    warn(!spec["failover"].is_null(), "spec.failover", "applications are not moved because they are unhealthy");
  }
  warn(type == type::kSecret && object["type"].as_string() == "kubernetes.io/service-account-token",
       "type kubernetes.io/service-account-token", "no token is filled in; kubectl create token issues one");
  warn(type == type::kCluster && spec["syncMode"].as_string() == "Pull", "spec.syncMode Pull",
       "the control plane calls the member, no agent is served");
}

/// Clients look for this one (NSP-4).
FieldCause being_terminated(const std::string& ns) {
  return {"metadata.namespace", "NamespaceTerminating", "namespace " + ns + " is being terminated"};
}

/// The namespace of `key` is not there: the answer is about that.
void fail_without_namespace(const ServerPtr& server, const ContextPtr& context, const std::string& ns) {
  const Subject subject{"", "Namespace", "namespaces", ns};
  server->fail(context, not_found(subject), subject);
}

/// What the fold refused, in kubectl's words.
Error refused(const Context& context, const Refusal& refusal, const ObjectKey& key) {
  const Subject subject = context.subject(key.name);
  // The reason may be about another object (the namespace): only what is about this one is put in kubectl's words.
  const bool about_this = refusal.reason.starts_with(to_string(key));
  if (about_this && refusal.code == ErrorCode::kAlreadyExists) return already_exists(subject);
  if (about_this && refusal.code == ErrorCode::kNotFound) return not_found(subject);
  if (about_this && refusal.code == ErrorCode::kConflict) return conflict(subject);
  if (refusal.code == ErrorCode::kForbidden) {
    Error error = forbidden(subject, refusal.reason);
    if (refusal.reason.ends_with("because it is being terminated")) error.causes = {being_terminated(key.ns)};
    return error;
  }
  return Error{refusal.code, refusal.reason};
}

/// The revision a client says it read; 0: none given.
Result<Revision> stated_revision(const Value& object) {
  const Value& stated = object["metadata"]["resourceVersion"];
  if (stated.is_empty()) return Revision{};
  uint64_t revision = 0;
  for (const char digit : stated.as_string()) {
    if (digit < '0' || digit > '9') {
      return Error{ErrorCode::kInvalid,
                   "metadata.resourceVersion: Invalid value: \"" + stated.str() + "\"",
                   {{"metadata.resourceVersion", "FieldValueInvalid", "Invalid value: \"" + stated.str() + "\""}}};
    }
    revision = revision * 10 + static_cast<uint64_t>(digit - '0');
  }
  return Revision{revision};
}

Revision revision_of(const Value& object) {
  const auto revision = stated_revision(object);
  return revision ? revision.value() : Revision{};
}

ObjectKey key_for(const Context& context, const Value& object) {
  return {context.kind->type(), context.kind->namespaced ? context.path.ns : "", object["metadata"]["name"].str()};
}

bool is_status_write(const ResourcePath& path) {
  return path.subresource == "status" || path.subresource == "approval";
}

/// What the writing verbs have in common behind admission: seal, append, answer.
struct Write {
  std::string verb;
  int success = 200;
  bool status = false;                            // through the status subresource
  std::function<void(const Error&)> on_conflict;  // somebody was faster
};

/// A write on its way through the journal.
struct Sent {
  ServerPtr server;
  ContextPtr context;
  Write write;
  ObjectKey key;
  Value object;
};

/// The change whose JSON, written by the fold, is the answer as it stands; nullptr when the answer takes some work.
const Change* shown_as_stored(const Sent& sent, const Result<Outcome>& outcome) {
  const Accept& accept = sent.context->accept;
  if (!outcome || outcome.value().refusal || !sent.context->kind->storage) return nullptr;
  if (accept.form != Accept::Form::kObject || accept.yaml || accept.pretty) return nullptr;
  for (const auto& change : outcome.value().changes) {
    if (change->object != sent.key || change->removed() || change->json == nullptr) continue;
    const bool sealed = sent.server->options.vault != nullptr && Vault::may_hold_sealed(*change->json);
    return sealed ? nullptr : change.get();
  }
  return nullptr;
}

void answer(const Sent& sent, const Result<Outcome>& outcome) {
  const auto& [server, context, write, key, object] = sent;
  if (!outcome) return server->fail(context, outcome.error().context("storing " + to_string(key)));
  if (const auto& refusal = outcome.value().refusal) {
    Error error = refused(*context, *refusal, key);
    const bool faster = error.code == ErrorCode::kConflict || error.code == ErrorCode::kAlreadyExists;
    if (faster && write.on_conflict) return write.on_conflict(error);
    if (error.code == ErrorCode::kNotFound && refusal->reason.starts_with("namespaces ")) {
      return fail_without_namespace(server, context, key.ns);
    }
    if (error.code == ErrorCode::kAlreadyExists) {
      const auto there = server->current(*context, key);
      if (there && deleting(there.value())) error.message = "object is being deleted: " + error.message;
    }
    return refuse(server, context, error);
  }
  Value stored = object;  // of an update: nothing changed, or the last finalizer went and the object with it (DEL-6)
  for (const auto& change : outcome.value().changes) {
    if (change->object == key && !change->removed()) stored = change->after;
  }
  if (server->options.vault != nullptr) {
    auto opened = server->options.vault->open(std::move(stored));
    if (!opened) return server->fail(context, opened.error());
    stored = std::move(opened).value();
  }
  server->answer(context, write.success, stored);
}

void append_object(const ServerPtr& server, const ContextPtr& context, const Write& write, const ObjectKey& key,
                   Revision expected, Value object) {
  if (!context->kind->storage) object = in_version(*context->kinds->find_type(key.type), std::move(object));
  if (server->options.vault != nullptr) {
    auto sealed = server->options.vault->seal(key, std::move(object));
    if (!sealed) return server->fail(context, sealed.error());
    object = std::move(sealed).value();
  }
  Entry entry = server->entry_for(*context, write.verb);
  if (expected != Revision{}) entry.expects = {{key, expected}};
  // What is created always changes something, so that the answer is in the outcome: the object can be freed here, by
  // the thread that made it, which is cheaper than by another.
  const bool creates = expected == Revision{};
  const Value sent = creates ? Value{} : object;
  if (creates) {
    entry.events = {ObjectCreated{key, std::move(object)}};
  } else if (write.status) {
    entry.events = {StatusUpdated{key, std::move(object)}};
  } else {
    entry.events = {ObjectUpdated{key, std::move(object)}};
  }
  Store& store = server->store(*context->kind);
  auto sent_write = std::make_shared<const Sent>(Sent{server, context, write, key, sent});
  store.replica().append(std::move(entry), [sent_write = std::move(sent_write)](Result<Outcome> outcome) {
    if (const Change* stored = shown_as_stored(*sent_write, outcome)) {
      return sent_write->server->answer_json(sent_write->context, sent_write->write.success, *stored->json);
    }
    // Rendering may take its time: not on the fold thread.
    sent_write->server->workers->post([sent_write, outcome = std::move(outcome)] { answer(*sent_write, outcome); });
  });
}

/// A replacement on its way to the journal. `applied`: the object already says who owns what.
struct Update {
  WriteOptions options;
  Value old;
  Value object;
  Write write;
  std::vector<std::string> duplicates = {};  // keys that stood twice in the body
  bool applied = false;
  Value managed = {};                      // metadata.managedFields as the client sent it
  std::vector<std::string> warnings = {};  // from before it was admitted
};

void store_update(const ServerPtr& server, const ContextPtr& context, const Update& update, Value wanted) {
  if (update.options.dry_run || wanted == update.old) {
    return server->answer(context, update.write.success, wanted);  // META-3
  }
  // Always bound to what was read: the fold says who was first, and an unconditional update simply tries again.
  append_object(server, context, update.write, context->key(), revision_of(update.old), std::move(wanted));
}

void admit_and_store(const ServerPtr& server, const ContextPtr& context, Update update) {
  const WriteOptions& options = update.options;
  Admission admission = admission_for(*server, *context, options);
  admission.duplicate_fields = std::move(update.duplicates);
  const Value& old = update.old;
  auto admitted = update.write.status ? admit_status_update(admission, old, std::move(update.object))
                                      : admit_update(admission, old, std::move(update.object));
  if (!admitted) return refuse(server, context, admitted.error());
  context->warnings = std::move(update.warnings);
  add_warnings(*context, std::move(admission.warnings));
  warn_of_idle_parts(*context, admitted.value());
  Value wanted = std::move(admitted).value();
  if (const auto denied = refuse_write(*server, *context, context->key(), old, wanted)) {
    return refuse(server, context, *denied);
  }
  if (const auto denied = refuse_certificate(*server, *context, old, wanted)) return refuse(server, context, *denied);
  if (update.applied) {
    wanted.edit("metadata").set("managedFields", update.managed);
  } else {
    wanted = tracked(*server, *context, options, old, std::move(wanted), update.managed);
  }
  if (!must_ask(*server, *context, false, "UPDATE", context->path.subresource)) {
    return store_update(server, context, update, std::move(wanted));
  }
  HookedAction action = action_of(*context, "UPDATE", options.dry_run);
  action.object = wanted;
  action.old = old;
  ask_validating(server, context, std::move(action), [server, context, update, wanted](Hooked hooked) {
    add_warnings(*context, std::move(hooked.warnings));
    if (hooked.denial) return deny(server, context, *hooked.denial);
    store_update(server, context, update, wanted);
  });
}

/// The body of a write to a view in the form of what is stored; any other as it is.
Result<Value> stored_form(Server& server, const Context& context, const WriteOptions& options,
                          std::vector<std::string>& duplicates, Value object, std::vector<std::string>& warnings,
                          bool creating) {
  if (!context.kind->is_view()) return object;
  Admission admission = admission_for(server, context, options);
  admission.kind = context.kind;
  if (creating) admission.name.clear();
  admission.duplicate_fields = std::exchange(duplicates, {});
  SHIPLOG_TRY(object, admit_view(admission, std::move(object), creating));
  std::ranges::move(admission.warnings, std::back_inserter(warnings));
  return in_version(written_kind(context), std::move(object));
}

/// Where it may block.
void update_from(const ServerPtr& server, const ContextPtr& context, Update update) {
  const auto stated = stated_revision(update.object);
  if (!stated) return server->fail(context, invalid(context->subject(), stated.error().causes));
  if (stated.value() != Revision{} && stated.value() != revision_of(update.old)) {
    return server->fail(context, conflict(context->subject()));
  }
  update.managed = update.object["metadata"]["managedFields"];
  if (!update.applied) {  // what was applied was put into the stored form before
    auto stored = stored_form(*server, *context, update.options, update.duplicates, std::move(update.object),
                              update.warnings, false);
    if (!stored) return refuse(server, context, stored.error());
    update.object = std::move(stored).value();
  }
  if (!must_ask(*server, *context, true, "UPDATE", context->path.subresource)) {
    return admit_and_store(server, context, std::move(update));
  }
  Admission admission = admission_for(*server, *context, update.options);
  admission.duplicate_fields = std::move(update.duplicates);
  auto draft = update.write.status ? draft_status_update(admission, update.old, std::move(update.object))
                                   : draft_update(admission, update.old, std::move(update.object));
  if (!draft) return refuse(server, context, draft.error());
  update.duplicates.clear();
  std::ranges::move(admission.warnings, std::back_inserter(update.warnings));
  HookedAction action = action_of(*context, "UPDATE", update.options.dry_run);
  action.object = std::move(draft).value();
  action.old = update.old;
  ask_mutating(server, context, std::move(action), [server, context, update](Hooked hooked) mutable {
    std::ranges::move(hooked.warnings, std::back_inserter(update.warnings));
    context->warnings = update.warnings;
    if (hooked.denial) return deny(server, context, *hooked.denial);
    update.object = std::move(hooked.object);
    admit_and_store(server, context, std::move(update));
  });
}

Result<Value> patched(const Context& context, const Value& old, const std::string& type, const Value& patch) {
  if (type == "application/json-patch+json") return apply_json_patch(old, patch);
  if (type == "application/merge-patch+json") return apply_merge_patch(old, patch);
  if (context.kind->schema == nullptr) return Error{ErrorCode::kInternal, "the kind has no schema"};
  return apply_strategic_merge_patch(old, patch, *context.kind->schema);
}

void try_patch(const ServerPtr& server, const ContextPtr& context, const WriteOptions& options, const std::string& type,
               const Value& patch, int tries) {
  server->when_current(context, [=] {
    auto old = server->current(*context, context->key());
    if (!old) return server->fail(context, old.error());
    auto object = patched(*context, in_version(*context->kind, old.value()), type, patch);
    if (!object) return server->fail(context, object.error());
    Write write{.verb = "patch", .success = 200, .status = is_status_write(context->path), .on_conflict = {}};
    // A patch that names a version means that version: its author, not we, tries again.
    if (tries > 1 && patch["metadata"]["resourceVersion"].is_empty()) {
      write.on_conflict = [=](const Error&) { try_patch(server, context, options, type, patch, tries - 1); };
    }
    update_from(server, context,
                {.options = options, .old = old.value(), .object = std::move(object).value(), .write = write});
  });
}

/// Goes on when there is such a namespace; answers NotFound when there is none.
void in_namespace(const ServerPtr& server, const ContextPtr& context, const std::string& name,
                  std::function<void()> then) {
  const Kind* namespaces = context->kinds->find_type(type::kNamespace);
  server->options.record->when_current([=](Result<void> current) mutable {
    if (!current) return server->fail(context, current.error());
    server->workers->post([=]() mutable {
      auto ns = server->options.record->read([&](const View& view) {
        return ObjectQuery{view}.get({namespaces->type(), "", name});
      });
      if (!ns) return server->fail(context, ns.error());
      if (!ns.value()) return fail_without_namespace(server, context, name);
      const auto object = parse_stored_json(ns.value()->json);
      if (!object) return server->fail(context, object.error());
      if (deleting(object.value())) {
        Error error = forbidden(context->subject(), "unable to create new content in namespace " + name +
                                                        " because it is being terminated");
        error.causes = {being_terminated(name)};
        return refuse(server, context, error);
      }
      then();
    });
  });
}

/// A new object on its way to the journal. `applied`: it already says who owns what.
struct Creation {
  WriteOptions options;
  Value object;
  Write write;
  std::vector<std::string> duplicates = {};  // keys that stood twice in the body
  bool applied = false;
  Value managed = {};                      // metadata.managedFields as the client sent it
  std::vector<std::string> warnings = {};  // from before it was admitted
};

void store_new(const ServerPtr& server, const ContextPtr& context, const Creation& creation, Value object) {
  const ObjectKey key = key_for(*context, object);
  if (creation.options.dry_run) {
    // What the fold would have filled in; clients rely on finding it.
    object.edit("metadata").set("uid", uid_from(new_entry_id(*server->options.random), 0));
    object.edit("metadata").set("creationTimestamp", rfc3339(server->options.clock->now()));
    return server->when_current(context, [server, context, key, object = std::move(object)] {
      if (server->current(*context, key)) return server->fail(context, already_exists(context->subject(key.name)));
      if (key.ns.empty()) return server->answer(context, 201, object);
      in_namespace(server, context, key.ns, [server, context, object] { server->answer(context, 201, object); });
    });
  }
  if (!context->kind->ephemeral || key.ns.empty()) {
    return append_object(server, context, creation.write, key, Revision{}, std::move(object));
  }
  const auto create = [server, context, write = creation.write, key, object = std::move(object)] {
    append_object(server, context, write, key, Revision{}, object);
  };
  // Namespaces live in the other journal: what is ephemeral is checked here, as the fold cannot.
  in_namespace(server, context, key.ns, create);
}

void admit_and_create(const ServerPtr& server, const ContextPtr& context, Creation creation) {
  const WriteOptions& options = creation.options;
  Admission admission = admission_for(*server, *context, options);
  if (context->request.method == "POST") admission.name.clear();  // the path has none
  admission.duplicate_fields = std::move(creation.duplicates);
  context->path.name = creation.object["metadata"]["name"].str();  // what is wrong with it is said with its name
  auto admitted = admit_create(admission, std::move(creation.object));
  if (!admitted) return refuse(server, context, admitted.error());
  context->warnings = std::move(creation.warnings);
  add_warnings(*context, std::move(admission.warnings));
  warn_of_idle_parts(*context, admitted.value());
  Value object = std::move(admitted).value();
  const ObjectKey key = key_for(*context, object);
  if (const auto denied = refuse_write(*server, *context, key, {}, object)) return refuse(server, context, *denied);
  if (const auto denied = refuse_certificate(*server, *context, {}, object)) return refuse(server, context, *denied);
  if (creation.applied) {
    object.edit("metadata").set("managedFields", creation.managed);
  } else {
    object = tracked(*server, *context, options, Value{}, std::move(object), creation.managed);
  }
  if (!must_ask(*server, *context, false, "CREATE", "")) {
    return store_new(server, context, creation, std::move(object));
  }
  server->workers->post([server, context, creation = std::move(creation), key, object = std::move(object)] {
    context->path.name = key.name;
    HookedAction action = action_of(*context, "CREATE", creation.options.dry_run);
    action.object = object;
    ask_validating(server, context, std::move(action), [server, context, creation, object](Hooked hooked) {
      add_warnings(*context, std::move(hooked.warnings));
      if (hooked.denial) return deny(server, context, *hooked.denial);
      store_new(server, context, creation, object);
    });
  });
}

/// Lets the mutating webhooks at it first. Where it may block.
void create_past_webhooks(const ServerPtr& server, const ContextPtr& context, Creation creation) {
  Admission admission = admission_for(*server, *context, creation.options);
  if (context->request.method == "POST") admission.name.clear();
  admission.duplicate_fields = std::move(creation.duplicates);
  context->path.name = creation.object["metadata"]["name"].str();
  auto draft = draft_create(admission, std::move(creation.object));
  if (!draft) return refuse(server, context, draft.error());
  creation.duplicates.clear();
  std::ranges::move(admission.warnings, std::back_inserter(creation.warnings));
  context->path.name = draft.value()["metadata"]["name"].str();
  HookedAction action = action_of(*context, "CREATE", creation.options.dry_run);
  action.object = std::move(draft).value();
  ask_mutating(server, context, std::move(action), [server, context, creation](Hooked hooked) mutable {
    std::ranges::move(hooked.warnings, std::back_inserter(creation.warnings));
    context->warnings = creation.warnings;
    if (hooked.denial) return deny(server, context, *hooked.denial);
    creation.object = std::move(hooked.object);
    admit_and_create(server, context, std::move(creation));
  });
}

void create_from(const ServerPtr& server, const ContextPtr& context, Creation creation) {
  creation.managed = creation.object["metadata"]["managedFields"];
  if (!creation.applied) {
    auto stored = stored_form(*server, *context, creation.options, creation.duplicates, std::move(creation.object),
                              creation.warnings, true);
    if (!stored) return refuse(server, context, stored.error());
    creation.object = std::move(stored).value();
  }
  if (!must_ask(*server, *context, true, "CREATE", "")) return admit_and_create(server, context, std::move(creation));
  server->workers->post(
      [server, context, creation = std::move(creation)] { create_past_webhooks(server, context, creation); });
}

/// Kinds that a PUT creates when they are not there, unless it says which one it means (CRU-3).
bool creates_on_update(const Context& context, const Value& object) {
  if (!context.path.subresource.empty()) return false;
  if (!object["metadata"]["uid"].is_empty() || !object["metadata"]["resourceVersion"].is_empty()) return false;
  const std::string type = context.kind->type();
  static constexpr const char* kTypes[] = {"leases.coordination.k8s.io",
                                           "events",
                                           "roles.rbac.authorization.k8s.io",
                                           "rolebindings.rbac.authorization.k8s.io",
                                           "clusterroles.rbac.authorization.k8s.io",
                                           "clusterrolebindings.rbac.authorization.k8s.io",
                                           "endpoints",
                                           "endpointslices.discovery.k8s.io",
                                           "services",
                                           "limitranges"};
  return std::ranges::find(kTypes, type) != std::end(kTypes);
}

void try_update(const ServerPtr& server, const ContextPtr& context, const WriteOptions& options, const Value& object,
                const std::vector<std::string>& duplicates, int tries) {
  server->when_current(context, [=] {
    auto old = server->current(*context, context->key());
    if (!old && old.error().code == ErrorCode::kNotFound && creates_on_update(*context, object)) {
      Write write{.verb = "create", .success = 201, .status = false, .on_conflict = {}};
      if (tries > 1) {
        write.on_conflict = [=](const Error&) { try_update(server, context, options, object, duplicates, tries - 1); };
      }
      return create_from(server, context,
                         {.options = options, .object = object, .write = write, .duplicates = duplicates});
    }
    if (!old) return server->fail(context, old.error());
    Write write{.verb = "update", .success = 200, .status = is_status_write(context->path), .on_conflict = {}};
    if (tries > 1 && object["metadata"]["resourceVersion"].is_empty()) {
      write.on_conflict = [=](const Error&) { try_update(server, context, options, object, duplicates, tries - 1); };
    }
    update_from(server, context,
                {.options = options, .old = old.value(), .object = object, .write = write, .duplicates = duplicates});
  });
}

/// Server-side apply: what the patch names is put onto what is there, as far as nobody else owns it (SSA-1 to SSA-12).
void try_apply(const ServerPtr& server, const ContextPtr& context, const WriteOptions& options, const Value& patch,
               const std::vector<std::string>& duplicates, int tries) {
  server->when_current(context, [=] {
    const bool status = is_status_write(context->path);
    auto old = server->current(*context, context->key());
    const bool missing = !old && old.error().code == ErrorCode::kNotFound;
    if (!old && (!missing || status)) return server->fail(context, old.error());
    if (missing && !patch["metadata"]["uid"].is_empty()) {  // SSA-3
      return server->fail(context, conflict(context->subject(), "uid mismatch: the provided object specified uid " +
                                                                    patch["metadata"]["uid"].str() +
                                                                    ", and no existing object was found"));
    }
    const Value live = missing ? Value{} : old.value();
    const Kind& kind = written_kind(*context);
    auto applied = apply_fields(field_writer_for(*server, *context, options), kind, live,
                                context->kind->is_view() ? in_version(kind, patch) : patch, options.force);
    if (!applied) return server->fail(context, applied.error());
    if (!applied.value().conflicts.empty()) return server->fail(context, conflict_error(applied.value().conflicts));
    Write write{.verb = "patch", .success = missing ? 201 : 200, .status = status, .on_conflict = {}};
    // Whoever names a version means that version.
    if (tries > 1 && patch["metadata"]["resourceVersion"].is_empty()) {
      write.on_conflict = [=](const Error&) { try_apply(server, context, options, patch, duplicates, tries - 1); };
    }
    Value object = std::move(applied).value().object;
    if (missing) {
      object.edit("metadata").set("name", context->path.name);
      return create_from(
          server, context,
          {.options = options, .object = std::move(object), .write = write, .duplicates = duplicates, .applied = true});
    }
    update_from(server, context,
                {.options = options,
                 .old = live,
                 .object = std::move(object),
                 .write = write,
                 .duplicates = duplicates,
                 .applied = true});
  });
}

/// The body of an apply, checked as far as it can be without the object (SSA-1, SSA-2).
void apply_object(const ServerPtr& server, const ContextPtr& context, const WriteOptions& options) {
  if (options.field_manager.empty()) {
    return server->fail(
        context, invalid({"meta.k8s.io", "PatchOptions", "", ""},
                         {{"fieldManager", "FieldValueRequired", "Required value: is required for apply patch"}}));
  }
  std::vector<std::string> duplicates;
  // JSON is YAML too, but only JSON tells which key stood twice.
  auto patch = parse_json(context->request.body, &duplicates);
  if (!patch) patch = parse_yaml(context->request.body);
  if (!patch) return server->fail(context, patch.error().context("error decoding YAML"));
  const Value& name = patch.value()["metadata"]["name"];
  if (!name.is_empty() && name.as_string() != context->path.name) {
    return server->fail(context, Error{ErrorCode::kBadRequest, "the name of the object (" + name.str() +
                                                                   ") does not match the name on the URL (" +
                                                                   context->path.name + ")"});
  }
  const Kind& kind = *context->kind;
  if (patch.value()["apiVersion"].as_string() != kind.api_version() || patch.value()["kind"].as_string() != kind.kind) {
    return server->fail(context, Error{ErrorCode::kBadRequest,
                                       "Incorrect version specified in apply patch. Specified patch version: " +
                                           patch.value()["apiVersion"].str() + " " + patch.value()["kind"].str() +
                                           ", expected: " + kind.api_version() + " " + kind.kind});
  }
  try_apply(server, context, options, patch.value(), duplicates, kTries);
}

}  // namespace

void create_object(const ServerPtr& server, const ContextPtr& context) {
  if (!context->kind->builtin && server->options.catalogue->terminating(context->kind->type())) {  // CRD-13
    return server->fail(context, Error{ErrorCode::kMethodNotAllowed,
                                       "create not allowed while custom resource definition is terminating"});
  }
  auto options = write_options(context->request);
  if (!options) return server->fail(context, options.error());
  std::vector<std::string> duplicates;
  auto body = read_body(context->request, *context->kinds, *context->kind, &duplicates);
  if (!body) return server->fail(context, body.error());
  context->request.body = std::string{};
  create_from(server, context,
              {.options = options.value(),
               .object = std::move(body).value(),
               .write = {.verb = "create", .success = 201, .status = false, .on_conflict = {}},
               .duplicates = std::move(duplicates)});
}

void update_object(const ServerPtr& server, const ContextPtr& context) {
  auto options = write_options(context->request);
  if (!options) return server->fail(context, options.error());
  std::vector<std::string> duplicates;
  auto body = read_body(context->request, *context->kinds, *context->kind, &duplicates);
  if (!body) return server->fail(context, body.error());
  try_update(server, context, options.value(), body.value(), duplicates, kTries);
}

void patch_object(const ServerPtr& server, const ContextPtr& context) {
  auto options = write_options(context->request);
  if (!options) return server->fail(context, options.error());
  const std::string type = media_type(context->request.headers.get("Content-Type"));
  if (type == "application/apply-patch+yaml") return apply_object(server, context, options.value());
  if (options.value().force) {
    return server->fail(
        context, invalid({"meta.k8s.io", "PatchOptions", "", ""},
                         {{"force", "FieldValueForbidden", "Forbidden: may not be specified for non-apply patch"}}));
  }
  const bool strategic = type == "application/strategic-merge-patch+json";
  if (type != "application/json-patch+json" && type != "application/merge-patch+json" &&
      !(strategic && context->kind->builtin)) {
    std::string accepted = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
    if (context->kind->builtin) accepted += ", application/strategic-merge-patch+json";
    return server->fail(
        context, Error{ErrorCode::kUnsupportedMediaType, "the body of the request was in an unknown format (" + type +
                                                             ") - accepted media types include: " + accepted});
  }
  auto patch = parse_json(context->request.body);
  if (!patch) return server->fail(context, patch.error());
  try_patch(server, context, options.value(), type, patch.value(), kTries);
}

}  // namespace shiplog::api
