#pragma once

#include <string_view>

#include "events/base/time.h"
#include "events/base/value.h"
#include "events/state/condition.h"

namespace shiplog::member {

/// What a condition says.
struct Says {
  std::string_view status, reason, message;
};

/// Sets the condition in `status`. lastTransitionTime moves only when its status does.
void set_condition(Value& status, std::string_view type, const Says& says, UtcMillis now);

/// A count as Go's omitempty writes it: 0 is left out.
void set_count(Value& status, std::string_view field, int64_t count);

}  // namespace shiplog::member
