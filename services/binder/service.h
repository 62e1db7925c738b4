#pragma once

#include <memory>

#include "services/runtime/service.h"

namespace shiplog {

/// Role "binder": templates and policies into ResourceBindings. Keys are policies and templates.
std::unique_ptr<Service> make_binder_service();

}  // namespace shiplog
