#pragma once

#include "events/base/value.h"

namespace shiplog {

/// The value with integers in place of numbers with a fraction that is zero (3.0, 1e1), as far as 64 bits go: what is
/// left of these where Kubernetes decodes and encodes JSON without knowing the types of its fields.
Value with_whole_numbers(Value value);

}  // namespace shiplog
