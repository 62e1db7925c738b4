#pragma once

#include <string_view>
#include <variant>

#include "events/api.h"
#include "events/cluster.h"
#include "events/control.h"
#include "events/dispatch.h"
#include "events/quota.h"
#include "events/scheduling.h"
#include "events/taint.h"

namespace shiplog {

/// One fact or request inside an entry. Every alternative has an apply() in events/fold and a message in
/// schemas/events/v1; one without either does not compile.
using Event = std::variant<
    // api
    ObjectCreated, ObjectUpdated, StatusUpdated, DeletionRequested, ObjectRemoved, RequestDenied,
    // scheduling
    BindingPut, PlacementDecided, PlacementRefused, ReschedulingTriggered,
    // dispatch
    WorkRendered, WorkRemoved, WorkApplied, WorkApplyFailed, WorkStatusObserved, StatusAggregated,
    // taint
    TaintAdded, TaintRemoved, EvictionStarted, EvictionFinished,
    // quota
    QuotaUsageChanged, QuotaRefused,
    // cluster
    ClusterJoined, ClusterObserved, ClusterConditionChanged, ClusterLeft,
    // control
    LeaseTaken, FoldVersionActivated, StateHashed, SnapshotTaken>;

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
