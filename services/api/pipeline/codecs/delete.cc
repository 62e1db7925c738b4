#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "projections/objects/object_query.h"
#include "services/api/pipeline/codecs/codecs.h"

namespace shiplog::api {
namespace {

struct DeleteOptions {
  std::optional<int64_t> grace_seconds;
  std::string propagation = "Background";
  bool chosen = false;  // by the client, not by default
  std::string uid;
  std::string resource_version;
  bool dry_run = false;
  Value given = Value::object();  // what the client has set, as webhooks see it
};

Error unknown_policy(const std::string& policy) {
  return Error{
      ErrorCode::kInvalid,
      "propagationPolicy: Unsupported value: \"" + policy + "\"",
      {{"propagationPolicy", "FieldValueNotSupported",
        "Unsupported value: \"" + policy + "\": supported values: \"Foreground\", \"Background\", \"Orphan\""}}};
}

/// The fields of DeleteOptions in the request, without dryRun, which the parameters of the write contain.
Value given_options(const DeleteOptions& options, const std::string& policy, std::optional<bool> orphan) {
  Value given = Value::object();
  if (options.grace_seconds) given.set("gracePeriodSeconds", *options.grace_seconds);
  if (orphan) given.set("orphanDependents", *orphan);
  if (!policy.empty()) given.set("propagationPolicy", policy);
  Value preconditions = Value::object();
  if (!options.uid.empty()) preconditions.set("uid", options.uid);
  if (!options.resource_version.empty()) preconditions.set("resourceVersion", options.resource_version);
  if (preconditions.size() > 0) given.set("preconditions", std::move(preconditions));
  return given;
}

/// DEL-1, DEL-2.
Result<DeleteOptions> delete_options(const RequestContext& context, const std::string& text_body) {
  const HttpRequest& request = context.request;
  DeleteOptions options;
  std::string policy;
  bool orphan_given = false;
  bool orphan = false;
  if (!text_body.empty()) {
    SHIPLOG_TRY(const Value body,
                read_body(request.headers.get("Content-Type"), text_body, *context.kinds, *context.kind, nullptr));
    policy = body["propagationPolicy"].str();
    if (const Value* dependents = body.find("orphanDependents"); dependents != nullptr && dependents->is_bool()) {
      orphan_given = true;
      orphan = dependents->as_bool();
    }
    options.uid = body["preconditions"]["uid"].str();
    options.resource_version = body["preconditions"]["resourceVersion"].str();
    for (const Value& given : body["dryRun"].items()) {
      if (given.as_string() != "All") {
        const std::string message = "Unsupported value: " + quoted(given.as_string()) + ": supported values: \"All\"";
        return Error{ErrorCode::kInvalid, "dryRun: " + message, {{"dryRun", "FieldValueNotSupported", message}}};
      }
      options.dry_run = true;
    }
    if (!body["gracePeriodSeconds"].is_null()) options.grace_seconds = body["gracePeriodSeconds"].as_int();
  } else {
    policy = text(request, "propagationPolicy");
    orphan_given = request.query_value("orphanDependents") != nullptr;
    orphan = flag(request, "orphanDependents");
    SHIPLOG_TRY(const auto write, write_parameters(request));
    options.dry_run = write.dry_run;
    SHIPLOG_TRY(options.grace_seconds, number(request, "gracePeriodSeconds"));
  }
  if (orphan_given && !policy.empty()) {
    return Error{ErrorCode::kInvalid,
                 "orphanDependents and propagationPolicy cannot both be set",
                 {{"propagationPolicy", "FieldValueInvalid", "orphanDependents is set too"}}};
  }
  options.given = given_options(options, policy, orphan_given ? std::optional{orphan} : std::nullopt);
  // DEL-10: dependents of these two kinds are orphaned unless the request states otherwise.
  const std::string type = context.kind->type();
  if (type == "jobs.batch" || type == "replicationcontrollers") options.propagation = "Orphan";
  if (orphan_given) policy = orphan ? "Orphan" : "Background";
  if (!policy.empty()) {
    if (policy != "Orphan" && policy != "Background" && policy != "Foreground") return unknown_policy(policy);
    options.propagation = policy;
    options.chosen = true;
  }
  // Nothing would process its dependents, and the finalizer would hold it for ever.
  if (context.kind->ephemeral) options.propagation = "Background";
  return options;
}

}  // namespace

bool answers_object(const Kind& kind) {
  static constexpr std::string_view kTypes[] = {"pods",
                                                "namespaces",
                                                "serviceaccounts",
                                                "persistentvolumes",
                                                "persistentvolumeclaims",
                                                "resourcequotas",
                                                "podtemplates",
                                                "services",
                                                "storageclasses.storage.k8s.io",
                                                "csidrivers.storage.k8s.io",
                                                "csinodes.storage.k8s.io",
                                                "volumeattachments.storage.k8s.io",
                                                "volumeattributesclasses.storage.k8s.io",
                                                "deviceclasses.resource.k8s.io",
                                                "resourceclaims.resource.k8s.io",
                                                "resourceclaimtemplates.resource.k8s.io",
                                                "resourceslices.resource.k8s.io"};
  return std::ranges::find(kTypes, kind.type()) != std::end(kTypes);
}

namespace {

/// Those who delete a Job mostly mean its pods, too (DEL-10).
std::vector<std::string> warnings_of(const Kind& kind, const DeleteOptions& options) {
  if (options.chosen || kind.type() != "jobs.batch") return {};
  return {
      "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or "
      "set propagationPolicy=Orphan to suppress this warning"};
}

constexpr const char* kCleanup = "customresourcecleanup.apiextensions.k8s.io";

/// A terminating definition: kept until the last of its objects is removed.
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

/// Removing a definition removes its objects, in the same entry: there is no moment in which they have no kind. It is
/// kept until the role "lifecycle" finds none in the state (CRD-13): finalizers may hold some, and others may have been
/// created since they were read here.
Result<std::vector<Event>> instances_go_first(const Server& server, const ObjectKey& key, const Value& crd) {
  std::vector<Event> events;
  if (key.type != type::kCustomResourceDefinition) return events;
  const std::string type = crd["spec"]["names"]["plural"].str() + "." + crd["spec"]["group"].str();
  SHIPLOG_TRY(const auto rows, server.objects.record().read(
                                   [&](const View& view) { return ObjectQuery{view}.list(ObjectList{.type = type}); }));
  for (const ObjectRow& row : rows) events.emplace_back(DeletionRequested{row.key, 0, "Background"});
  if (!deleting(crd)) {
    events.emplace_back(ObjectUpdated{key, terminating_definition(crd, server.options.clock->now())});
  }
  return events;
}

/// DEL-5: a policy chosen for what is being deleted already takes back the other policies' finalizers. Null: there is
/// nothing to take back.
Result<Value> without_other_policies(const Server& server, const ObjectKey& key, const Value& old,
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
  if (server.objects.vault() == nullptr) return object;
  return server.objects.vault()->seal(key, std::move(object));
}

/// The preconditions of the request against the object as it is.
StageResult<void> check_preconditions(const RequestContext& context, const ObjectKey& key, const DeleteOptions& options,
                                      const Value& old) {
  if (!options.uid.empty() && options.uid != uid_of(old)) {
    return conflict(context.subject(key.name.str()), "Precondition failed: UID in precondition: " + options.uid +
                                                         ", UID in object meta: " + std::string{uid_of(old)});
  }
  const std::string version = old["metadata"]["resourceVersion"].str();
  if (!options.resource_version.empty() && options.resource_version != version) {
    return conflict(context.subject(key.name.str()),
                    "Precondition failed: ResourceVersion in precondition: " + options.resource_version +
                        ", ResourceVersion in object meta: " + version);
  }
  return ok();
}

StageResult<WriteChanges> deletion(const Server& server, const ObjectKey& key, const DeleteOptions& options,
                                   const Value& old) {
  WriteChanges changes;
  changes.object = old;
  // Of a dry run.
  changes.gone = old["metadata"]["finalizers"].size() == 0 && key.type != type::kCustomResourceDefinition;
  SHIPLOG_TRY(changes.events, instances_go_first(server, key, old));
  // A definition is written anew, so that must be the one that was read.
  bool rewrites = std::ranges::any_of(changes.events,
                                      [](const Event& event) { return std::holds_alternative<ObjectUpdated>(event); });
  SHIPLOG_TRY(auto taken_back, without_other_policies(server, key, old, options));
  if (!taken_back.is_null()) {
    rewrites = true;
    changes.events.emplace_back(ObjectUpdated{key, std::move(taken_back)});
  }
  if (rewrites || !options.resource_version.empty()) changes.expects = {{key, revision_of(old)}};
  const int64_t grace = key.type == "pods" ? grace_of_pod(old, options.grace_seconds) : 0;
  changes.events.emplace_back(DeletionRequested{key, grace, options.propagation});
  return changes;
}

WriteRequest delete_request(const Server& server, const RequestContext& context,
                            std::shared_ptr<const DeleteOptions> options, const ObjectKey& key) {
  WriteRequest write;
  write.key = key;
  write.form = WriteForm::kDeletion;
  write.parameters.dry_run = options->dry_run;
  write.delete_options = options->given;
  write.warnings = warnings_of(*context.kind, *options);
  write.rewrites = false;
  write.replaces_unreadable = true;  // what can no longer be read can still be deleted
  write.propose = [&context, options, key, warnings = write.warnings](Result<Value> current) -> StageResult<Proposal> {
    if (!current) return current.error();
    SHIPLOG_TRY(check_preconditions(context, key, *options, current.value()));
    Proposal proposal{.operation = "DELETE", .verb = "delete"};
    proposal.warnings = warnings;
    proposal.name = context.path.name;
    proposal.old = std::move(current).value();
    return proposal;
  };
  write.changes = [&server, options, key](Proposal& proposal) { return deletion(server, key, *options, proposal.old); };
  write.answer = [&context](const Proposal&, const Committed& committed) -> Result<WriteAnswer> {
    WriteAnswer answer;
    answer.is_status = committed.gone && !answers_object(*context.kind);
    answer.body =
        answer.is_status ? success_status(context.subject(), std::string{uid_of(committed.object)}) : committed.object;
    return answer;
  };
  write.for_object = [&server, &context, options](const ObjectKey& object, Value read) {
    WriteRequest single = delete_request(server, context, options, object);
    // As it was listed, unless the deletion depends on how the object is when it is appended.
    if (object.type == type::kCustomResourceDefinition || deleting(read) || !options->resource_version.empty()) {
      return single;
    }
    single.reads = WriteReads::kNothing;
    single.propose = [propose = std::move(single.propose), read = std::move(read)](const Result<Value>&) {
      return propose(read);
    };
    return single;
  };
  return write;
}

}  // namespace

StageResult<WriteRequest> decode_delete(const Server& server, const RequestContext& context, const std::string& body) {
  SHIPLOG_TRY(auto options, delete_options(context, body));
  return delete_request(server, context, std::make_shared<const DeleteOptions>(std::move(options)), context.key());
}

}  // namespace shiplog::api
