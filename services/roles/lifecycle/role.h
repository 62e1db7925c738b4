#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

/// Role "lifecycle": prepares and releases clusters, empties namespaces, and collects the dependents of deleted
/// objects. `deletion_protection`: objects with the label of D-41 stay; not in a trial member.
std::unique_ptr<Role> make_lifecycle_role(bool deletion_protection = true);

}  // namespace shiplog
