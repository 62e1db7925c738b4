#include "services/programs/member/condition.h"

#include <algorithm>

namespace shiplog::member {

const Value& condition(const Value& object, std::string_view type) {
  static const Value kNone;
  for (const Value& one : object["status"]["conditions"].items()) {
    if (one["type"].as_string() == type) return one;
  }
  return kNone;
}

void set_condition(Value& status, std::string_view type, const Says& says, UtcMillis now) {
  Value::Array& conditions = status.edit("conditions").edit_items();
  auto at = std::ranges::find_if(conditions, [&](const Value& one) { return one["type"].as_string() == type; });
  if (at == conditions.end()) at = conditions.insert(at, Value::object({{"type", type}}));
  if ((*at)["status"].as_string() != says.status) at->set("lastTransitionTime", rfc3339(now));
  at->set("status", says.status);
  const auto set_text = [&](std::string_view field, std::string_view text) {
    if (text.empty()) {
      at->erase(field);
    } else {
      at->set(field, text);
    }
  };
  set_text("reason", says.reason);
  set_text("message", says.message);
}

void set_count(Value& status, std::string_view field, int64_t count) {
  if (count == 0) {
    status.erase(field);
  } else {
    status.set(field, count);
  }
}

}  // namespace shiplog::member
