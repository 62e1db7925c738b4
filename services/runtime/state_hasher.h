#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

/// Role "control": records the state hash every so many entries, so that a replica that folded to another state notices
/// (design, StateHashed).
std::unique_ptr<Role> make_control_role(uint64_t hash_every_revisions);

}  // namespace shiplog
