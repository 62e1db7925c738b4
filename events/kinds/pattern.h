#pragma once

#include <string>
#include <string_view>

namespace shiplog {

/// Whether the regular expression can be read at all; if not, the reason is left in `why`.
bool is_pattern(const std::string& pattern, std::string* why);

/// Whether the expression matches anywhere in `text`, as JSON Schema asks. An expression that cannot be read, or that
/// would take beyond all measure to match, matches nothing. Compiled expressions are kept. Threads: any.
bool pattern_matches(const std::string& pattern, std::string_view text);

}  // namespace shiplog
