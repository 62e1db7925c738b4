#pragma once

#include "events/kinds/kinds.h"

namespace shiplog::api {

/// ComponentStatus: what this server checks of itself, one object a check of /readyz. Computed when it is read.
inline bool is_component_status(const Kind& kind) { return kind.builtin && kind.type() == "componentstatuses"; }

}  // namespace shiplog::api
