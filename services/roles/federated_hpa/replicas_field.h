#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/time.h"
#include "events/state/served_kind.h"
#include "events/state/state.h"

// The field that a kind's scale subresource shows as spec.replicas.
namespace shiplog::federated_hpa {

/// {"spec", "replicas"} of ".spec.replicas".
std::vector<std::string> steps_of(std::string_view json_path);
const Value& value_at(const Value& object, std::string_view json_path);

/// The template with that many replicas. The role owns the field from then on, as after an update of the scale
/// subresource (SSA-6): an apply that no longer names it keeps the replicas, and one that names others is a conflict.
Value with_replicas(const Value& object, const Served& served, int64_t replicas, UtcMillis now);

/// Why the schema of a custom resource does not allow so many replicas; empty: it does. Rules of
/// x-kubernetes-validations are not evaluated.
std::string replicas_refusal(const State& state, const Served& served, int64_t replicas);

}  // namespace shiplog::federated_hpa
