#include <map>
#include <utility>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "projections/objects/object_query.h"
#include "services/api/admission/admission.h"
#include "services/api/apply/managed_fields.h"
#include "services/api/auth/gate.h"
#include "services/api/context.h"
#include "services/api/patch/patch.h"

namespace shiplog::api {
namespace {

/// A patch is computed again this often when somebody else was faster, as kube-apiserver does.
constexpr int kPatchTries = 5;

std::string random_suffix(Random& random) {
  // Kubernetes' alphabet: no vowels, and no digits that look like letters.
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int index = 0; index < 5; ++index) suffix += kAlphabet[random_below(random, kAlphabet.size())];
  return suffix;
}

Admission admission_for(Server& server, const Context& context, const WriteOptions& options) {
  Admission admission;
  admission.kinds = context.kinds.get();
  admission.kind = context.kind;
  admission.field_validation = options.field_validation;
  admission.name_suffix = random_suffix(*server.options.random);
  admission.ns = context.path.ns;
  admission.name = context.path.name;
  admission.now = server.options.clock->now();
  return admission;
}

FieldWriter field_writer_for(const Server& server, const Context& context, const WriteOptions& options) {
  return {manager_of(options.field_manager, context.request.headers.get("User-Agent")), context.kind->api_version(),
          context.path.subresource, server.options.clock->now()};
}

/// Who owns which field of `object`, now that `before` has become that. `given`: metadata.managedFields as the client
/// sent it, which admission has set aside.
Value tracked(const Server& server, const Context& context, const WriteOptions& options, const Value& before,
              Value object, const Value& given) {
  if (!given.is_null()) object.edit("metadata").set("managedFields", given);
  return track_update(field_writer_for(server, context, options), *context.kind, before, std::move(object));
}

/// Answers and leaves a trace of what was not allowed.
void refuse(const ServerPtr& server, const ContextPtr& context, const Error& error) {
  server->record_denial(context, error);
  server->fail(context, error);
}

/// Kinds and fields that are stored and served, but that no service acts on yet: whoever writes one is told so.
void warn_of_idle_parts(Context& context, const Value& object) {
  static const std::map<std::string, const char*> kIdle = {
      {"validatingwebhookconfigurations.admissionregistration.k8s.io", "its webhooks are not called"},
      {"mutatingwebhookconfigurations.admissionregistration.k8s.io", "its webhooks are not called"},
      {"apiservices.apiregistration.k8s.io", "requests are not passed on to its service"},
      {"certificatesigningrequests.certificates.k8s.io", "no certificate is issued"},
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

/// What the fold refused, in kubectl's words.
Error refused(const Context& context, const Refusal& refusal, const ObjectKey& key) {
  const Subject subject = context.subject(key.name);
  // The reason may be about another object (the namespace): only what is about this one is put in kubectl's words.
  const bool about_this = refusal.reason.starts_with(to_string(key));
  if (about_this && refusal.code == ErrorCode::kAlreadyExists) return already_exists(subject);
  if (about_this && refusal.code == ErrorCode::kNotFound) return not_found(subject);
  if (about_this && refusal.code == ErrorCode::kConflict) return conflict(subject);
  if (refusal.code == ErrorCode::kForbidden) return forbidden(subject, refusal.reason);
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
  if (!outcome || outcome.value().refusal) return nullptr;
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
    const Error error = refused(*context, *refusal, key);
    const bool faster = error.code == ErrorCode::kConflict || error.code == ErrorCode::kAlreadyExists;
    if (faster && write.on_conflict) return write.on_conflict(error);
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

/// `applied`: the object already says who owns what.
void update_from(const ServerPtr& server, const ContextPtr& context, const WriteOptions& options, const Value& old,
                 Value object, const Write& write, std::vector<std::string> duplicates, bool applied = false) {
  Admission admission = admission_for(*server, *context, options);
  admission.duplicate_fields = std::move(duplicates);
  const ObjectKey key = context->key();
  const auto stated = stated_revision(object);
  if (!stated) return server->fail(context, invalid(context->subject(), stated.error().causes));
  if (stated.value() != Revision{} && stated.value() != revision_of(old)) {
    return server->fail(context, conflict(context->subject()));
  }
  const Value managed = object["metadata"]["managedFields"];
  auto admitted = write.status ? admit_status_update(admission, old, std::move(object))
                               : admit_update(admission, old, std::move(object));
  if (!admitted) return refuse(server, context, admitted.error());
  context->warnings = admission.warnings;
  warn_of_idle_parts(*context, admitted.value());
  Value wanted = std::move(admitted).value();
  if (const auto denied = refuse_write(*server, *context, key, old, wanted)) return refuse(server, context, *denied);
  if (applied) {
    wanted.edit("metadata").set("managedFields", managed);
  } else {
    wanted = tracked(*server, *context, options, old, std::move(wanted), managed);
  }
  if (options.dry_run || wanted == old) return server->answer(context, write.success, wanted);  // META-3
  // Always bound to what was read: the fold says who was first, and an unconditional update simply tries again.
  append_object(server, context, write, key, revision_of(old), std::move(wanted));
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
    auto object = patched(*context, old.value(), type, patch);
    if (!object) return server->fail(context, object.error());
    Write write{.verb = "patch", .success = 200, .status = context->path.subresource == "status", .on_conflict = {}};
    // A patch that names a version means that version: its author, not we, tries again.
    if (tries > 1 && patch["metadata"]["resourceVersion"].is_empty()) {
      write.on_conflict = [=](const Error&) { try_patch(server, context, options, type, patch, tries - 1); };
    }
    update_from(server, context, options, old.value(), std::move(object).value(), write, {});
  });
}

void try_update(const ServerPtr& server, const ContextPtr& context, const WriteOptions& options, const Value& object,
                const std::vector<std::string>& duplicates, int tries) {
  server->when_current(context, [=] {
    auto old = server->current(*context, context->key());
    if (!old) return server->fail(context, old.error());
    Write write{.verb = "update", .success = 200, .status = context->path.subresource == "status", .on_conflict = {}};
    if (tries > 1 && object["metadata"]["resourceVersion"].is_empty()) {
      write.on_conflict = [=](const Error&) { try_update(server, context, options, object, duplicates, tries - 1); };
    }
    update_from(server, context, options, old.value(), object, write, duplicates);
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
      if (!ns.value()) return server->fail(context, not_found({"", "Namespace", "namespaces", name}));
      then();
    });
  });
}

/// `applied`: the object already says who owns what.
void create_from(const ServerPtr& server, const ContextPtr& context, const WriteOptions& options, Value body,
                 std::vector<std::string> duplicates, const Write& write, bool applied = false) {
  Admission admission = admission_for(*server, *context, options);
  admission.duplicate_fields = std::move(duplicates);
  context->path.name = body["metadata"]["name"].str();  // what is wrong with it is said with its name
  const Value managed = body["metadata"]["managedFields"];
  auto admitted = admit_create(admission, std::move(body));
  if (!admitted) return refuse(server, context, admitted.error());
  context->warnings = admission.warnings;
  warn_of_idle_parts(*context, admitted.value());
  Value object = std::move(admitted).value();
  const ObjectKey key = key_for(*context, object);
  if (const auto denied = refuse_write(*server, *context, key, {}, object)) return refuse(server, context, *denied);
  if (applied) {
    object.edit("metadata").set("managedFields", managed);
  } else {
    object = tracked(*server, *context, options, Value{}, std::move(object), managed);
  }
  if (options.dry_run) {
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
    return append_object(server, context, write, key, Revision{}, std::move(object));
  }
  const auto create = [server, context, write, key, object = std::move(object)] {
    append_object(server, context, write, key, Revision{}, object);
  };
  // Namespaces live in the other journal: what is ephemeral is checked here, as the fold cannot.
  in_namespace(server, context, key.ns, create);
}

/// Server-side apply: what the patch names is put onto what is there, as far as nobody else owns it (SSA-1 to SSA-12).
void try_apply(const ServerPtr& server, const ContextPtr& context, const WriteOptions& options, const Value& patch,
               const std::vector<std::string>& duplicates, int tries) {
  server->when_current(context, [=] {
    const bool status = context->path.subresource == "status";
    auto old = server->current(*context, context->key());
    const bool missing = !old && old.error().code == ErrorCode::kNotFound;
    if (!old && (!missing || status)) return server->fail(context, old.error());
    if (missing && !patch["metadata"]["uid"].is_empty()) {  // SSA-3
      return server->fail(context, conflict(context->subject(), "uid mismatch: the provided object specified uid " +
                                                                    patch["metadata"]["uid"].str() +
                                                                    ", and no existing object was found"));
    }
    const Value live = missing ? Value{} : old.value();
    auto applied =
        apply_fields(field_writer_for(*server, *context, options), *context->kind, live, patch, options.force);
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
      return create_from(server, context, options, std::move(object), duplicates, write, true);
    }
    update_from(server, context, options, live, std::move(object), write, duplicates, true);
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
  try_apply(server, context, options, patch.value(), duplicates, kPatchTries);
}

}  // namespace

void create_object(const ServerPtr& server, const ContextPtr& context) {
  auto options = write_options(context->request);
  if (!options) return server->fail(context, options.error());
  std::vector<std::string> duplicates;
  auto body = read_body(context->request, *context->kinds, *context->kind, &duplicates);
  if (!body) return server->fail(context, body.error());
  context->request.body = std::string{};
  create_from(server, context, options.value(), std::move(body).value(), std::move(duplicates),
              {.verb = "create", .success = 201, .status = false, .on_conflict = {}});
}

void update_object(const ServerPtr& server, const ContextPtr& context) {
  auto options = write_options(context->request);
  if (!options) return server->fail(context, options.error());
  std::vector<std::string> duplicates;
  auto body = read_body(context->request, *context->kinds, *context->kind, &duplicates);
  if (!body) return server->fail(context, body.error());
  try_update(server, context, options.value(), body.value(), duplicates, kPatchTries);
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
  try_patch(server, context, options.value(), type, patch.value(), kPatchTries);
}

}  // namespace shiplog::api
