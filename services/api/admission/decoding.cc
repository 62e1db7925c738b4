#include "services/api/admission/decoding.h"

#include <algorithm>
#include <utility>

#include "events/base/utf8.h"
#include "events/kinds/builtin_kinds.h"

namespace shiplog::api {
namespace {

/// All complaints in one error. Those of the YAML reader come first, as one complaint of several lines.
std::string joined(const std::vector<std::string>& complaints) {
  std::string all;
  for (const std::string& complaint : complaints) {
    const bool of_yaml = complaint.starts_with("line ");
    if (of_yaml) {
      all += all.empty() ? "yaml: unmarshal errors:\n  " : "\n  ";
    } else if (!all.empty()) {
      all += ", ";
    }
    all += complaint;
  }
  return all;
}

}  // namespace

std::string cannot_be_handled(const Kind& kind) {
  return kind.kind + " in version \"" + kind.version + "\" cannot be handled as a " + kind.kind + ": ";
}

std::vector<std::string> drop_unknown_fields(const Kind& kind, Value& object) {
  std::vector<std::string> dropped;
  if (kind.schema != nullptr) object = prune(*kind.schema, std::move(object), &dropped);
  std::vector<std::string> of_metadata;
  Value metadata = prune(*object_meta_schema(), object["metadata"], &of_metadata);
  for (const char* field : {"apiVersion", "kind", "metadata"}) {  // prune() lets these pass at the root
    if (metadata.erase(field)) of_metadata.emplace_back(field);
  }
  object.set("metadata", std::move(metadata));
  for (std::string& field : of_metadata) field = "metadata." + field;
  const auto behind = std::ranges::find_if(dropped, [](const std::string& field) { return field > "metadata"; });
  dropped.insert(behind, of_metadata.begin(), of_metadata.end());
  return dropped;
}

Result<void> drop_unknown(Admission& admission, Value& object) {
  constexpr size_t kMostComplaints = 100;  // as Kubernetes' JSON decoder
  const Kind& kind = *admission.kind;
  std::vector<std::string> complaints;
  const auto complain = [&](const std::string& problem) {
    if (complaints.size() < kMostComplaints) complaints.push_back(problem);
  };
  const std::vector<std::string> dropped = drop_unknown_fields(kind, object);
  for (const std::string& problem : admission.duplicate_fields) complain(problem);
  for (const std::string& field : dropped) complain("unknown field \"" + printable(field, 512) + "\"");
  if (complaints.empty() || admission.field_validation == FieldValidation::kIgnore) return ok();
  if (admission.field_validation == FieldValidation::kWarn) {
    admission.warnings.insert(admission.warnings.end(), complaints.begin(), complaints.end());
    return ok();
  }
  return Error{ErrorCode::kBadRequest, cannot_be_handled(kind) + "strict decoding error: " + joined(complaints)};
}

}  // namespace shiplog::api
