#pragma once

#include <memory>

#include "services/runtime/members.h"
#include "services/runtime/service.h"

namespace shiplog {

/// Role "collector": looks at the members and their objects, and sums Works up into bindings and templates. `members`
/// outlives the service, and so does `asker`, which asks interpreter webhooks; without one what needs them stays as it
/// is.
std::unique_ptr<Service> make_collector_service(Members& members, Asker* asker = nullptr);

}  // namespace shiplog
