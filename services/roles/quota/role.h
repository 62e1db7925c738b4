#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

/// Role "quota": what FederatedResourceQuotas say of their use. Keys are the quotas.
std::unique_ptr<Role> make_quota_role();

}  // namespace shiplog
