#pragma once

#include <string_view>

#include "events/base/time.h"
#include "events/base/value.h"

namespace shiplog {

// An object's status.conditions. Source: the API conventions of Kubernetes, "Typical status properties".

/// The condition of that type, or null.
const Value& condition_of(const Value& object, std::string_view type);
/// Its status is "True".
bool condition_holds(const Value& object, std::string_view type);

/// The condition of that type in `status`, for writing; appended with nothing but its type when there is none.
Value& edit_condition(Value& status, std::string_view type);
/// lastTransitionTime becomes `time` only when the condition had another status.
void set_condition_status(Value& condition, std::string_view status, UtcMillis time);
/// Both, with reason and message. Other fields of the condition stay.
void set_condition(Value& object, std::string_view type, std::string_view status, std::string_view reason,
                   std::string_view message, UtcMillis time);
void remove_condition(Value& status, std::string_view type);

}  // namespace shiplog
