#include "services/api/admission/causes.h"

#include <algorithm>
#include <utility>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "events/kinds/schema.h"

namespace shiplog::api {
namespace {

constexpr const char* kRequired = "FieldValueRequired";
constexpr std::string_view kRequiredMessage = "Required value";

/// Adds JSON, but stops once `out` has more than `most` bytes: a large value may be shown many times.
void append_beginning(const Value& value, size_t most, std::string& out) {
  if (!value.is_array() && !value.is_object()) return append_json(value, out);
  const char* separator = value.is_array() ? "[" : "{";
  for (const Value& item : value.items()) {
    if (out.size() > most) return;
    out += separator;
    append_beginning(item, most, out);
    separator = ",";
  }
  for (const auto& member : value.members()) {
    if (out.size() > most) return;
    out += separator;
    append_json_string(member.key(), out);
    out += ':';
    append_beginning(member.value, most, out);
    separator = ",";
  }
  if (value.size() == 0) out += separator;
  out += value.is_array() ? ']' : '}';
}

/// A value as a message shows it: long ones shortened, as an error must not carry a whole object.
std::string shown(const Value& value) {
  constexpr size_t kMostShown = 512;
  if (value.is_string()) return '"' + printable(value.as_string(), 253) + '"';
  std::string text;
  append_beginning(value, kMostShown, text);
  return printable(text, kMostShown);
}

/// "spec.ports[].port" of "spec.ports[3].port": entries may move.
std::string without_indices(std::string_view field) {
  std::string text;
  bool number = false;
  for (size_t i = 0; i < field.size(); ++i) {
    if (field[i] == '[') {
      const size_t end = field.find_first_not_of("0123456789", i + 1);
      number = end != std::string_view::npos && end > i + 1 && field[end] == ']';
    }
    if (field[i] == ']') number = false;
    if (!number || field[i] == '[') text += field[i];
  }
  return text;
}

/// Whether `field` is `owner` or below it.
bool is_within(std::string_view field, std::string_view owner) {
  if (!field.starts_with(owner)) return false;
  return field.size() == owner.size() || field[owner.size()] == '.' || field[owner.size()] == '[';
}

/// The schema of the field "spec.ports[0].port" or "spec.limits[cpu]"; nullptr: it is not known.
const Schema* schema_at(const Schema& root, std::string_view field) {
  const Schema* schema = &root;
  while (schema != nullptr && !field.empty()) {
    const bool bracket = field.front() == '[';
    if (bracket) {
      const size_t end = field.find(']');
      if (end == std::string_view::npos) return nullptr;
      field.remove_prefix(end + 1);
      schema = schema->items != nullptr ? schema->items.get() : schema->additional.get();
    } else {
      const size_t end = std::min(field.find_first_of(".["), field.size());
      const auto found = schema->properties.find(field.substr(0, end));
      schema = found == schema->properties.end() ? nullptr : found->second.get();
      field.remove_prefix(end);
    }
    if (field.starts_with('.')) field.remove_prefix(1);
  }
  return schema;
}

/// As Go prints the zero value; nullptr: of a pointer, a list or an object.
const char* zero_of(const Schema* schema) {
  if (schema == nullptr || schema->proto_pointer) return nullptr;
  if (schema->type == Schema::Type::kString) return "\"\"";
  if (schema->type == Schema::Type::kInteger || schema->type == Schema::Type::kNumber) return "0";
  return schema->type == Schema::Type::kBoolean ? "false" : nullptr;
}

}  // namespace

void Causes::drop_covered(const Causes& found) {
  std::erase_if(list_, [&](const FieldCause& missing) {
    if (missing.reason != kRequired) return false;
    return std::ranges::any_of(found.list_, [&](const FieldCause& each) {
      return is_within(each.field, missing.field) && (each.field != missing.field || each.reason != kRequired);
    });
  });
}

void Causes::show_zeros(const Schema& schema) {
  for (FieldCause& cause : list_) {
    for (const std::string_view what : {"Invalid value: ", "Unsupported value: ", "Duplicate value: "}) {
      if (!cause.message.starts_with(std::string{what} + "null")) continue;
      if (const char* zero = zero_of(schema_at(schema, cause.field))) cause.message.replace(what.size(), 4, zero);
    }
  }
}

void Causes::add(FieldCause cause) {
  if (list_.size() == kMost) {
    left_out_ = true;
    return;
  }
  const auto known = std::ranges::find_if(list_, [&](const FieldCause& each) {
    // A missing field is reported once, whichever check finds it first.
    return each == cause || (each.field == cause.field && each.reason == cause.reason && each.reason == kRequired);
  });
  if (known != list_.end()) {
    if (known->message == kRequiredMessage) known->message = std::move(cause.message);
    return;
  }
  if (const size_t size = cause.message.size(); size > kLongestMessage) {
    // A value at the beginning is cut, what is wrong with it stands at the end.
    const std::string_view message = cause.message;
    cause.message = printable(message, kLongestMessage / 2) + " ... " +
                    printable(message.substr(size - kLongestMessage / 2), kLongestMessage / 2);
  }
  list_.push_back(std::move(cause));
}

void Causes::add(const Causes& others) {
  for (const FieldCause& cause : others.list_) add(cause);
  left_out_ = left_out_ || others.left_out_;
}

std::vector<FieldCause> Causes::take() {
  if (left_out_) list_.push_back({"", "FieldValueInvalid", "further errors are not shown"});
  left_out_ = false;
  return std::move(list_);
}

void Causes::required(std::string field, std::string_view detail) {
  std::string message{kRequiredMessage};
  if (!detail.empty()) message.append(": ").append(detail);
  add({std::move(field), kRequired, std::move(message)});
}

void Causes::invalid(std::string field, const Value& value, std::string_view detail) {
  add({std::move(field), "FieldValueInvalid", "Invalid value: " + shown(value) + ": " + std::string{detail}});
}

void Causes::not_supported(std::string field, const Value& value, std::initializer_list<std::string_view> supported) {
  std::string message = "Unsupported value: " + shown(value) + ": supported values: ";
  const char* separator = "";
  for (const std::string_view each : supported) {
    message.append(separator).append("\"").append(each).append("\"");
    separator = ", ";
  }
  add({std::move(field), "FieldValueNotSupported", std::move(message)});
}

void Causes::duplicate(std::string field, const Value& value) {
  add({std::move(field), "FieldValueDuplicate", "Duplicate value: " + shown(value)});
}

void Causes::forbidden(std::string field, std::string_view detail) {
  add({std::move(field), "FieldValueForbidden", "Forbidden: " + std::string{detail}});
}

void Causes::too_long(std::string field, size_t most) {
  add({std::move(field), "FieldValueTooLong", "Too long: may not be more than " + std::to_string(most) + " bytes"});
}

void Causes::too_many(std::string field, size_t items, size_t most) {
  add({std::move(field), "FieldValueTooMany",
       "Too many: " + std::to_string(items) + ": must have at most " + std::to_string(most) + " items"});
}

void check_new(const Value& value, const Value& old, const std::function<void(const Value&, Causes&)>& check,
               Causes& causes) {
  Causes found;
  check(value, found);
  if (found.empty()) return;
  Causes before;
  if (!old.is_null()) check(old, before);
  const auto stood = [&](const FieldCause& cause) {
    return std::ranges::any_of(before.list(), [&](const FieldCause& each) {
      return each.reason == cause.reason && each.message == cause.message &&
             without_indices(each.field) == without_indices(cause.field);
    });
  };
  for (const FieldCause& cause : found.list()) {
    if (!stood(cause)) causes.add(cause);
  }
}

std::string at(const std::string& field, size_t index) { return field + "[" + std::to_string(index) + "]"; }

}  // namespace shiplog::api
