#pragma once

#include <string_view>

#include "events/base/time.h"
#include "events/base/value.h"
#include "events/state/condition.h"

namespace shiplog::member {

/// The fields of a condition.
struct ConditionFields {
  std::string_view status, reason, message;
};

/// Sets the condition in `status`. lastTransitionTime changes only with the condition's status.
void set_condition(Value& status, std::string_view type, const ConditionFields& fields, UtcMillis now);

/// A count as Go's omitempty writes it: 0 is omitted.
void set_count(Value& status, std::string_view field, int64_t count);

}  // namespace shiplog::member
