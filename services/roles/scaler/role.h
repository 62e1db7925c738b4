#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

/// Role "scaler": templates whose replicas autoscalers in members decide on. Keys are templates.
std::unique_ptr<Role> make_scaler_role();

}  // namespace shiplog
