#pragma once

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/decision.h"
#include "events/state/state.h"

namespace shiplog::scheduler {

/// Chooses the member clusters for one binding. Pure: reads `state` and `now`, touches nothing else.
/// One event: PlacementDecided, the whole placement, sorted by cluster; PlacementRefused, none is possible;
/// QuotaRefused, one is, but a quota has no room for it; StatusUpdated, the placement is kept and the binding's
/// generation is recorded. Nothing: nothing is new, so that repeated decisions append nothing. Where estimators
/// matter it uses their recorded answers.
/// Shape:  Explanation has a line per cluster with each filter's verdict, scores and estimates, and the arithmetic in
///         words. Expects the binding at its revision.
/// Errors: kInvalid, the binding has no placement.
/// Source: docs/reference/scheduling.md: filter, score, select, assign.
///
/// - Owns: spec.clusters of bindings, their condition Scheduled and what it was observed for.
/// - Trigger: a binding's spec or labels change; a cluster that may concern it changes; for those that were refused,
///   room, quotas and members of their groups as well.
/// - Failures: no cluster fits or a quota is full, which is a decision: it waits for a change. Estimators that do not
///   answer are ignored.
///
///   new ──► placed ──(spec, cluster, reschedule request)──► placed anew
///    │         ▲
///    └► refused ──(room, quota, group, taint)──► placed, or refused for another reason
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

/// The same where estimators can be called (S-71): missing answers are requested first, once in each cycle
/// that needs to know room. They have `timeout` to answer.
Result<Decided> decide_with_estimators(const State& state, const ObjectKey& key, UtcMillis now, Millis timeout);

}  // namespace shiplog::scheduler
