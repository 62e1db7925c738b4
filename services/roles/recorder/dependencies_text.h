#pragma once

#include <string>

#include "events/base/value.h"

namespace shiplog::recorder {

/// The dependencies of a template in its Event, as Go prints the list with %+v (B-29).
std::string dependencies_text(const Value& list);

}  // namespace shiplog::recorder
