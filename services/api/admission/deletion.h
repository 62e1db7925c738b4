#pragma once

#include "events/base/result.h"
#include "events/base/value.h"
#include "events/kinds/kinds.h"

namespace shiplog::api {

/// As admit_delete(), in a cluster where no webhook protects objects by their label (D-41): a member. Error:
/// kForbidden.
Result<void> admit_unprotected_delete(const Kind& kind, const Value& old);

}  // namespace shiplog::api
