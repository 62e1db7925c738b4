#pragma once

#include <string>
#include <vector>

#include "events/explanation.h"
#include "services/roles/scheduler/demand.h"
#include "services/roles/scheduler/fleet_table.h"

namespace shiplog::scheduler {

struct PlacementOutcome {
  Placed<std::vector<Target>> targets;  ///< sorted by cluster
  std::string affinity;                 ///< name of the affinity term in force; empty without terms
};

/// Room only matters where it orders, selects or divides.
bool needs_capacity(const Demand& demand);

/// One cycle: filter, score, select, assign. Of several affinity terms each is tried in order from the one in force,
/// never back; when all fail, the first one tried has the word (S-24 to S-27). `why` gets a line for each cluster and
/// the arithmetic.
PlacementOutcome place_by_terms(FleetTable& fleet, Demand demand, Explanation& why);

}  // namespace shiplog::scheduler
