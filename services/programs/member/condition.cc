#include "services/programs/member/condition.h"

namespace shiplog::member {

void set_condition(Value& status, std::string_view type, const ConditionFields& fields, UtcMillis now) {
  Value& condition = edit_condition(status, type);
  set_condition_status(condition, fields.status, now);
  const auto set_text = [&](std::string_view field, std::string_view text) {
    if (text.empty()) {
      condition.erase(field);
    } else {
      condition.set(field, text);
    }
  };
  set_text("reason", fields.reason);
  set_text("message", fields.message);
}

void set_count(Value& status, std::string_view field, int64_t count) {
  if (count == 0) {
    status.erase(field);
  } else {
    status.set(field, count);
  }
}

}  // namespace shiplog::member
