#include "events/kinds/selectable_fields.h"

#include <algorithm>
#include <set>

#include "events/base/json.h"
#include "events/base/result.h"
#include "events/kinds/cause_reasons.h"

namespace shiplog {
namespace {

constexpr size_t kMostFields = 8;

/// The next part of a JSON path: a delimiter ('.', '[', ']') or what stands up to the next one.
std::string_view next_token(std::string_view rest) {
  constexpr std::string_view kDelimiters = ".[]";
  const size_t end = rest.find_first_of(kDelimiters);
  if (end == 0) return rest.substr(0, 1);
  return rest.substr(0, end);
}

Error wrong(std::string why) { return Error{ErrorCode::kInvalid, std::move(why)}; }

const Schema* below(const Schema& schema, std::string_view name) {
  if (schema.properties.empty()) return schema.additional.get();
  const auto found = schema.properties.find(name);
  return found == schema.properties.end() ? nullptr : found->second.get();
}

/// The schema of the field that the path leads to.
Result<const Schema*> schema_at(const Schema& root, std::string_view path) {
  const Schema* schema = &root;
  while (!path.empty()) {
    const std::string_view token = next_token(path);
    path.remove_prefix(token.size());
    if (token == "[") return wrong("array notation is not allowed");
    if (token != ".") return wrong("expected [ or . but got: " + std::string{token});
    if (path.empty()) return wrong("unexpected end of JSON path");
    const std::string_view name = next_token(path);
    path.remove_prefix(name.size());
    schema = below(*schema, name);
    if (schema == nullptr) return wrong("does not refer to a valid field");
  }
  return schema;
}

bool is_selectable(const Schema& schema) {
  return schema.type == Schema::Type::kString || schema.type == Schema::Type::kBoolean ||
         schema.type == Schema::Type::kInteger;
}

}  // namespace

std::vector<std::string> read_selectable_fields(const Value& list, const Schema& schema, const std::string& path,
                                                std::vector<FieldCause>& causes) {
  std::vector<std::string> fields;
  std::set<std::string> seen;
  size_t index = 0;
  for (const Value& item : list.items()) {
    const std::string field = path + "[" + std::to_string(index++) + "].jsonPath";
    const std::string json_path = item["jsonPath"].str();
    if (json_path.empty()) {
      causes.push_back({field, "FieldValueRequired", "Required value"});
      continue;
    }
    const std::string shown = to_json(Value{json_path});
    const auto invalid = [&](const std::string& why) {
      causes.push_back({field, kInvalid, "Invalid value: " + shown + ": " + why});
    };
    const auto found = schema_at(schema, json_path);
    if (!found) {
      invalid("is an invalid path: " + found.error().message);
      continue;
    }
    std::string name = json_path.substr(1);
    if (name == "metadata" || name.starts_with("metadata.")) invalid("must not point to fields in metadata");
    if (!is_selectable(*found.value())) {
      invalid(
          "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are "
          "allowed.");
    }
    if (!seen.insert(name).second) {
      causes.push_back({field, "FieldValueDuplicate", "Duplicate value: " + shown});
    } else {
      fields.push_back(std::move(name));
    }
  }
  if (fields.size() > kMostFields) {
    causes.push_back({path, "FieldValueTooMany",
                      "Too many: " + std::to_string(fields.size()) + ": must have at most " +
                          std::to_string(kMostFields) + " items"});
  }
  return fields;
}

}  // namespace shiplog
