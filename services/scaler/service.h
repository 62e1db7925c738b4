#pragma once

#include <memory>

#include "services/runtime/service.h"

namespace shiplog {

/// Role "scaler": templates whose replicas autoscalers in members decide on. Keys are templates.
std::unique_ptr<Service> make_scaler_service();

}  // namespace shiplog
