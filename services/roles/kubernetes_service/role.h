#pragma once

#include <functional>
#include <memory>

#include "services/roles/kubernetes_service/decide.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Role "kubernetes-service": the Service that leads to the API server. `server` returns where that of this process is
/// reached, as soon as the role acts; what is written is an observation, since that is no part of the state.
std::unique_ptr<Role> make_kubernetes_service_role(std::function<kubernetes_service::ServerAddress()> server);

}  // namespace shiplog
