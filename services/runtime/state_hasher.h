#pragma once

#include <memory>

#include "services/runtime/service.h"

namespace shiplog {

/// Role "control": records the state hash every so many entries, so that a replica that folded to another state notices
/// (design, StateHashed).
std::unique_ptr<Service> make_control_service(uint64_t hash_every_revisions);

}  // namespace shiplog
