#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace shiplog {

/// Size limit of a compiled expression in bytes, which determines the cost per character.
constexpr size_t kMostPatternBytes = 1U << 20U;

/// Whether the regular expression is valid and not too large; if not, `why` is set to the reason. The syntax is that of
/// RE2 and Go.
bool is_pattern(const std::string& pattern, std::string* why);

/// The size of the compiled expression in bytes, with which the time grows that it takes to compile it. nullopt: it is
/// not valid, see is_pattern().
std::optional<size_t> pattern_bytes(const std::string& pattern, std::string* why);

/// Whether the expression matches anywhere in `text`, as JSON Schema specifies, in time linear in the length of `text`.
/// An invalid expression matches nothing. Compiled expressions are cached, up to some MB. Threads: any.
bool pattern_matches(const std::string& pattern, std::string_view text);

}  // namespace shiplog
