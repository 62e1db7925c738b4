#pragma once

#include <optional>

#include "events/base/time.h"
#include "events/base/value.h"

namespace shiplog::collector {

/// AggregateStatus of the native kinds (behaviour-core T-11 to T-15): the whole new status of a template, from the
/// binding's aggregatedStatus items. nullopt: the kind has no rule, its status is left alone. Pure; `now` dates new
/// conditions.
std::optional<Value> aggregated(const Value& object, const Value& items, UtcMillis now);

}  // namespace shiplog::collector
