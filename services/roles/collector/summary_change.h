#pragma once

#include "events/base/time.h"
#include "events/base/value.h"

namespace shiplog::collector {

/// When what is counted of a member's nodes and pods is reported (--cluster-summary-change-percent,
/// --cluster-summary-interval).
struct SummaryThresholds {
  /// At once: what is free of a resource, or the nodes by grade, has changed by so many percent. 0: any difference.
  double percent = 5;
  /// Anything that differs, after that time.
  Millis at_latest{120'000};
};

/// Whether the summaries `now` have to be reported at once. Both are a Cluster's status, of which nodeSummary and
/// resourceSummary are compared. Pure. That is so if
///   - the number of nodes or of ready nodes, or the resources that there are, have changed;
///   - of a resource so many percent more or less is allocatable or free than is reported: the less is free, the
///   smaller
///     the changes that count;
///   - so many percent of the nodes have another grade, or the highest grade of a node has changed;
///   - `short_of_room`, that is, a binding waits for room, and there is more of it.
bool significant(const Value& reported, const Value& now, double percent, bool short_of_room);

}  // namespace shiplog::collector
