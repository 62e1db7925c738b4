#pragma once

#include <memory>

#include "services/runtime/service.h"

namespace shiplog {

/// Role "binder": templates and policies into ResourceBindings. Keys are policies and templates.
/// `asker`, which outlives the service, asks interpreter webhooks; without one what needs them is not decided.
std::unique_ptr<Service> make_binder_service(Asker* asker = nullptr);

}  // namespace shiplog
