#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

std::unique_ptr<Role> make_multi_cluster_service_role();

}  // namespace shiplog
