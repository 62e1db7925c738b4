#pragma once

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/decision.h"
#include "events/state/state.h"

namespace shiplog::quota {

/// Brings the status of one FederatedResourceQuota up to date. Pure; one QuotaUsageChanged, or Nothing when the status
/// is right. Only for people: what counts for refusing a placement is the fold's own sum.
/// Source.
///
/// - overall: as in the spec.
/// - aggregatedStatus: what the members report of the ResourceQuotas of static assignments, sorted by cluster.
/// - overallUsed: with gate FederatedQuotaEnforcement what the bindings of the namespace use of the limited resources.
///   Without it the sum over aggregatedStatus; of a quota without assignments, which no member knows, what the bindings
///   use (decision 0061).
///
/// - Owns: the status of FederatedResourceQuotas. While quotas are enforced, the fold itself keeps overallUsed in step
///   with the bindings.
/// - Trigger: a quota's spec, what the bindings of its namespace use, the status of its Works, the gates.
/// - Failures: none.
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

}  // namespace shiplog::quota
