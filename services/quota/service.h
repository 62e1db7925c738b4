#pragma once

#include <memory>

#include "services/runtime/service.h"

namespace shiplog {

/// Role "quota": what FederatedResourceQuotas say of their use. Keys are the quotas.
std::unique_ptr<Service> make_quota_service();

}  // namespace shiplog
