#pragma once

#include <string>
#include <string_view>

#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/base/value.h"

namespace shiplog {

/// A UUID for the Work. Upstream draws it; here it follows from what the Work is, so that rendering stays repeatable.
/// `source`: the permanent id of the binding that it is rendered for; empty: none.
std::string new_work_id(const ObjectKey& work, std::string_view source);

/// E-3: condition Dispatching of a Work.
Value dispatching_condition(bool suspended, UtcMillis since);

}  // namespace shiplog
