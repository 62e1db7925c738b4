#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

/// Role "clusterrole-aggregation": the rules of aggregating ClusterRoles. Keys are these.
std::unique_ptr<Role> make_clusterrole_aggregation_role();

}  // namespace shiplog
