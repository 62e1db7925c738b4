#pragma once

#include <vector>

#include "events/base/time.h"
#include "events/base/value.h"

namespace shiplog::federated_hpa {

/// Which limit applies is written that often at most if nothing else changes.
inline constexpr Millis kLimitsEvery{60'000};
/// Averages, and the texts of conditions.
inline constexpr Millis kDetailsEvery{600'000};

/// Whether the status `after` is to be written, `since` after the last one. At once: whether it scales, why not,
/// replicas and times. Averages change a little all the time: only when they have moved by more than a tenth, and by
/// more than a twentieth of the target. `targets`: of each item of currentMetrics, the target in spec.metrics.
bool worth_writing(const Value& before, const Value& after, const std::vector<Value>& targets, Millis since);

}  // namespace shiplog::federated_hpa
