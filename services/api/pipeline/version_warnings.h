#pragma once

#include <string>
#include <vector>

#include "events/base/value.h"
#include "events/kinds/kinds.h"

namespace shiplog::api {

/// What authors of policies and definitions are warned of: roles read the version that is stored. `old`: null on a
/// create. Warns of a selector of a policy, an override or a customization that names another version of a custom
/// resource, which selects nothing, and of a definition whose storage version changes, as they have to name the new
/// one.
void warn_of_versions(const Kinds& kinds, const Kind& kind, const Value& old, const Value& object,
                      std::vector<std::string>& warnings);

}  // namespace shiplog::api
