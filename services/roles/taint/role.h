#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

/// Role "taint": taints clusters by their conditions and by ClusterTaintPolicies, and moves bindings off clusters whose
/// NoExecute taints they do not tolerate.
std::unique_ptr<Role> make_taint_role();

}  // namespace shiplog
