#pragma once

#include <memory>
#include <string>

#include "services/runtime/replica.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Role "ephemera-gc": takes away what no longer belongs into the ephemera. Its lease and its triggers are in the
/// record, its entries go to `ephemera`, which outlives it and is folded on the same thread.
std::unique_ptr<Role> make_ephemera_gc_role(Replica& ephemera, std::string user_agent);

}  // namespace shiplog
