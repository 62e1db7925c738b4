#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

/// Role "lifecycle": prepares and releases clusters, empties namespaces, and collects the dependents of deleted
/// objects.
std::unique_ptr<Role> make_lifecycle_role();

}  // namespace shiplog
