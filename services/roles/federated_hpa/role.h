#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

class Members;

/// Role "federated-hpa". Keys are FederatedHPAs. What it has computed and done lately is in its memory only: another
/// process that takes over begins with the replicas there are.
std::unique_ptr<Role> make_federated_hpa_role(Members& members);

}  // namespace shiplog
