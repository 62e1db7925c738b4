#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "projections/store/reader.h"

namespace shiplog::api {

/// One version of a binding, as far as failovers show in it.
struct PlacementVersion {
  Revision revision;
  UtcMillis time;
  Value spec;         ///< of the binding; null: it was removed
  std::string ended;  ///< what the entry says of evictions that ended with it; empty: nothing
};

/// The failovers of one binding, oldest first, from all its versions, oldest first: each eviction task with what it
/// took from where, and where that went. Pure.
///   {from, reason, message, producer, purgeMode, replicas, started, revision, preservedLabels?,
///    to: [{cluster, replicas, at}], unplaced, placed?, ended?, endedBecause?, durationMillis?}
/// `replicas` are what left the cluster; of a workload without replicas its one copy. What other clusters gain while an
/// eviction is under way is taken to be what it moved, first for the older one. `placed`: when all of it had a place;
/// `durationMillis`: from the start to the end of the eviction.
Value failovers_in(const std::vector<PlacementVersion>& versions);

/// Those of a binding, or of all in a namespace (empty: all), newest first, at most `limit`; each with its `binding`
/// and the `object` that moved.
Result<Value> failovers_of(const View& view, const std::optional<ObjectKey>& binding, const std::string& ns,
                           size_t limit);

}  // namespace shiplog::api
