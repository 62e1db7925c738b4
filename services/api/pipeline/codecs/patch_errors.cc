#include "services/api/pipeline/codecs/patch_errors.h"

#include <optional>
#include <string_view>
#include <utility>

#include "events/base/json.h"
#include "events/kinds/builtin_kinds.h"
#include "services/api/admission/causes.h"
#include "services/api/admission/decoding.h"
#include "services/api/pipeline/admission_input.h"

namespace shiplog::api {
namespace {

/// Go's kind of the value, as its decoder names it.
std::string go_kind(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return "nil";
    case Value::Kind::kBool:
      return "bool";
    case Value::Kind::kInt:
      return "int64";
    case Value::Kind::kDouble:
      return "float64";
    case Value::Kind::kString:
      return "string";
    case Value::Kind::kArray:
      return "slice";
    case Value::Kind::kObject:
      return "map";
  }
  return "";
}

/// Go converts numbers to texts and to each other, and refuses to do so here; other types it does not know at all.
std::optional<std::string> scalar_problem(const Schema& schema, const Value& value) {
  if (schema.type == Schema::Type::kString && !value.is_string()) {
    return value.is_int() ? "cannot convert int64 to string" : "unrecognized type: string";
  }
  if (schema.type == Schema::Type::kInteger && !value.is_int()) {
    return (value.is_number() ? "cannot convert float64 to " : "unrecognized type: ") + schema.format;
  }
  if (schema.type == Schema::Type::kBoolean && !value.is_bool()) return "unrecognized type: bool";
  return std::nullopt;
}

/// What Go's decoder finds first in a value of another type than its field has; nullopt: nothing, or the type of the
/// field decodes itself.
std::optional<std::string> type_problem(const Schema& schema, const Value& value) {
  const bool decodes_itself = !schema.format.empty() && schema.type != Schema::Type::kInteger;
  if (value.is_null() || decodes_itself) return std::nullopt;
  if (schema.type == Schema::Type::kArray) {
    if (!value.is_array()) return "cannot restore slice from " + go_kind(value);
    for (const Value& item : value.items()) {
      if (schema.items == nullptr) break;
      if (auto problem = type_problem(*schema.items, item)) return problem;
    }
    return std::nullopt;
  }
  if (schema.type != Schema::Type::kObject) return scalar_problem(schema, value);
  const bool is_map = schema.properties.empty() && schema.additional != nullptr;
  if (!value.is_object())
    return (is_map ? "cannot restore map from " : "cannot restore struct from: ") + go_kind(value);
  for (const auto& member : value.members()) {
    const auto known = schema.properties.find(member.key());
    const Schema* below = known != schema.properties.end() ? known->second.get() : schema.additional.get();
    if (below == nullptr) continue;
    if (auto problem = type_problem(*below, member.value)) return problem;
  }
  return std::nullopt;
}

std::optional<std::string> type_problem_of(const Kind& kind, const Value& object) {
  if (auto problem = type_problem(*object_meta_schema(), object["metadata"])) return problem;
  return type_problem(*kind.schema, object);
}

}  // namespace

Rejection undecodable_patch(const RequestContext& context, const PatchAndResult& patch, Rejection rejection) {
  const std::string_view message = rejection.error.message;
  if (rejection.error.code != ErrorCode::kBadRequest) return rejection;
  const Kind* kind = context.kind;
  if (!message.starts_with(cannot_be_handled(*kind))) kind = &written_kind(context);
  const std::string begin = cannot_be_handled(*kind);
  if (!message.starts_with(begin)) return rejection;
  std::string problem{message.substr(begin.size())};
  if (patch.strategic && !problem.starts_with("strict decoding error: ")) {
    problem = type_problem_of(*kind, patch.result).value_or(problem);
  }
  // Upstream quotes the whole object that a patch of another type makes, which its author need not be permitted to
  // read.
  Causes causes;
  causes.invalid("patch", Value{patch.strategic ? go_text(patch.patch) : to_json(patch.patch)}, problem);
  rejection.error = invalid(StatusDetails{}, causes.take());
  rejection.subject = StatusDetails{};
  return rejection;
}

std::string go_text(const Value& value) {
  std::string text;
  const auto add = [&](const std::string& element) { text += (text.empty() ? "" : " ") + element; };
  if (value.is_null()) return "<nil>";
  if (value.is_string()) return value.str();
  if (!value.is_array() && !value.is_object()) return to_json(value);
  for (const Value& item : value.items()) add(go_text(item));
  for (const auto& member : value.members()) add(std::string{member.key()} + ":" + go_text(member.value));
  return (value.is_object() ? "map[" : "[") + text + "]";
}

}  // namespace shiplog::api
