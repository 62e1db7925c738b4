#include <utility>

#include "events/base/utf8.h"
#include "events/base/yaml.h"
#include "events/kinds/canonical_quantity.h"
#include "events/kinds/whole_numbers.h"
#include "services/api/admission/decoding.h"
#include "services/api/pipeline/admission_input.h"
#include "services/api/pipeline/codecs/codecs.h"
#include "services/api/versions/versions.h"

namespace shiplog::api {
namespace {

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

/// The patch, checked as far as it can be without the object (SSA-1, SSA-2).
Result<Value> read_apply_patch(const RequestContext& context, const std::string& body,
                               std::vector<std::string>& duplicates) {
  auto patch = parse_yaml(body, &duplicates);
  if (!patch) return patch.error().context("error decoding YAML");
  patch = with_whole_numbers(std::move(patch).value());
  const Value& name = patch.value()["metadata"]["name"];
  if (!name.is_empty() && name.as_string() != context.path.name) {
    return Error{ErrorCode::kBadRequest, "the name of the object (" + name.str() +
                                             ") does not match the name on the URL (" + context.path.name + ")"};
  }
  const Kind& kind = *context.kind;
  if (patch.value()["apiVersion"].as_string() != kind.api_version() || patch.value()["kind"].as_string() != kind.kind) {
    return Error{ErrorCode::kBadRequest, "Incorrect version specified in apply patch. Specified patch version: " +
                                             patch.value()["apiVersion"].str() + " " + patch.value()["kind"].str() +
                                             ", expected: " + kind.api_version() + " " + kind.kind};
  }
  return patch;
}

/// A field that the kind does not have can have no owner. Kubernetes refuses such a patch however fields are validated.
Result<void> check_declared(const RequestContext& context, Value patch) {
  const Kind& kind = *context.kind;
  if (kind.schema == nullptr) return ok();
  std::vector<std::string> unknown = drop_unknown_fields(kind, patch);
  if (unknown.empty()) return ok();
  constexpr size_t kMost = 100;  // more are not reported
  constexpr size_t kLongest = 512;
  if (unknown.size() > kMost) unknown.resize(kMost);
  std::string errors = unknown.size() == 1 ? "" : "errors:\n  ";
  for (const std::string& field : unknown) {
    errors +=
        (&field == unknown.data() ? "." : "\n  .") + printable(field, kLongest) + ": field not declared in schema";
  }
  return Error{ErrorCode::kBadRequest, "failed to create typed patch object (" + context.path.ns + "/" +
                                           context.path.name + "; " + kind.group + "/" + kind.version +
                                           ", Kind=" + kind.kind + "): " + errors};
}

/// Keys that stand twice, as Kubernetes' YAML reader reports them: in one error.
Error strict_decoding_error(const std::vector<std::string>& duplicates) {
  std::string message = "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:";
  for (const std::string& duplicate : duplicates) message += "\n  " + duplicate;
  return {ErrorCode::kBadRequest, std::move(message)};
}

}  // namespace

Error field_manager_required() {
  return invalid({"meta.k8s.io", "PatchOptions", "", ""},
                 {{"fieldManager", "FieldValueRequired", "Required value: is required for apply patch"}});
}

/// What the patch names is put onto the current object, as far as no other manager owns it (SSA-1 to SSA-12).
StageResult<WriteRequest> decode_apply(const Server& server, const RequestContext& context, const std::string& body) {
  WriteRequest write;
  SHIPLOG_TRY(write.parameters, write_parameters(context.request));
  if (write.parameters.field_manager.empty()) return field_manager_required();
  std::vector<std::string> duplicates;
  SHIPLOG_TRY(Value patch, read_apply_patch(context, body, duplicates));
  SHIPLOG_TRY(check_declared(context, patch));
  write.key = context.key();
  write.form = write_form_of(context.path);
  // A client that names a version means that version.
  write.retries_conflicts = patch["metadata"]["resourceVersion"].is_empty();
  write.propose = [&server, &context, parameters = write.parameters, patch = std::move(patch),
                   duplicates = std::move(duplicates)](Result<Value> current) -> StageResult<Proposal> {
    const bool missing = !current && current.error().code == ErrorCode::kNotFound;
    if (!current && (!missing || !context.path.subresource.empty())) return current.error();
    if (missing && !patch["metadata"]["uid"].is_empty()) {  // SSA-3
      return conflict(context.subject(), "uid mismatch: the provided object specified uid " +
                                             patch["metadata"]["uid"].str() + ", and no existing object was found");
    }
    Proposal proposal{.operation = missing ? "CREATE" : "UPDATE", .verb = "patch", .success = missing ? 201 : 200};
    proposal.name = context.path.name;
    proposal.duplicate_fields = duplicates;
    proposal.applied = true;
    if (!missing) proposal.old = std::move(current).value();
    const Kind& kind = written_kind(context);
    Value wanted = context.kind->is_view() ? in_version(kind, patch) : patch;
    if (kind.builtin && kind.schema != nullptr) {
      wanted = without_nothing(*kind.schema, std::move(wanted), proposal.old);
      wanted = with_canonical_quantities(*kind.schema, std::move(wanted));  // 1 and "1000m" are no conflict
    }
    // Numbers like 3.0 may be stored from before they were refused; the patch must not fail for them.
    const Value live = with_whole_numbers(proposal.old);
    SHIPLOG_TRY(auto applied,
                apply_fields(field_writer_for(server, context, parameters), kind, live, wanted, parameters.force));
    if (!applied.conflicts.empty()) return conflict_error(applied.conflicts);
    if (!duplicates.empty() && parameters.field_validation == FieldValidation::kStrict) {
      return strict_decoding_error(duplicates);
    }
    proposal.object = std::move(applied.object);
    if (missing) {
      proposal.object.edit("metadata").set("name", context.path.name);
    } else {
      SHIPLOG_TRY(check_stated_revision(context, proposal.old, proposal.object));
    }
    return proposal;
  };
  return write;
}

}  // namespace shiplog::api
