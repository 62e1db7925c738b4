#include <map>
#include <utility>

#include "events/base/json.h"
#include "projections/objects/object_query.h"
#include "services/api/admission/admission.h"
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

/// Answers and leaves a trace of what was not allowed.
void refuse(const ServerPtr& server, const ContextPtr& context, const Error& error) {
  server->record_denial(context, error);
  server->fail(context, error);
}

/// Kinds and fields that are stored and served, but that no service acts on yet: whoever writes one is told so.
void warn_of_idle_parts(Context& context, const Value& object) {
  static const std::map<std::string, const char*> kIdle = {
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

void append_object(const ServerPtr& server, const ContextPtr& context, const Write& write, const ObjectKey& key,
                   Revision expected, Value object) {
  if (server->options.vault != nullptr) {
    auto sealed = server->options.vault->seal(key, std::move(object));
    if (!sealed) return server->fail(context, sealed.error());
    object = std::move(sealed).value();
  }
  Entry entry = server->entry_for(*context, write.verb);
  if (expected != Revision{}) entry.expects = {{key, expected}};
  const Value sent = object;
  if (write.verb == "create") {
    entry.events = {ObjectCreated{key, std::move(object)}};
  } else if (write.status) {
    entry.events = {StatusUpdated{key, std::move(object)}};
  } else {
    entry.events = {ObjectUpdated{key, std::move(object)}};
  }
  Store& store = server->store(*context->kind);
  store.replica().append(std::move(entry), [server, context, write, key, sent](Result<Outcome> outcome) {
    // Rendering may take its time: not on the fold thread.
    server->workers->post([server, context, write, key, sent, outcome = std::move(outcome)] {
      if (!outcome) return server->fail(context, outcome.error().context("storing " + to_string(key)));
      if (const auto& refusal = outcome.value().refusal) {
        const Error error = refused(*context, *refusal, key);
        if (error.code == ErrorCode::kConflict && write.on_conflict) return write.on_conflict(error);
        return refuse(server, context, error);
      }
      Value stored = sent;  // nothing changed, or the last finalizer went and the object with it (DEL-6)
      for (const auto& change : outcome.value().changes) {
        if (change->object == key && !change->removed()) stored = change->after;
      }
      if (server->options.vault != nullptr) {
        auto opened = server->options.vault->open(std::move(stored));
        if (!opened) return server->fail(context, opened.error());
        stored = std::move(opened).value();
      }
      server->answer(context, write.success, stored);
    });
  });
}

void update_from(const ServerPtr& server, const ContextPtr& context, const WriteOptions& options, const Value& old,
                 Value object, const Write& write, std::vector<std::string> duplicates) {
  Admission admission = admission_for(*server, *context, options);
  admission.duplicate_fields = std::move(duplicates);
  const ObjectKey key = context->key();
  const auto stated = stated_revision(object);
  if (!stated) return server->fail(context, invalid(context->subject(), stated.error().causes));
  if (stated.value() != Revision{} && stated.value() != revision_of(old)) {
    return server->fail(context, conflict(context->subject()));
  }
  auto admitted = write.status ? admit_status_update(admission, old, std::move(object))
                               : admit_update(admission, old, std::move(object));
  if (!admitted) return refuse(server, context, admitted.error());
  context->warnings = admission.warnings;
  warn_of_idle_parts(*context, admitted.value());
  if (options.dry_run) return server->answer(context, write.success, admitted.value());
  // Always bound to what was read: the fold says who was first, and an unconditional update simply tries again.
  append_object(server, context, write, key, revision_of(old), std::move(admitted).value());
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

}  // namespace

void create_object(const ServerPtr& server, const ContextPtr& context) {
  auto options = write_options(context->request);
  if (!options) return server->fail(context, options.error());
  std::vector<std::string> duplicates;
  auto body = read_body(context->request, *context->kinds, *context->kind, &duplicates);
  if (!body) return server->fail(context, body.error());

  Admission admission = admission_for(*server, *context, options.value());
  admission.duplicate_fields = std::move(duplicates);
  auto admitted = admit_create(admission, std::move(body).value());
  if (!admitted) return refuse(server, context, admitted.error());
  context->warnings = admission.warnings;
  warn_of_idle_parts(*context, admitted.value());
  const ObjectKey key = key_for(*context, admitted.value());
  if (options.value().dry_run) {
    Value object = std::move(admitted).value();
    // What the fold would have filled in; clients rely on finding it.
    object.edit("metadata").set("uid", uid_from(new_entry_id(*server->options.random), 0));
    object.edit("metadata").set("creationTimestamp", rfc3339(server->options.clock->now()));
    return server->when_current(context, [server, context, key, object = std::move(object)] {
      if (server->current(*context, key)) return server->fail(context, already_exists(context->subject(key.name)));
      if (key.ns.empty()) return server->answer(context, 201, object);
      in_namespace(server, context, key.ns, [server, context, object] { server->answer(context, 201, object); });
    });
  }
  const Write write{.verb = "create", .success = 201, .status = false, .on_conflict = {}};
  const auto create = [server, context, write, key, object = std::move(admitted).value()] {
    append_object(server, context, write, key, Revision{}, object);
  };
  if (!context->kind->ephemeral || key.ns.empty()) return create();
  // Namespaces live in the other journal: what is ephemeral is checked here, as the fold cannot.
  in_namespace(server, context, key.ns, create);
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
  const bool strategic = type == "application/strategic-merge-patch+json";
  if (type != "application/json-patch+json" && type != "application/merge-patch+json" &&
      !(strategic && context->kind->builtin)) {
    std::string accepted = "application/json-patch+json, application/merge-patch+json";
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
