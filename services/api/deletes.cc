#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "projections/objects/object_query.h"
#include "services/api/admission/admission.h"
#include "services/api/auth/gate.h"
#include "services/api/context.h"
#include "services/api/webhooks/ask.h"

namespace shiplog::api {
namespace {

struct DeleteOptions {
  std::optional<int64_t> grace_seconds;
  std::string propagation = "Background";
  bool chosen = false;  // by the client, not by default
  std::string uid;
  std::string resource_version;
  bool dry_run = false;
};

Error unknown_policy(const std::string& policy) {
  return Error{
      ErrorCode::kInvalid,
      "propagationPolicy: Unsupported value: \"" + policy + "\"",
      {{"propagationPolicy", "FieldValueNotSupported",
        "Unsupported value: \"" + policy + "\": supported values: \"Foreground\", \"Background\", \"Orphan\""}}};
}

/// DEL-1, DEL-2.
Result<DeleteOptions> delete_options(const Context& context) {
  const HttpRequest& request = context.request;
  DeleteOptions options;
  std::string policy;
  bool orphan_given = false;
  bool orphan = false;
  if (!request.body.empty()) {
    SHIPLOG_TRY(const Value body, read_body(request, *context.kinds, *context.kind, nullptr));
    policy = body["propagationPolicy"].str();
    if (const Value* dependents = body.find("orphanDependents"); dependents != nullptr && dependents->is_bool()) {
      orphan_given = true;
      orphan = dependents->as_bool();
    }
    options.uid = body["preconditions"]["uid"].str();
    options.resource_version = body["preconditions"]["resourceVersion"].str();
    for (const Value& one : body["dryRun"].items()) {
      if (one.as_string() != "All") {
        const std::string message = "Unsupported value: " + quoted(one.as_string()) + ": supported values: \"All\"";
        return Error{ErrorCode::kInvalid, "dryRun: " + message, {{"dryRun", "FieldValueNotSupported", message}}};
      }
      options.dry_run = true;
    }
    if (!body["gracePeriodSeconds"].is_null()) options.grace_seconds = body["gracePeriodSeconds"].as_int();
  } else {
    policy = text(request, "propagationPolicy");
    orphan_given = request.query_value("orphanDependents") != nullptr;
    orphan = flag(request, "orphanDependents");
    SHIPLOG_TRY(const auto write, write_options(request));
    options.dry_run = write.dry_run;
    SHIPLOG_TRY(options.grace_seconds, number(request, "gracePeriodSeconds"));
  }
  if (orphan_given && !policy.empty()) {
    return Error{ErrorCode::kInvalid,
                 "orphanDependents and propagationPolicy cannot both be set",
                 {{"propagationPolicy", "FieldValueInvalid", "orphanDependents is set too"}}};
  }
  // DEL-10: what these two made outlives them unless somebody says otherwise.
  const std::string type = context.kind->type();
  if (type == "jobs.batch" || type == "replicationcontrollers") options.propagation = "Orphan";
  if (orphan_given) policy = orphan ? "Orphan" : "Background";
  if (!policy.empty()) {
    if (policy != "Orphan" && policy != "Background" && policy != "Foreground") return unknown_policy(policy);
    options.propagation = policy;
    options.chosen = true;
  }
  return options;
}

/// Kinds whose delete answers with the object (DEL-8).
bool answers_object(const Kind& kind) {
  if (!kind.group.empty()) return false;
  for (const char* plural : {"pods", "namespaces", "serviceaccounts", "persistentvolumes", "persistentvolumeclaims",
                             "resourcequotas", "podtemplates", "services"}) {
    if (kind.plural == plural) return true;
  }
  return false;
}

constexpr const char* kCleanup = "customresourcecleanup.apiextensions.k8s.io";

/// The definition on its way out: held until the last of its objects is gone.
Value terminating_definition(Value crd, UtcMillis now) {
  Value& finalizers = crd.edit("metadata").edit("finalizers");
  const auto held = finalizers.items();
  if (std::ranges::find(held, Value{kCleanup}) == held.end()) finalizers.push_back(kCleanup);
  Value& conditions = crd.edit("status").edit("conditions");
  std::erase_if(conditions.edit_items(), [](const Value& each) { return each["type"].as_string() == "Terminating"; });
  conditions.push_back(Value::object({{"type", "Terminating"},
                                      {"status", "True"},
                                      {"lastTransitionTime", rfc3339(now)},
                                      {"reason", "InstanceDeletionInProgress"},
                                      {"message", "CustomResource deletion is in progress"}}));
  return crd;
}

/// Removing a definition removes its objects, in the same entry: there is no moment in which they have no kind. When
/// finalizers hold some, the definition waits for them (CRD-13); the role "lifecycle" lets it go.
Result<std::vector<Event>> instances_go_first(Server& server, const Context& context, const Value& crd) {
  std::vector<Event> events;
  if (context.kind->type() != type::kCustomResourceDefinition) return events;
  const std::string type = crd["spec"]["names"]["plural"].str() + "." + crd["spec"]["group"].str();
  SHIPLOG_TRY(const auto rows, server.options.record->read(
                                   [&](const View& view) { return ObjectQuery{view}.list(ObjectList{.type = type}); }));
  bool held = false;
  for (const ObjectRow& row : rows) {
    SHIPLOG_TRY(const Value instance, parse_stored_json(row.json));
    held = held || instance["metadata"]["finalizers"].size() > 0;
    events.emplace_back(DeletionRequested{row.key, 0, "Background"});
  }
  if (held && !deleting(crd)) {
    events.emplace_back(ObjectUpdated{context.key(), terminating_definition(crd, server.options.clock->now())});
  }
  return events;
}

using Deleted = std::function<void(Result<Value>, bool gone)>;
using Denied = std::function<void(const Denial&)>;

/// DEL-5: a policy chosen for what is being deleted already takes back the other policies' finalizers. Null: there is
/// nothing to take back.
Result<Value> without_other_policies(Server& server, const ObjectKey& key, const Value& old,
                                     const DeleteOptions& options) {
  if (!options.chosen || !deleting(old)) return Value{};
  Value::Array kept;
  for (const Value& finalizer : old["metadata"]["finalizers"].items()) {
    const std::string_view name = finalizer.as_string();
    const bool other = (name == "foregroundDeletion" && options.propagation != "Foreground") ||
                       (name == "orphan" && options.propagation != "Orphan");
    if (!other) kept.push_back(finalizer);
  }
  if (kept.size() == old["metadata"]["finalizers"].size()) return Value{};
  Value object = old;
  object.edit("metadata").set("finalizers", Value::array(std::move(kept)));
  if (server.options.vault == nullptr) return object;
  return server.options.vault->seal(key, std::move(object));
}

void append_deletion(const ServerPtr& server, const ContextPtr& context, const DeleteOptions& options,
                     const ObjectKey& key, const Value& old, Deleted deleted) {
  auto events = instances_go_first(*server, *context, old);
  if (!events) return deleted(events.error(), false);
  if (options.dry_run) return deleted(old, old["metadata"]["finalizers"].size() == 0);

  Entry entry = server->entry_for(*context, "delete");
  const std::string version = old["metadata"]["resourceVersion"].str();
  // A definition that is held is written anew, so that must be the one that was read.
  const bool rewrites = std::ranges::any_of(
      events.value(), [](const Event& event) { return std::holds_alternative<ObjectUpdated>(event); });
  if (rewrites || !options.resource_version.empty()) entry.expects = {{key, Revision{std::stoull(version)}}};
  entry.events = std::move(events).value();
  auto taken_back = without_other_policies(*server, key, old, options);
  if (!taken_back) return deleted(taken_back.error(), false);
  if (!taken_back.value().is_null()) {
    entry.expects = {{key, Revision{std::stoull(version)}}};
    entry.events.emplace_back(ObjectUpdated{key, std::move(taken_back).value()});
  }
  const int64_t grace = context->kind->type() == "pods" ? grace_of_pod(old, options.grace_seconds) : 0;
  entry.events.emplace_back(DeletionRequested{key, grace, options.propagation});
  server->append(*context, server->store(*context->kind), std::move(entry),
                 [context, key, old, deleted = std::move(deleted)](Result<Outcome> outcome) {
                   if (!outcome) return deleted(outcome.error().context("deleting " + to_string(key)), false);
                   if (const auto& refusal = outcome.value().refusal) {
                     if (refusal->code == ErrorCode::kNotFound)
                       return deleted(not_found(context->subject(key.name)), false);
                     if (refusal->code == ErrorCode::kConflict)
                       return deleted(conflict(context->subject(key.name)), false);
                     return deleted(Error{refusal->code, refusal->reason}, false);
                   }
                   for (const auto& change : outcome.value().changes) {
                     if (change->object == key) return deleted(change->latest(), change->removed());
                   }
                   deleted(old, false);  // it was being deleted already
                 });
}

/// Mutating webhooks are asked about a deletion too, though there is nothing that they could change.
void ask_webhooks(const ServerPtr& server, const ContextPtr& context, bool mutating, HookedAction action,
                  const Denied& denied, std::function<void()> then) {
  if (!must_ask(*server, *context, mutating, "DELETE", "")) return then();
  const auto heard = [context, denied, then = std::move(then)](Hooked hooked) {
    if (hooked.denial) return denied(*hooked.denial);
    then();
  };
  mutating ? ask_mutating(server, context, std::move(action), heard)
           : ask_validating(server, context, std::move(action), heard);
}

/// Deletes one object that was read as `old`; tells the object afterwards (its last state when it is gone), or what a
/// webhook has against it.
void delete_one(const ServerPtr& server, const ContextPtr& context, const DeleteOptions& options, const ObjectKey& key,
                const Value& old, const Denied& denied, Deleted deleted) {
  if (!options.uid.empty() && options.uid != uid_of(old)) {
    return deleted(conflict(context->subject(key.name), "Precondition failed: UID in precondition: " + options.uid +
                                                            ", UID in object meta: " + std::string{uid_of(old)}),
                   false);
  }
  const std::string version = old["metadata"]["resourceVersion"].str();
  if (!options.resource_version.empty() && options.resource_version != version) {
    return deleted(conflict(context->subject(key.name),
                            "Precondition failed: ResourceVersion in precondition: " + options.resource_version +
                                ", ResourceVersion in object meta: " + version),
                   false);
  }
  if (auto allowed = admit_delete(*context->kind, old); !allowed) {
    server->record_denial(context, allowed.error());
    return deleted(allowed.error(), false);
  }
  if (const auto refused = refuse_deletion(*server, *context, key, old)) {
    server->record_denial(context, *refused);
    return deleted(*refused, false);
  }
  if (!must_ask(*server, *context, true, "DELETE", "") && !must_ask(*server, *context, false, "DELETE", "")) {
    return append_deletion(server, context, options, key, old, std::move(deleted));
  }
  HookedAction action = action_of(*context, "DELETE", options.dry_run);
  action.ns = context->kind->type() == type::kNamespace ? key.name : key.ns;
  action.name = key.name;
  action.old = old;
  const auto go_on = [=] { append_deletion(server, context, options, key, old, deleted); };
  ask_webhooks(server, context, true, action, denied,
               [=] { ask_webhooks(server, context, false, action, denied, go_on); });
}

}  // namespace

void delete_object(const ServerPtr& server, const ContextPtr& context) {
  auto options = delete_options(*context);
  if (!options) return server->fail(context, options.error());
  server->when_current(context, [server, context, options = std::move(options).value()] {
    const ObjectKey key = context->key();
    auto old = server->current(*context, key);
    // What can no longer be read can still be deleted.
    if (!old && old.error().code == ErrorCode::kCorrupt) old = server->current_unopened(*context, key);
    if (!old) return server->fail(context, old.error());
    const auto denied = [server, context](const Denial& denial) {
      server->record_denial(context, Error{ErrorCode::kForbidden, denial.message()});
      server->answer_status(context, denial.http_status, denial.status);
    };
    delete_one(server, context, options, key, old.value(), denied, [server, context](Result<Value> object, bool gone) {
      server->workers->post([server, context, object = std::move(object), gone] {
        if (!object) return server->fail(context, object.error());
        if (gone && !answers_object(*context->kind)) {
          return server->answer_status(context, 200,
                                       success_status(context->subject(), std::string{uid_of(object.value())}));
        }
        server->answer(context, 200, object.value());
      });
    });
  });
}

void delete_collection(const ServerPtr& server, const ContextPtr& context) {
  auto options = delete_options(*context);
  if (!options) return server->fail(context, options.error());
  auto reading = read_options(context->request);
  if (!reading) return server->fail(context, reading.error());
  server->when_current(context, [server, context, options = options.value(), reading = reading.value()] {
    auto listed = list_collection(*server, *context, reading);
    if (!listed) return server->fail(context, listed.error());
    auto items = std::make_shared<std::vector<Value>>(std::move(listed.value().items));
    if (items->empty()) return server->answer_list(context, {}, listed.value().metadata);
    struct Gather {
      std::mutex mutex;
      size_t left = 0;
      std::optional<Error> failed;
    };
    auto gather = std::make_shared<Gather>();
    gather->left = items->size();
    for (const Value& item : *items) {
      const ObjectKey key{context->kind->type(), item["metadata"]["namespace"].str(), item["metadata"]["name"].str()};
      const auto done = [server, context, items, gather,
                         metadata = listed.value().metadata](std::optional<Error> failed) {
        const std::lock_guard lock{gather->mutex};
        if (failed) gather->failed = std::move(failed);
        if (--gather->left > 0) return;
        server->workers->post([server, context, items, metadata, first = gather->failed] {
          if (first) return server->fail(context, *first);
          server->answer_list(context, std::move(*items), metadata);
        });
      };
      const auto denied = [done](const Denial& denial) {
        done(Error{denial.http_status == 500 ? ErrorCode::kInternal : ErrorCode::kForbidden, denial.message()});
      };
      delete_one(server, context, options, key, item, denied, [done](Result<Value> object, bool) {
        // Gone meanwhile is as good (DEL-11).
        const bool failed = !object && object.error().code != ErrorCode::kNotFound;
        done(failed ? std::optional{object.error()} : std::nullopt);
      });
    }
  });
}

}  // namespace shiplog::api
