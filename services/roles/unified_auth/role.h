#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

/// Role "unified-auth": the rights of each member's impersonator. Keys are the Clusters.
std::unique_ptr<Role> make_unified_auth_role();

}  // namespace shiplog
