#pragma once

#include <memory>

#include "services/runtime/service.h"

namespace shiplog {

/// Role "rebalancer": fresh placements for WorkloadRebalancers. Keys are these.
std::unique_ptr<Service> make_rebalancer_service();

}  // namespace shiplog
