#pragma once

#include <string>
#include <string_view>

namespace shiplog {

/// The text with U+FFFD in place of each byte that is not part of UTF-8: what a client sent that goes into JSON.
std::string valid_utf8(std::string_view text);

}  // namespace shiplog
