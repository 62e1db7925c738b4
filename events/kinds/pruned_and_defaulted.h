#pragma once

#include "events/base/value.h"
#include "events/kinds/schema.h"

namespace shiplog {

/// prune(), then with_defaults(). Nearly every object that is read is left as it is by both, for which this needs one
/// walk and no copy.
Value pruned_and_defaulted(const Schema& schema, Value value);

}  // namespace shiplog
