#pragma once

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/decision.h"
#include "events/state/state.h"

namespace shiplog::quota {

/// Brings the status of one FederatedResourceQuota up to date: overall as in the spec, overallUsed what the bindings of
/// its namespace use of the resources it limits. Pure; one QuotaUsageChanged, or Nothing when the status is right.
/// Only for people: what counts for refusing a placement is the fold's own sum.
/// Source.
///
/// - Owns: the status of FederatedResourceQuotas.
/// - Trigger: a quota's spec, or what the bindings of its namespace use.
/// - Failures: none.
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

}  // namespace shiplog::quota
