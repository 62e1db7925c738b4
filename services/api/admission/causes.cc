#include "services/api/admission/causes.h"

#include <algorithm>
#include <utility>

#include "events/base/json.h"
#include "events/base/utf8.h"

namespace shiplog::api {
namespace {

constexpr const char* kRequired = "FieldValueRequired";

/// A value as a message shows it: long ones shortened, as an error must not carry a whole object.
std::string shown(const Value& value) {
  if (value.is_string()) return '"' + printable(value.as_string(), 253) + '"';
  return printable(to_json(value), 512);
}

}  // namespace

void Causes::add(FieldCause cause) {
  if (list_.size() == kMost) {
    left_out_ = true;
    return;
  }
  const bool known = std::any_of(list_.begin(), list_.end(), [&](const FieldCause& each) {
    // A missing field is reported once, whichever check finds it first.
    return each == cause || (each.field == cause.field && each.reason == cause.reason && each.reason == kRequired);
  });
  if (known) return;
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
  std::string message = "Required value";
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
  for (const FieldCause& cause : found.list()) {
    if (std::find(before.list().begin(), before.list().end(), cause) == before.list().end()) causes.add(cause);
  }
}

std::string at(const std::string& field, size_t index) { return field + "[" + std::to_string(index) + "]"; }

}  // namespace shiplog::api
