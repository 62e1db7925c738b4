#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

std::unique_ptr<Role> make_remedy_role();

}  // namespace shiplog
