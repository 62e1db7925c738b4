#pragma once

#include <string>
#include <string_view>

namespace shiplog {

/// Whether the regular expression can be read and is not too large; if not, the reason is left in `why`. The syntax is
/// that of RE2 and of Go.
bool is_pattern(const std::string& pattern, std::string* why);

/// Whether the expression matches anywhere in `text`, as JSON Schema asks, in time linear in the length of `text`. An
/// expression that cannot be read matches nothing. Compiled expressions are kept. Threads: any.
bool pattern_matches(const std::string& pattern, std::string_view text);

}  // namespace shiplog
