#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

/// Role "serviceaccount-token": Secrets with tokens end with their accounts. Keys are these Secrets.
std::unique_ptr<Role> make_serviceaccount_token_role();

}  // namespace shiplog
