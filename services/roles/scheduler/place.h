#pragma once

#include <string>
#include <vector>

#include "events/explanation.h"
#include "services/roles/scheduler/demand.h"

namespace shiplog::scheduler {

struct Outcome {
  Placed<std::vector<Target>> targets;  ///< sorted by cluster
  std::string affinity;                 ///< name of the affinity term in force; empty without terms
};

/// Room only matters where it orders, selects or divides.
bool asks_for_room(const Demand& demand);

/// One cycle: filter, score, select, assign. Of several affinity terms each is tried in order from the one in force,
/// never back; when all fail, the first one tried has the word (S-24 to S-27). `why` gets a line for each cluster and
/// the arithmetic.
Outcome place_by_terms(const Clusters& clusters, Demand demand, Explanation& why);

}  // namespace shiplog::scheduler
