#pragma once

#include <string_view>

#include "events/base/value.h"

namespace shiplog {

/// Whether `text` is the canonical JSON of `value`, what to_json() gives, which is not written for it.
bool is_json_of(std::string_view text, const Value& value);

}  // namespace shiplog
