#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events/decision.h"

namespace shiplog::taint {

std::vector<Event> decide_health(const ObjectKey& key, const Value& cluster);
std::vector<Event> decide_policies(const State& state, const ObjectKey& cluster);

/// The state of a binding's evictions at `now`.
struct Evictions {
  std::vector<Event> events;
  std::optional<UtcMillis> next;  ///< the earliest deadline that lies ahead
};
Result<Evictions> decide_evictions(const State& state, const ObjectKey& key, const Value& binding, UtcMillis now);

}  // namespace shiplog::taint
