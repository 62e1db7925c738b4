#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

/// Role "rebalancer": fresh placements for WorkloadRebalancers. Keys are these.
std::unique_ptr<Role> make_rebalancer_role();

}  // namespace shiplog
