#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shiplog {

/// True when `text` is well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF).
bool is_utf8(std::string_view text);
/// How many bytes the well-formed sequence has that `text` begins with; 0 when it begins with none.
size_t utf8_sequence_length(std::string_view text);

/// Fit for a message: at most `longest` bytes, with ? for control characters and for what is not UTF-8.
std::string printable(std::string_view text, size_t longest = 64);
/// The same in double quotes.
inline std::string quoted(std::string_view text) { return '"' + printable(text) + '"'; }

}  // namespace shiplog
