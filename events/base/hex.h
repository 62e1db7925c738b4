#pragma once

#include <string>
#include <string_view>

namespace shiplog {

/// Two lower-case digits for each byte.
std::string hex(std::string_view bytes);

}  // namespace shiplog
