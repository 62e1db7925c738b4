#pragma once

#include <vector>

#include "events/kinds/kinds.h"

namespace shiplog {

/// kinds_of() for a CustomResourceDefinition that was admitted: its defaults and patterns are not checked again, which
/// may take a second, and no rules that are for new definitions only. So it is cheap enough for the fold thread, and a
/// definition is still served by a build that admits less. Empty: no version is served.
Result<std::vector<Kind>> kinds_of_stored(const Value& crd);

}  // namespace shiplog
