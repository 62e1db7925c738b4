#pragma once

#include "services/api/insight/why.h"

namespace shiplog {

/// The API server's api::Remedies, answered by the scheduler.
Result<std::map<std::string, api::Remedy>> placement_remedies(const api::Scene& scene,
                                                              const std::vector<std::string>& asked);

}  // namespace shiplog
