#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/state/object.h"
#include "events/state/policy.h"
#include "events/state/state.h"

namespace shiplog::binder {

/// Objects of this type can be propagated: not the fleet's own kinds, Events and Leases (D-2).
bool propagates(std::string_view type);
/// Why policies do not reach this object (D-2 to D-4, N-7), in words; empty: they do.
std::string_view not_propagated_because(const FleetOptions& options, const ObjectKey& key, const Value& object);
/// This object can: it lies in no reserved namespace (N-7), and is none of what the options leave out (D-3, D-4).
bool propagates(const FleetOptions& options, const ObjectKey& key, const Value& object);

/// The objects a policy selects, sorted by key.
std::vector<ObjectKey> selected_by(const State& state, const Policy& policy);
/// The objects that carry the policy's claim, sorted by key.
std::vector<ObjectKey> claimed_by(const State& state, const Policy& policy);

/// The template a binding is about; nullopt when its kind is not served.
std::optional<ObjectKey> template_key(const State& state, const Value& binding);

}  // namespace shiplog::binder
