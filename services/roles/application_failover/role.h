#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

/// Role "application-failover": moves workloads off clusters where they stay unhealthy.
std::unique_ptr<Role> make_application_failover_role();

}  // namespace shiplog
