#pragma once

#include <map>
#include <string>

#include "events/decision.h"

namespace shiplog {

/// The decide function of every service, by the service's name: what `replay --verify` runs again. A service whose
/// entries carry a name that is missing here would be reported as a difference.
std::map<std::string, Decide> all_decides();

}  // namespace shiplog
