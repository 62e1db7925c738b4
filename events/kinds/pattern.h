#pragma once

#include <string>
#include <string_view>

namespace shiplog {

/// Whether the regular expression is valid and not too large; if not, `why` is set to the reason. The syntax is that of
/// RE2 and Go.
bool is_pattern(const std::string& pattern, std::string* why);

/// Whether the expression matches anywhere in `text`, as JSON Schema specifies, in time linear in the length of `text`.
/// An invalid expression matches nothing. Compiled expressions are cached. Threads: any.
bool pattern_matches(const std::string& pattern, std::string_view text);

}  // namespace shiplog
