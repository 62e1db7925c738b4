#include "events/state/condition.h"

#include <algorithm>

namespace shiplog {
namespace {

const Value kNoCondition;

auto has_type(std::string_view type) {
  return [type](const Value& condition) { return condition["type"].as_string() == type; };
}

}  // namespace

const Value& condition_of(const Value& object, std::string_view type) {
  const auto conditions = object["status"]["conditions"].items();
  const auto found = std::ranges::find_if(conditions, has_type(type));
  return found == conditions.end() ? kNoCondition : *found;
}

bool condition_holds(const Value& object, std::string_view type) {
  return condition_of(object, type)["status"].as_string() == "True";
}

Value& edit_condition(Value& status, std::string_view type) {
  Value::Array& conditions = status.edit("conditions").edit_items();
  auto found = std::ranges::find_if(conditions, has_type(type));
  if (found == conditions.end()) found = conditions.insert(found, Value::object({{"type", type}}));
  return *found;
}

void set_condition_status(Value& condition, std::string_view status, UtcMillis time) {
  if (condition["status"].as_string() != status) condition.set("lastTransitionTime", rfc3339(time));
  condition.set("status", status);
}

void set_condition(Value& object, std::string_view type, std::string_view status, std::string_view reason,
                   std::string_view message, UtcMillis time) {
  Value& condition = edit_condition(object.edit("status"), type);
  set_condition_status(condition, status, time);
  // Most of them are well-known texts, which take no memory.
  condition.set("reason", Value::interned(reason));
  condition.set("message", Value::interned(message));
}

void remove_condition(Value& status, std::string_view type) {
  std::erase_if(status.edit("conditions").edit_items(), has_type(type));
}

}  // namespace shiplog
