#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

/// Role "lifecycle": takes clusters in and lets them go, empties namespaces, and collects the dependents of what is
/// gone.
std::unique_ptr<Role> make_lifecycle_role();

}  // namespace shiplog
