#pragma once

#include <memory>

#include "services/runtime/service.h"

namespace shiplog {

/// Role "scheduler": bindings into placements. Keys are ResourceBindings and ClusterResourceBindings.
std::unique_ptr<Service> make_scheduler_service();

}  // namespace shiplog
