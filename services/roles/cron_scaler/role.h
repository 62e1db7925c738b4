#pragma once

#include <memory>

#include "services/roles/cron_scaler/decide.h"
#include "services/runtime/role.h"

namespace shiplog {

std::unique_ptr<Role> make_cron_scaler_role(cron_scaler::FindTimeZone find_time_zone);

}  // namespace shiplog
