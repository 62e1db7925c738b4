#include "services/api/writes.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "events/state/policy_author.h"
#include "services/api/addresses/service_allocator.h"
#include "services/api/auth/access.h"
#include "services/api/auth/claims.h"
#include "services/api/certificates.h"
#include "services/api/versions/versions.h"

namespace shiplog::api {
namespace {

std::string random_suffix(Random& random) {
  // Kubernetes' alphabet: no vowels, and no digits that look like letters.
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int index = 0; index < 5; ++index) suffix += kAlphabet[random_below(random, kAlphabet.size())];
  return suffix;
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
    if (is_address_taken(*refusal)) {
      if (write.on_address_taken) return write.on_address_taken();
      return refuse(server, context,
                    invalid(context->subject(key.name), {{"spec", "FieldValueInvalid", refusal->reason}}));
    }
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
    return server->fail(context, error);  // recorded already (Denials::append)
  }
  Value stored = object;  // of an update: nothing changed, or the last finalizer went and the object with it (DEL-6)
  for (const auto& change : outcome.value().changes) {
    if (change->object == key && !change->removed()) stored = change->after;
  }
  auto opened = server->open_version(std::move(stored));
  if (!opened) return server->fail(context, opened.error());
  server->answer(context, write.success, opened.value());
}

}  // namespace

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
  admission.denied_networks = server.options.denied_networks.get();
  if (context.kind->type() == kCertificateRequests) admission.user = user_info(context.user);
  const Access* access = server.options.access;
  if (context.kind->group == "policy.karmada.io" && access != nullptr && access->records_authors()) {
    admission.author = author_text(context.user);
  }
  return admission;
}

FieldWriter field_writer_for(const Server& server, const Context& context, const WriteOptions& options) {
  return {manager_of(options.field_manager, context.request.headers.get("User-Agent")),
          written_kind(context).api_version(), context.path.subresource, server.options.clock->now()};
}

Value tracked(const Server& server, const Context& context, const WriteOptions& options, const Value& before,
              Value object, const Value& given) {
  if (!given.is_null()) object.edit("metadata").set("managedFields", given);
  return track_update(field_writer_for(server, context, options), written_kind(context), before, std::move(object));
}

Result<Value> addressed(Server& server, const Context& context, const Value& before, Value object) {
  if (server.options.addresses == nullptr || context.kind->type() != type::kService) return object;
  const ObjectKey key{type::kService, context.path.ns, object["metadata"]["name"].str()};
  auto given = server.options.addresses->propose(key, before, std::move(object), *server.options.random);
  if (!given && given.error().code == ErrorCode::kInvalid) {
    return invalid(context.subject(key.name), given.error().causes);
  }
  return given;
}

void refuse(const ServerPtr& server, const ContextPtr& context, const Error& error) {
  server->record_denial(context, error);
  server->fail(context, error);
}

void deny(const ServerPtr& server, const ContextPtr& context, const Denial& denial) {
  server->record_denial(context, Error{ErrorCode::kForbidden, denial.message()});
  server->answer_status(context, denial.http_status, denial.status);
}

void past_webhooks(const ServerPtr& server, const ContextPtr& context, const std::string& operation, bool dry_run,
                   const Value& old, const Value& body, std::function<void(const Value&)> then) {
  const std::string& subresource = context->path.subresource;
  const bool mutating = must_ask(*server, *context, true, operation, subresource);
  const bool validating = must_ask(*server, *context, false, operation, subresource);
  if (!mutating && !validating) return then(body);
  HookedAction action = action_of(*context, operation, dry_run);
  const std::string version = body["apiVersion"].str();
  const size_t slash = version.find('/');
  action.form = Value::object({{"group", slash == std::string::npos ? "" : version.substr(0, slash)},
                               {"version", slash == std::string::npos ? version : version.substr(slash + 1)},
                               {"kind", body["kind"]}});
  action.old = old;
  action.object = body;
  const auto validate = [=](const HookedAction& asked) {
    if (!validating) return then(asked.object);
    ask_validating(server, context, asked, [=](Hooked hooked) {
      add_warnings(*context, std::move(hooked.warnings));
      if (hooked.denial) return deny(server, context, *hooked.denial);
      then(asked.object);
    });
  };
  if (!mutating) return validate(action);
  ask_mutating(server, context, action, [=](Hooked hooked) {
    add_warnings(*context, std::move(hooked.warnings));
    if (hooked.denial) return deny(server, context, *hooked.denial);
    HookedAction left = action;
    left.object = std::move(hooked.object);
    validate(left);
  });
}

void add_warnings(Context& context, std::vector<std::string> warnings) {
  std::ranges::move(warnings, std::back_inserter(context.warnings));
}

/// Kinds and fields that are stored and served, but that no service acts on yet: whoever writes one is told so.
void warn_of_idle_parts(Context& context, const Value& object) {
  static const std::map<std::string, const char*> kIdle = {
      {"flowschemas.flowcontrol.apiserver.k8s.io", "requests are not queued by it"},
      {"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", "requests are not queued by it"},
      {"federatedhpas.autoscaling.karmada.io", "nothing is scaled"},
      {"cronfederatedhpas.autoscaling.karmada.io", "nothing is scaled"},
      {"multiclusterservices.networking.karmada.io", "no endpoints are spread"},
      {"multiclusteringresses.networking.karmada.io", "no traffic is routed"},
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
    warn(!spec["failover"].is_null(), "spec.failover", "applications are not moved because they are unhealthy");
  }
  warn(type == type::kCluster && spec["syncMode"].as_string() == "Pull", "spec.syncMode Pull",
       "the control plane calls the member, no agent is served");
}

FieldCause being_terminated(const std::string& ns) {
  return {"metadata.namespace", "NamespaceTerminating", "namespace " + ns + " is being terminated"};
}

void fail_without_namespace(const ServerPtr& server, const ContextPtr& context, const std::string& ns) {
  const Subject subject{"", "Namespace", "namespaces", ns};
  server->fail(context, not_found(subject), subject);
}

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

/// The object as it is stored. Sealed text must not come from a client: a copy of one, from the history or a backup,
/// would be opened for whoever can read the object that it was written into.
Result<Value> seal(Server& server, const Context& context, const ObjectKey& key, Value object, bool exists) {
  Vault& vault = *server.options.vault;
  const bool carries_others = key.type.ends_with(".work.karmada.io");
  Value stored;
  if (exists && carries_others) {
    SHIPLOG_TRY(stored, server.current_unopened(context, key));
  }
  SHIPLOG_TRY(object, vault.seal_like(stored, std::move(object)));
  return vault.seal(key, std::move(object));
}

void append_object(const ServerPtr& server, const ContextPtr& context, const Write& write, const ObjectKey& key,
                   Revision expected, Value object) {
  if (!context->kind->storage) object = in_version(*context->kinds->find_type(key.type), std::move(object));
  if (server->options.vault != nullptr) {
    auto sealed = seal(*server, *context, key, std::move(object), expected != Revision{});
    if (!sealed) return refuse(server, context, sealed.error());
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
  const auto send = [server, &store, sent_write = std::move(sent_write)](Entry to_send, LargeRequests::Place turn) {
    server->append(
        *sent_write->context, store, std::move(to_send), [sent_write, turn = std::move(turn)](Result<Outcome> outcome) {
          const bool large = sent_write->context->large != nullptr;
          if (const Change* stored = large ? nullptr : shown_as_stored(*sent_write, outcome)) {
            return sent_write->server->answer_json(sent_write->context, sent_write->write.success, *stored->json);
          }
          // Rendering may take its time: not on the fold thread.
          sent_write->server->post(sent_write->context,
                                   [sent_write, outcome = std::move(outcome)] { answer(*sent_write, outcome); });
        });
  };
  if (context->large == nullptr) return send(std::move(entry), nullptr);
  server->large->append([send, entry = std::move(entry)](LargeRequests::Place turn) { send(entry, std::move(turn)); });
}

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

}  // namespace shiplog::api
