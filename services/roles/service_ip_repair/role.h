#pragma once

#include <memory>

#include "services/roles/service_ip_repair/decide.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Role "service-ip-repair": addresses of Services that an older journal holds without. Keys are these Services. What
/// is written is an observation, since addresses are drawn at random.
std::unique_ptr<Role> make_service_ip_repair_role(service_ip_repair::AllocateAddresses allocate);

}  // namespace shiplog
