#include <mutex>
#include <optional>
#include <utility>

#include "events/base/json.h"
#include "projections/objects/object_query.h"
#include "services/api/admission/admission.h"
#include "services/api/context.h"

namespace shiplog::api {
namespace {

struct DeleteOptions {
  int64_t grace_seconds = 0;
  std::string propagation = "Background";
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
    for (const Value& one : body["dryRun"].items()) options.dry_run = options.dry_run || one.as_string() == "All";
    options.grace_seconds = body["gracePeriodSeconds"].as_int();
  } else {
    policy = text(request, "propagationPolicy");
    orphan_given = request.query_value("orphanDependents") != nullptr;
    orphan = flag(request, "orphanDependents");
    SHIPLOG_TRY(const auto write, write_options(request));
    options.dry_run = write.dry_run;
    SHIPLOG_TRY(const auto grace, number(request, "gracePeriodSeconds"));
    options.grace_seconds = grace.value_or(0);
  }
  if (options.grace_seconds < 0) return Error{ErrorCode::kBadRequest, "gracePeriodSeconds must not be negative"};
  if (orphan_given && !policy.empty()) {
    return Error{ErrorCode::kInvalid,
                 "orphanDependents and propagationPolicy cannot both be set",
                 {{"propagationPolicy", "FieldValueInvalid", "orphanDependents is set too"}}};
  }
  if (orphan_given) policy = orphan ? "Orphan" : "Background";
  if (!policy.empty()) {
    if (policy != "Orphan" && policy != "Background" && policy != "Foreground") return unknown_policy(policy);
    options.propagation = policy;
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

/// Removing a definition removes its objects, in the same entry: there is no moment in which they have no kind.
/// Error: kConflict, some have finalizers, and who holds them would not find them any more.
Result<std::vector<Event>> instances_go_first(Server& server, const Context& context, const Value& crd) {
  std::vector<Event> events;
  if (context.kind->type() != type::kCustomResourceDefinition) return events;
  const std::string type = crd["spec"]["names"]["plural"].str() + "." + crd["spec"]["group"].str();
  SHIPLOG_TRY(const auto rows, server.options.record->read(
                                   [&](const View& view) { return ObjectQuery{view}.list(ObjectList{.type = type}); }));
  for (const ObjectRow& row : rows) {
    SHIPLOG_TRY(const Value instance, parse_stored_json(row.json));
    if (instance["metadata"]["finalizers"].size() > 0) {
      return conflict(context.subject(), to_string(row.key) + " has finalizers: delete it and wait for it to go first");
    }
    events.emplace_back(DeletionRequested{row.key, 0, "Background"});
  }
  return events;
}

using Deleted = std::function<void(Result<Value>, bool gone)>;

/// Deletes one object that was read as `old`; tells the object afterwards (its last state when it is gone).
void delete_one(const ServerPtr& server, const ContextPtr& context, const DeleteOptions& options, const ObjectKey& key,
                const Value& old, Deleted deleted) {
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
  auto events = instances_go_first(*server, *context, old);
  if (!events) return deleted(events.error(), false);
  if (options.dry_run) return deleted(old, old["metadata"]["finalizers"].size() == 0);

  Entry entry = server->entry_for(*context, "delete");
  if (!options.resource_version.empty()) entry.expects = {{key, Revision{std::stoull(version)}}};
  entry.events = std::move(events).value();
  entry.events.emplace_back(DeletionRequested{key, 0, options.propagation});
  server->store(*context->kind)
      .replica()
      .append(std::move(entry), [context, key, old, deleted = std::move(deleted)](Result<Outcome> outcome) {
        if (!outcome) return deleted(outcome.error().context("deleting " + to_string(key)), false);
        if (const auto& refusal = outcome.value().refusal) {
          if (refusal->code == ErrorCode::kNotFound) return deleted(not_found(context->subject(key.name)), false);
          if (refusal->code == ErrorCode::kConflict) return deleted(conflict(context->subject(key.name)), false);
          return deleted(Error{refusal->code, refusal->reason}, false);
        }
        for (const auto& change : outcome.value().changes) {
          if (change->object == key) return deleted(change->latest(), change->removed());
        }
        deleted(old, false);  // it was being deleted already
      });
}

}  // namespace

void delete_object(const ServerPtr& server, const ContextPtr& context) {
  auto options = delete_options(*context);
  if (!options) return server->fail(context, options.error());
  server->when_current(context, [server, context, options = std::move(options).value()] {
    const ObjectKey key = context->key();
    auto old = server->current(*context, key);
    if (!old) return server->fail(context, old.error());
    delete_one(server, context, options, key, old.value(), [server, context](Result<Value> object, bool gone) {
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
      delete_one(server, context, options, key, item,
                 [server, context, items, gather, metadata = listed.value().metadata](Result<Value> object, bool) {
                   const std::lock_guard lock{gather->mutex};
                   // Gone meanwhile is as good (DEL-11).
                   if (!object && object.error().code != ErrorCode::kNotFound) gather->failed = object.error();
                   if (--gather->left > 0) return;
                   server->workers->post([server, context, items, metadata, failed = gather->failed] {
                     if (failed) return server->fail(context, *failed);
                     server->answer_list(context, std::move(*items), metadata);
                   });
                 });
    }
  });
}

}  // namespace shiplog::api
