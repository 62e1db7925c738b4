#pragma once

#include "events/base/value.h"

namespace shiplog {

/// B-14: without the fields that a server sets and that another server must not receive.
Value pruned(Value manifest);

/// Records which labels and annotations are ours to take back one day (B-13): those that the manifest has now. What is
/// recorded in `like`, another manifest, is shared with it where it is the same.
void record_managed_keys(Value& manifest, const Value& like = {});

}  // namespace shiplog
