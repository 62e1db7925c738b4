#pragma once

#include <memory>

#include "services/runtime/service.h"

namespace shiplog {

/// Role "lifecycle": takes clusters in and lets them go, empties namespaces, and collects the dependents of what is
/// gone.
std::unique_ptr<Service> make_lifecycle_service();

}  // namespace shiplog
