#pragma once

#include "events/base/value.h"

namespace shiplog {

/// B-14: what a server has put into an object and no other server should be told.
Value pruned(Value manifest);

/// Records which labels and annotations are ours to take back one day (B-13): those that the manifest has now.
void record_managed_keys(Value& manifest);

}  // namespace shiplog
