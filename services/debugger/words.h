#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog::debugger {

/// One word of a condition or a command.
struct CommandWord {
  enum class Kind {
    kPlain,   ///< not quoted: a keyword, a name, a number, a path
    kQuoted,  ///< "..." with the escapes of JSON
    kSign,    ///< ( ) = == != < <= > >=
  };
  Kind kind = Kind::kPlain;
  std::string text;   ///< without quotes
  size_t column = 0;  ///< where it begins, from 1
};

inline constexpr size_t kLongestLine = 16 * 1024;

/// Splits a line into its words. Within the brackets of a path, blanks and quotes belong to the word. Error:
/// kBadRequest with the column.
Result<std::vector<CommandWord>> words_of(std::string_view line);

/// A word as a value: in quotes a string; else a number, true, false, null, an array or object in JSON, or the text
/// itself.
Value value_of(const CommandWord& word);

/// `text` matches a pattern in which * stands for any characters.
bool matches_glob(std::string_view pattern, std::string_view text);

/// Fit for a terminal: control characters (but line ends and tabs), and characters that change the direction of text,
/// are written as \x1b or \u202e. What is not UTF-8 is written as \xNN.
std::string without_controls(std::string_view text);

}  // namespace shiplog::debugger
