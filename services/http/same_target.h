#pragma once

#include "services/http/client_target.h"

namespace shiplog {

/// The same address, by the same route, with the same credentials.
bool same_target(const ClientTarget& a, const ClientTarget& b);

}  // namespace shiplog
