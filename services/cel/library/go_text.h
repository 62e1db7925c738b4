#pragma once

#include <string>
#include <string_view>

namespace shiplog::cel {

/// As Go's %q writes a text: in double quotes, with escapes for what is not printable. Bytes that are not UTF-8 become
/// \x escapes. Long texts are not shortened: callers have limits of their own.
std::string go_quoted(std::string_view text);

/// As Go's strconv.FormatFloat(value, 'g', -1, 64), which is %g: the shortest text that reads back.
std::string go_double(double value);

}  // namespace shiplog::cel
