#pragma once

#include <utility>
#include <vector>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/event.h"
#include "events/state/state.h"

namespace shiplog::api {

/// The roles and bindings every control plane has (AUTHZ-6), and Karmada's two for namespace users, with the rules of
/// the aggregating ones filled in. A member of a fleet has them too.
const std::vector<std::pair<ObjectKey, Value>>& bootstrap_access();

/// Creates those of them that the state lacks.
std::vector<Event> missing_access(const State& state);

}  // namespace shiplog::api
