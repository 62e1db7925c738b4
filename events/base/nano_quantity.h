#pragma once

#include <string_view>

#include "events/base/quantity.h"

namespace shiplog {

/// Reads what parse_quantity() reads, as a whole number of billionths, which apimachinery keeps. Finer is rounded up.
/// Capped at the same ends. Error: kBadRequest, naming the text.
Result<Quantity::Int> parse_nano_quantity(std::string_view text);

}  // namespace shiplog
