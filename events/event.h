#pragma once

#include <string_view>
#include <variant>

#include "events/api.h"
#include "events/base/alternative.h"
#include "events/cluster.h"
#include "events/control.h"
#include "events/dispatch.h"
#include "events/quota.h"
#include "events/scheduling.h"
#include "events/taint.h"

namespace shiplog {

/// The alternatives of Event.
using EventVariant = std::variant<
    // api
    ObjectCreated, ObjectUpdated, StatusUpdated, DeletionRequested, ObjectRemoved, RequestDenied, RequestsDenied,
    MemberRequested,
    // scheduling
    BindingPut, PlacementDecided, PlacementRefused, ReschedulingTriggered, DependenciesResolved, AttachedBindingPut,
    QuestionAnswered, ReplicasDescheduled,
    // dispatch
    WorkRendered, WorkRemoved, WorkApplied, WorkApplyFailed, WorkStatusObserved, StatusAggregated, WorksSynced,
    // taint
    TaintAdded, TaintRemoved, EvictionStarted, EvictionFinished, EvictionsPaused, EvictionsResumed,
    FailoverTimerStarted, FailoverTimerStopped, HandoverStepTaken,
    // quota
    QuotaUsageChanged, QuotaRefused,
    // cluster
    ClusterJoined, ClusterObserved, ClusterConditionChanged, ClusterLeft,
    // control
    LeaseTaken, FoldVersionActivated, StateHashed, SnapshotTaken, FeatureGatesSet, OptionsSet>;

/// One fact or request inside an entry. Every alternative has an apply() in events/fold and a message in
/// schemas/events/v1; one without either does not compile. std::visit, std::get_if and the rest work on it.
/// More than a name for the variant because copying, moving and destroying thirty alternatives is compiled once
/// (event.cc) instead of in every file that touches an entry: half of the compile time of such a file.
class Event : public EventVariant {
 public:
  template <class Kind>
  requires kIsAlternative<Kind, EventVariant> Event(Kind kind);  // implicit, as with a variant
  Event(const Event& other);
  Event(Event&& other) noexcept;
  Event& operator=(const Event& other);
  Event& operator=(Event&& other) noexcept;
  ~Event();
  bool operator==(const Event& other) const;
};

enum class Family { kApi, kScheduling, kDispatch, kTaint, kQuota, kCluster, kControl };

Family family_of(const Event& event);
/// "api", "scheduling", ...
std::string_view name_of(Family family);
/// "ObjectCreated", "PlacementDecided", ...
std::string_view name_of(const Event& event);
/// The object the event is about; empty for control events.
ObjectKey subject_of(const Event& event);
/// One line for people: `default/nginx-deployment -> m1:2 m2:1`. Without the event's name and subject.
std::string summary_of(const Event& event);

}  // namespace shiplog
