#pragma once

#include "events/event.h"
#include "events/fold/staged.h"
#include "events/state/condition.h"

namespace shiplog {

// What each event changes; one file per family. Refuse with a reason, or stage and return nothing.

Applied apply(Staged& staged, const ObjectCreated& event);
Applied apply(Staged& staged, const ObjectUpdated& event);
Applied apply(Staged& staged, const StatusUpdated& event);
Applied apply(Staged& staged, const DeletionRequested& event);
Applied apply(Staged& staged, const ObjectRemoved& event);
Applied apply(Staged& staged, const RequestDenied& event);
Applied apply(Staged& staged, const RequestsDenied& event);
Applied apply(Staged& staged, const MemberRequested& event);

Applied apply(Staged& staged, const BindingPut& event);
Applied apply(Staged& staged, const PlacementDecided& event);
Applied apply(Staged& staged, const PlacementRefused& event);
Applied apply(Staged& staged, const ReschedulingTriggered& event);
Applied apply(Staged& staged, const DependenciesResolved& event);
Applied apply(Staged& staged, const AttachedBindingPut& event);
Applied apply(Staged& staged, const QuestionAnswered& event);
Applied apply(Staged& staged, const ReplicasDescheduled& event);

Applied apply(Staged& staged, const WorkRendered& event);
Applied apply(Staged& staged, const WorkRemoved& event);
Applied apply(Staged& staged, const WorkApplied& event);
Applied apply(Staged& staged, const WorkApplyFailed& event);
Applied apply(Staged& staged, const WorkStatusObserved& event);
Applied apply(Staged& staged, const StatusAggregated& event);
Applied apply(Staged& staged, const WorksSynced& event);

Applied apply(Staged& staged, const TaintAdded& event);
Applied apply(Staged& staged, const TaintRemoved& event);
Applied apply(Staged& staged, const EvictionStarted& event);
Applied apply(Staged& staged, const EvictionFinished& event);
Applied apply(Staged& staged, const EvictionsPaused& event);
Applied apply(Staged& staged, const EvictionsResumed& event);
Applied apply(Staged& staged, const FailoverTimerStarted& event);
Applied apply(Staged& staged, const FailoverTimerStopped& event);
Applied apply(Staged& staged, const HandoverStepTaken& event);

Applied apply(Staged& staged, const QuotaUsageChanged& event);
Applied apply(Staged& staged, const QuotaRefused& event);

Applied apply(Staged& staged, const ClusterJoined& event);
Applied apply(Staged& staged, const ClusterObserved& event);
Applied apply(Staged& staged, const ClusterConditionChanged& event);
Applied apply(Staged& staged, const ClusterLeft& event);

Applied apply(Staged& staged, const FeatureGatesSet& event);
Applied apply(Staged& staged, const OptionsSet& event);

/// Copies the object, lets `change` edit the copy and stages it. Refuses when the object does not exist.
template <class Change>
Applied edit(Staged& staged, const ObjectKey& key, Change change) {
  const Value* object = staged.find(key);
  if (object == nullptr) return refusal_about(key, ErrorCode::kNotFound, "not found");
  Value copy = *object;
  change(copy);
  return staged.update(key, std::move(copy));
}

}  // namespace shiplog
