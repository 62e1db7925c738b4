#pragma once

#include <string_view>

#include "events/state/object.h"

namespace shiplog {

/// Annotation of a binding: a fresh placement was requested after the last one, although spec.rescheduleTriggeredAt is
/// not later than status.lastScheduledTime, because both times have whole seconds. The fold sets it with the request
/// and removes it with the next placement (REB-7).
inline constexpr const char* kReschedulePendingAnnotation = "binding.shiplog.io/reschedule-pending";

inline bool reschedule_pending(const Value& binding) {
  return !annotation_of(binding, kReschedulePendingAnnotation).empty();
}

}  // namespace shiplog
