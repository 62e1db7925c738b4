#pragma once

#include <vector>

#include "events/explanation.h"
#include "services/roles/scheduler/demand.h"
#include "services/roles/scheduler/fleet_table.h"

namespace shiplog::scheduler {

/// The clusters that pass every rule, sorted by name, with their overflow tier. `why.clusters` gets a line for each
/// cluster of the fleet, with its judgement: the verdicts up to the first rejection of the rules that apply.
/// PlacementFailure: kNoFit, none passes: NoClusterFits (S-21).
Placed<std::vector<Candidate>> filter(FleetTable& fleet, const Demand& demand, Explanation& why);

}  // namespace shiplog::scheduler
