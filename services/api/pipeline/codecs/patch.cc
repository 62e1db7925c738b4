#include "services/api/patch/patch.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "events/base/utf8.h"
#include "events/kinds/whole_numbers.h"
#include "services/api/pipeline/codecs/codecs.h"
#include "services/api/pipeline/codecs/patch_errors.h"
#include "services/api/versions/versions.h"

namespace shiplog::api {
namespace {

Result<Value> patched(const Kind& kind, const Value& old, const std::string& type, const Value& patch) {
  if (type == "application/json-patch+json") return apply_json_patch(old, patch, JsonPatchRules::kKubernetes);
  if (type == "application/merge-patch+json") return apply_merge_patch(old, patch);
  if (kind.schema == nullptr) return Error{ErrorCode::kInternal, "the kind has no schema"};
  SHIPLOG_TRY(Value object, apply_strategic_merge_patch(old, patch, *kind.schema));
  for (const char* field : {"apiVersion", "kind"}) {  // SMP-11
    if (object[field].is_string()) object.set(field, old[field]);
  }
  return object;
}

/// The body, with a line in `complaints` about each key that stands twice, and about each member that an operation of a
/// JSON patch does not have.
Result<Value> read_patch(const std::string& type, const std::string& body, std::vector<std::string>& complaints) {
  const bool operations = type == "application/json-patch+json";
  std::vector<std::string> duplicates;
  auto patch = read_json(body, duplicates);
  if (!patch) return patch.error().context("error decoding patch");
  constexpr size_t kMost = 100;  // more are not reported
  for (size_t i = 0; operations && i < patch.value().items().size(); ++i) {
    for (const auto& member : patch.value()[i].members()) {
      static constexpr std::string_view kKnown[] = {"from", "op", "path", "value"};
      if (complaints.size() == kMost || std::ranges::find(kKnown, member.key()) != std::end(kKnown)) continue;
      complaints.push_back("json patch unknown field \"[" + std::to_string(i) + "]." + printable(member.key(), 512) +
                           "\"");
    }
  }
  for (const std::string& duplicate : duplicates) complaints.push_back((operations ? "json patch " : "") + duplicate);
  return patch;
}

}  // namespace

Error unknown_patch_type(const Kind& kind, const std::string& type) {
  std::string accepted = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
  if (kind.builtin) accepted += ", application/strategic-merge-patch+json";
  return {ErrorCode::kUnsupportedMediaType, "the body of the request was in an unknown format (" + type +
                                                ") - accepted media types include: " + accepted};
}

StageResult<WriteRequest> decode_patch(const RequestContext& context, const std::string& body) {
  const Kind& kind = *context.kind;
  WriteRequest write;
  SHIPLOG_TRY(write.parameters, write_parameters(context.request));
  if (write.parameters.force) {
    return invalid({"meta.k8s.io", "PatchOptions", "", ""},
                   {{"force", "FieldValueForbidden", "Forbidden: may not be specified for non-apply patch"}});
  }
  const std::string type = media_type(context.request.headers.get("Content-Type"));
  const bool strategic = type == "application/strategic-merge-patch+json";
  if (type != "application/json-patch+json" && type != "application/merge-patch+json" && !(strategic && kind.builtin)) {
    return unknown_patch_type(kind, type);
  }
  std::vector<std::string> complaints;
  SHIPLOG_TRY(Value patch, read_patch(type, body, complaints));
  if (strategic) patch = with_whole_numbers(std::move(patch));  // Kubernetes decodes it without the types of fields
  write.key = context.key();
  write.form = write_form_of(context.path);
  // A patch that names a version means that version: its author tries again.
  write.retries_conflicts = patch["metadata"]["resourceVersion"].is_empty();
  const auto seen = std::make_shared<PatchAndResult>(PatchAndResult{strategic, patch, {}});
  write.reported = [&context, seen](Rejection rejection) {
    return undecodable_patch(context, *seen, std::move(rejection));
  };
  write.propose = [&context, type, patch = std::move(patch), complaints = std::move(complaints),
                   seen](Result<Value> current) -> StageResult<Proposal> {
    if (!current) return current.error();
    Proposal proposal{.operation = "UPDATE", .verb = "patch"};
    proposal.name = context.path.name;
    proposal.duplicate_fields = complaints;
    // Numbers like 3.0 may be stored from before they were refused; the patch must not fail for them.
    const Value base = with_whole_numbers(in_version(*context.kind, current.value()));
    SHIPLOG_TRY(proposal.object, patched(*context.kind, base, type, patch));
    seen->result = proposal.object;
    SHIPLOG_TRY(check_stated_revision(context, current.value(), proposal.object));
    proposal.old = std::move(current).value();
    return proposal;
  };
  return write;
}

}  // namespace shiplog::api
