#pragma once

#include <memory>

#include "events/kinds/kinds.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Role "apiservice-registration": an APIService for each group and version that is served. `compiled` outlives it.
std::unique_ptr<Role> make_apiservice_registration_role(const Kinds& compiled);

}  // namespace shiplog
