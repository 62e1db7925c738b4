#pragma once

#include "events/base/value.h"
#include "services/roles/federated_hpa/measurement.h"

namespace shiplog::federated_hpa {

/// What the limits leave of a recommendation, and what the conditions AbleToScale and ScalingLimited say about it.
struct LimitedReplicas {
  int64_t replicas = 0;
  const char* able_reason = "";
  const char* able_message = "";
  bool limited = false;
  const char* limited_reason = "";
  const char* limited_message = "";
};

/// Stabilization windows, then minReplicas, maxReplicas and the policies of spec.behavior, as the HPA of Kubernetes
/// applies them (5.8.6). `current` is what the template has, `recent` what was computed and done before. Without
/// spec.behavior: down to the highest recommendation of five minutes, up to twice the replicas or four. Pure.
LimitedReplicas limited(const Value& spec, int64_t current, int64_t recommended, const RecentScaling& recent,
                        UtcMillis now);

/// Drops what can no longer count for `spec`: what is older than its windows and periods, and recommendations that a
/// later one outdoes both as the highest and as the lowest.
void keep_relevant(RecentScaling& recent, const Value& spec, UtcMillis now);

}  // namespace shiplog::federated_hpa
