#include <algorithm>
#include <iterator>
#include <utility>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "services/api/auth/gate.h"
#include "services/api/certificates.h"
#include "services/api/customizations.h"
#include "services/api/patch/patch.h"
#include "services/api/versions/versions.h"
#include "services/api/writes.h"

namespace shiplog::api {
namespace {

bool is_status_write(const ResourcePath& path) {
  return path.subresource == "status" || path.subresource == "approval";
}

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
  if (const auto denied = refuse_customization(*server, *context, wanted)) return refuse(server, context, *denied);
  if (update.applied) {
    wanted.edit("metadata").set("managedFields", update.managed);
  } else {
    wanted = tracked(*server, *context, options, old, std::move(wanted), update.managed);
  }
  if (!update.write.status) {
    auto with_addresses = addressed(*server, *context, old, std::move(wanted));
    if (!with_addresses) return refuse(server, context, with_addresses.error());
    wanted = std::move(with_addresses).value();
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

Result<Value> patched(const Context& context, const Value& old, const std::string& type, const Value& patch) {
  if (type == "application/json-patch+json") return apply_json_patch(old, patch, JsonPatchRules::kKubernetes);
  if (type == "application/merge-patch+json") return apply_merge_patch(old, patch);
  if (context.kind->schema == nullptr) return Error{ErrorCode::kInternal, "the kind has no schema"};
  return apply_strategic_merge_patch(old, patch, *context.kind->schema);
}

void try_patch(const ServerPtr& server, const ContextPtr& context, const WriteOptions& options, const std::string& type,
               const Value& patch, int tries) {
  server->when_read(context, [=](const Result<Value>& old) {
    if (!old) return server->fail(context, old.error());
    auto object = patched(*context, in_version(*context->kind, old.value()), type, patch);
    if (!object) return server->fail(context, object.error());
    Write write{.verb = "patch", .success = 200, .status = is_status_write(context->path), .on_conflict = {}};
    const auto again = [=] { try_patch(server, context, options, type, patch, tries - 1); };
    if (tries > 1) write.on_address_taken = again;
    // A patch that names a version means that version: its author, not we, tries again.
    if (tries > 1 && patch["metadata"]["resourceVersion"].is_empty()) {
      write.on_conflict = [=](const Error&) { again(); };
    }
    update_from(server, context,
                {.options = options, .old = old.value(), .object = std::move(object).value(), .write = write});
  });
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
  server->when_read(context, [=](Result<Value> old) {
    const auto again = [=] { try_update(server, context, options, object, duplicates, tries - 1); };
    if (!old && old.error().code == ErrorCode::kNotFound && creates_on_update(*context, object)) {
      Write write{.verb = "create", .success = 201, .status = false, .on_conflict = {}};
      if (tries > 1) {
        write.on_conflict = [=](const Error&) { again(); };
      }
      return create_from(server, context,
                         {.options = options, .object = object, .write = write, .duplicates = duplicates});
    }
    // The content is lost, and this replaces all of it.
    if (!old && old.error().code == ErrorCode::kCorrupt && context->path.subresource.empty()) {
      old = server->current_unopened(*context, context->key());
    }
    if (!old) return server->fail(context, old.error());
    Write write{.verb = "update", .success = 200, .status = is_status_write(context->path), .on_conflict = {}};
    if (tries > 1) write.on_address_taken = again;
    if (tries > 1 && object["metadata"]["resourceVersion"].is_empty()) {
      write.on_conflict = [=](const Error&) { again(); };
    }
    update_from(server, context,
                {.options = options, .old = old.value(), .object = object, .write = write, .duplicates = duplicates});
  });
}

/// A patch without the maps and lists that are empty and not there: they would have an owner, but be stored by no
/// write, so that the next manager who names them would be in conflict over nothing.
Value without_nothing(const Schema& schema, Value patch, const Value& live) {
  const Value given = patch;
  for (const auto& member : given.members()) {  // of a kind's fields only, so few are erased
    const auto known = schema.properties.find(member.key());
    if (known == schema.properties.end()) continue;
    const Schema& below = *known->second;
    const Value& there = live[member.key()];
    const bool holds = below.type == Schema::Type::kArray || (below.additional != nullptr && below.properties.empty());
    if (holds && !below.always && !below.proto_pointer && !member.value.is_null() && member.value.size() == 0 &&
        there.size() == 0) {
      patch.erase(member.key());
    } else if (member.value.is_object()) {
      patch.set(member.key(), without_nothing(below, member.value, there));
    }
  }
  return patch;
}

/// Server-side apply: what the patch names is put onto what is there, as far as nobody else owns it (SSA-1 to SSA-12).
void try_apply(const ServerPtr& server, const ContextPtr& context, const WriteOptions& options, const Value& patch,
               const std::vector<std::string>& duplicates, int tries) {
  server->when_read(context, [=](const Result<Value>& old) {
    const bool status = is_status_write(context->path);
    const bool missing = !old && old.error().code == ErrorCode::kNotFound;
    if (!old && (!missing || status)) return server->fail(context, old.error());
    if (missing && !patch["metadata"]["uid"].is_empty()) {  // SSA-3
      return server->fail(context, conflict(context->subject(), "uid mismatch: the provided object specified uid " +
                                                                    patch["metadata"]["uid"].str() +
                                                                    ", and no existing object was found"));
    }
    const Value live = missing ? Value{} : old.value();
    const Kind& kind = written_kind(*context);
    Value wanted = context->kind->is_view() ? in_version(kind, patch) : patch;
    if (kind.builtin && kind.schema != nullptr) wanted = without_nothing(*kind.schema, std::move(wanted), live);
    auto applied = apply_fields(field_writer_for(*server, *context, options), kind, live, wanted, options.force);
    if (!applied) return server->fail(context, applied.error());
    if (!applied.value().conflicts.empty()) return server->fail(context, conflict_error(applied.value().conflicts));
    Write write{.verb = "patch", .success = missing ? 201 : 200, .status = status, .on_conflict = {}};
    const auto again = [=] { try_apply(server, context, options, patch, duplicates, tries - 1); };
    if (tries > 1) write.on_address_taken = again;
    // Whoever names a version means that version.
    if (tries > 1 && patch["metadata"]["resourceVersion"].is_empty()) {
      write.on_conflict = [=](const Error&) { again(); };
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
