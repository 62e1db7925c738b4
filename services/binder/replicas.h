#pragma once

#include <cstdint>
#include <optional>

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog::binder {

/// How many replicas a workload wants, and what one of them needs.
struct Replicas {
  int64_t count = 0;
  Value requirements;  ///< ResourceBinding.spec.replicaRequirements; null: nothing is asked for
  bool operator==(const Replicas&) const = default;
};

/// Natively for apps/v1 Deployment, ReplicaSet, StatefulSet, batch/v1 Job and v1 Pod; nullopt for every other kind: it
/// is no workload. Error: kInvalid, a resource amount that does not parse (the message names container and resource).
/// Source: behaviour-core L-5, L-6.
Result<std::optional<Replicas>> interpret_replicas(const Value& object);

}  // namespace shiplog::binder
