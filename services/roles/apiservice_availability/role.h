#pragma once

#include <memory>

#include "services/roles/apiservice_availability/decide.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Role "apiservice-availability": the condition Available of APIServices that name a Service, as `observe` reports it.
std::unique_ptr<Role> make_apiservice_availability_role(apiservice_availability::Observe observe);

}  // namespace shiplog
