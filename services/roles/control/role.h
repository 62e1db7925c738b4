#pragma once

#include <cstdint>
#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

/// Role "control": records the state hash every so many revisions, so that a replica that folded to another state
/// notices. What it writes is an observation: it records the state hash of this replica.
std::unique_ptr<Role> make_control_role(uint64_t hash_every_revisions);

}  // namespace shiplog
