#pragma once

#include <span>
#include <string_view>

namespace shiplog {

/// All that there ever were, in the order of their numbers, which begin with 1.
std::span<const std::string_view> dictionaries();

}  // namespace shiplog
