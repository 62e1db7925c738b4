#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

/// Role "quota": the usage in the status of FederatedResourceQuotas. Keys are the quotas.
std::unique_ptr<Role> make_quota_role();

}  // namespace shiplog
