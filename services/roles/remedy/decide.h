#pragma once

#include "events/decision.h"

namespace shiplog::remedy {

inline constexpr const char* kRemedy = "remedies.remedy.karmada.io";
/// Of --controllers; on by default.
inline constexpr const char* kController = "remedy";

/// What is to be done about a cluster in its present state: status.remedyActions of the cluster `key`, the actions of
/// all Remedies that match it, sorted (5.6.2, 5.6.3). Carrying them out is up to others, which watch the Cluster. Pure.
///
/// - Owns: status.remedyActions of Clusters.
/// - Trigger: a Remedy changes; conditions or remedyActions of a cluster change.
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

}  // namespace shiplog::remedy
