#pragma once

#include "services/api/insight/why.h"

namespace shiplog {

/// The API server's api::Remedies, answered by the scheduler.
Result<std::map<std::string, api::ClusterRemedy>> placement_remedies(const api::PlacementInputs& scene,
                                                                     const std::vector<std::string>& names);

}  // namespace shiplog
