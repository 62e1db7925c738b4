#pragma once

#include <cstdint>
#include <string>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/explanation.h"

namespace shiplog {

/// The dispatcher has rendered a binding for one member. Creates the Work or replaces its metadata (uid and
/// creationTimestamp stay) and spec; status stays.
struct WorkRendered {
  ObjectKey work;
  Value value;  ///< metadata and spec
  Explanation why;
  bool operator==(const WorkRendered&) const = default;
};

/// The Work is removed: its binding no longer wants it and the member no longer has its objects.
struct WorkRemoved {
  ObjectKey work;
  bool operator==(const WorkRemoved&) const = default;
};

/// The member has applied the manifests of this generation of the Work. Folds into condition Applied=True.
struct WorkApplied {
  ObjectKey work;
  int64_t generation = 0;
  std::string message;
  bool operator==(const WorkApplied&) const = default;
};

/// The member has refused, or could not be reached. Folds into condition Applied=False.
struct WorkApplyFailed {
  ObjectKey work;
  int64_t generation = 0;
  std::string reason;  ///< "AppliedFailed"
  std::string message;
  std::string cause = {};  ///< what the member answered; part of the message
  bool operator==(const WorkApplyFailed&) const = default;
};

/// The status of the manifests on the member. Folds into status.manifestStatuses.
struct WorkStatusObserved {
  ObjectKey work;
  Value manifest_statuses;  ///< array, as Work.status.manifestStatuses
  /// All of it was read from objects with the manifests of this generation of the Work; 0: unknown. Folds into
  /// condition StatusCollected.
  int64_t generation = 0;
  bool operator==(const WorkStatusObserved&) const = default;
};

/// The Works of a binding summed up. Folds into the binding's status.aggregatedStatus and FullyApplied condition, and
/// into the template's status.
struct StatusAggregated {
  ObjectKey binding;
  Value aggregated_status;  ///< array, as ResourceBinding.status.aggregatedStatus
  bool fully_applied = false;
  std::string reason;  ///< of the FullyApplied condition
  std::string message;
  ObjectKey template_object;  ///< empty: the template is not touched
  Value template_status;      ///< the template's whole new status
  bool operator==(const StatusAggregated&) const = default;
};

/// Whether the targets of a binding or of a namespace could all be rendered, when that differs from the last record:
/// an override that cannot be applied stops its target (B-6, B-21). Folds into condition WorksSynced.
struct WorksSynced {
  ObjectKey object;  ///< a binding or a namespace
  bool succeeded = false;
  std::string reason;   ///< "SyncWorkFailed" or "SyncWorkSucceed"
  std::string message;  ///< what stopped each target
  Explanation why;
  int64_t generation = 0;  ///< of the binding that the targets were rendered from; 0: unknown
  bool operator==(const WorksSynced&) const = default;
};

/// The condition that WorksSynced folds into; it is there once something has failed or an eviction has begun.
inline constexpr const char* kWorksSyncedCondition = "WorksSynced";

/// The condition of a Work that WorkStatusObserved folds into when it names a generation: while its binding is being
/// evicted from a cluster.
inline constexpr const char* kStatusCollectedCondition = "StatusCollected";

}  // namespace shiplog
